"""HippoRAG 2 against its transcription, its filter, and its base."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_graphs import Drawn, OneHot, drawn_graphs
from oracles.hipporag import hipporag2
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import PromptFailedError
from triplebeam.index.folder.entity_graph import MIN_LARGE_GRAPH
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.methods.shared.replies import LLMTripleFilter
from triplebeam.retrieve.bases import BM25, Dense
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple


def over_drawn(drawn: Any, *, large: bool = False, **parameters: Any) -> HippoRAG2:
    graph = replace(drawn.graph(), large=0 if large else MIN_LARGE_GRAPH)
    return HippoRAG2(graph=graph, triples=drawn, passages=drawn, embedder=OneHot(), base=drawn, **parameters)


@settings(max_examples=examples(80), deadline=None)
@given(
    drawn=drawn_graphs(),
    seed_triples=st.integers(1, 6),
    damping=st.sampled_from([0.2, 0.5]),
    weight=st.sampled_from([0.05, 1.0]),
    large=st.booleans(),
    pushed=st.sampled_from([0, 100]),
)
def test_agrees_with_the_transcription(
    drawn: Drawn, seed_triples: int, damping: float, weight: float, large: bool, pushed: int
) -> None:
    """So does the walk by pushing where everything is worth a look, however many passages it starts from, as long as
    the others are reset alike.
    """
    if not pushed and large:
        drawn = replace(drawn, dense=dict.fromkeys(drawn.dense, 0.5))
    walk = {"damping": damping, "passage_weight": weight, "tolerance": 1e-9}
    method = over_drawn(drawn, large=large, seed_triples=seed_triples, seed_entities=100, **walk)
    best = sorted(range(len(drawn.triples)), key=lambda t: -drawn.similarity[t])[:seed_triples]
    seeds = {triple: drawn.similarity[triple] for triple in best}
    expected = hipporag2(drawn.passages, drawn.triples, drawn.synonyms, seeds, drawn.dense, damping, weight)
    with mock.patch.multiple("triplebeam.methods.hipporag.hipporag2", _MIN_RESIDUAL=1e-12, _MAX_STARTS=pushed):
        found = {hit.passage_id: hit.score for hit in method.retrieve("e0", 100)}
    assert found == pytest.approx({passage: score for passage, score in expected.items() if score > 0}, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(drawn=drawn_graphs(), kept=st.integers(1, 4))
def test_the_heaviest_entities_are_kept(drawn: Drawn, kept: int) -> None:
    seeds = np.arange(len(drawn.triples))
    similarity = np.array(drawn.similarity)
    _, everything = over_drawn(drawn, seed_entities=100).entity_weights(seeds, similarity)
    entities, some = over_drawn(drawn, seed_entities=kept).entity_weights(seeds, similarity)
    assert len(entities) == len(some) == min(kept, len(drawn.entities))
    assert sorted(some) == pytest.approx(sorted(everything)[-len(some) :])


def test_hits_say_how_seed_triples_lead_to_them(world: Snapshot, words: Embedder) -> None:
    ranking = HippoRAG2.over(world, words, seed_triples=1).retrieve("Laughter in Hell directed by Edward Cahn")
    chains = {hit.passage_id: hit.chains for hit in ranking}
    seed = Triple("Laughter in Hell", "directed by", "Edward Cahn")
    assert ranking[0].passage_id == "film"
    assert chains["film"] == ((seed,),)
    assert chains["director"] == ((seed, Triple("Edward Cahn", "was", "film director")),)
    assert chains["city"] == chains["lake"] == (), "no triple of theirs shares an entity with the seed"


class TestFilter:
    def make_filter(self, *positions: int) -> Any:
        return SimpleNamespace(keep=lambda query, triples: positions)

    def test_only_what_it_keeps_is_a_seed(self, world: Snapshot, words: Embedder) -> None:
        query = "Milwaukee lies on Lake Michigan"
        found = HippoRAG2.over(world, words, triple_filter=self.make_filter(1)).retrieve(query)
        beginnings = {chain[0] for hit in found for chain in hit.chains}
        assert beginnings == {world.triples.triple(world.triples.search(words.embed([query])[0], 2)[0][1])}

    def test_where_it_leaves_nothing_the_base_is_the_fallback(self, world: Snapshot, words: Embedder) -> None:
        for base in (Dense.over_passages(world, words), BM25.over_passages(world)):
            method = HippoRAG2.over(world, words, base=base, triple_filter=self.make_filter())
            with account() as spent:
                assert method.retrieve("lake", 3) == base.retrieve("lake", 3)
        assert spent.problems == ["no triple matches 'lake': falls back to the base"]

    TRIPLES = (Triple("a", "is", "b"), Triple("b", "is", "c"), Triple("c", "is", "d"))

    def test_a_model_gives_numbers(self) -> None:
        with Scripted(['{"helpful": [3, 1, 3, 9]}']) as model, account() as spent:
            assert LLMTripleFilter(model=model).keep("What is a?", self.TRIPLES) == [2, 0]
        assert model.prompts[0].user == "Facts:\n1. a is b\n2. b is c\n3. c is d\n\nQuestion: What is a?"
        assert spent.problems == ["the number 9 is not that of a fact: ignored"]

    def test_a_model_that_fails_filters_nothing(self) -> None:
        with account() as spent:
            kept = LLMTripleFilter(model=Scripted(["?", "?"])).keep("What is a?", self.TRIPLES)
        assert list(kept) == [0, 1, 2]
        assert len(spent.problems) == 1
        with pytest.raises(PromptFailedError):
            LLMTripleFilter(model=Scripted(["?", "?"])).keep("What is a?", self.TRIPLES)


def hide_scores(base: Retriever) -> Any:
    return SimpleNamespace(retrieve=base.retrieve)


class TestBase:
    def test_a_whole_list_is_as_good_as_scores(self, world: Snapshot, words: Embedder) -> None:
        listing = hide_scores(Dense.over_passages(world, words))
        by_scores, by_list = HippoRAG2.over(world, words), HippoRAG2.over(world, words, base=listing)
        for query in ("lake", "Who directed the film?"):
            one, two = by_scores.retrieve(query), by_list.retrieve(query)
            assert one.ids == two.ids
            assert [hit.score for hit in one] == pytest.approx([hit.score for hit in two], rel=1e-5)

    def test_a_base_that_finds_nothing_resets_nothing(self, world: Snapshot, words: Embedder) -> None:
        bm25 = BM25.over_passages(world)
        assert not bm25.retrieve("volcano")
        for base in (bm25, hide_scores(bm25)):
            found = HippoRAG2.over(world, words, base=base).retrieve("volcano")
            nothing_but_triples = HippoRAG2.over(world, words, passage_weight=0.0).retrieve("volcano")
            assert found == nothing_but_triples

    def test_its_list_resets_the_passages(self, world: Snapshot, words: Embedder) -> None:
        bm25 = BM25.over_passages(world)
        assert bm25.retrieve("books", 5).ids == ["other"]
        for base, base_k in ((bm25, None), (bm25, 1), (hide_scores(bm25), None)):
            method = HippoRAG2.over(world, words, base=base, base_k=base_k, passage_weight=100.0)
            assert method.retrieve("books").ids[0] == "other"
        assert "other" not in HippoRAG2.over(world, words, base=bm25, base_k=1).retrieve("lake").ids
