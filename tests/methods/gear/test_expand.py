"""Graph expansion: what only the graph finds, what is left alone where there is none, and links back to the index."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles.gear_agent import passages_breadth_first
from oracles.reciprocal_rank_fusion import rrf
from scripted_loops import Table
from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import Exact, NaiveGE, SyncGE
from triplebeam.methods.gear.beam_search import Beams, DiverseTripleBeamSearch
from triplebeam.methods.gear.expand import PassageLink, passages_along, triple_link
from triplebeam.methods.shared.facts import Fact
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import BM25, Dense, Hybrid, reciprocal_rank_fusion
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

FILM_TO_DIRECTOR = (
    Triple("Laughter in Hell", "directed by", "Edward Cahn"),
    Triple("Edward Cahn", "died on", "25 August 1963"),
)


def fix_ranking(*passage_ids: str) -> Table:
    """Make a user's own retriever, which always finds the same passages."""
    return Table(defaultdict(lambda: passage_ids))


class Reads:
    """A reader that finds what it was told to find, and notes what it was asked."""

    def __init__(self, *triples: Triple) -> None:
        self._facts = tuple(map(Fact, triples))
        self.asked: list[tuple[str, list[str]]] = []

    def read(
        self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = (), searched: str = ""
    ) -> Sequence[Fact]:
        self.asked.append((question, list(passage_ids)))
        return self._facts


@pytest.fixture
def exact(world: Snapshot, words: Embedder) -> Exact:
    return Exact(triples=world.triples, embedder=words)


def test_a_passage_one_hop_away_is_found_only_through_the_graph(world: Snapshot, exact: Exact) -> None:
    base = fix_ranking("film")
    found = NaiveGE(base=base, triples=world.triples, scorer=exact).retrieve("film died on 25 August 1963")
    assert base.retrieve("").ids == ["film"]
    assert {"director", "actor"} <= set(found.ids)
    assert FILM_TO_DIRECTOR in found[found.ids.index("director")].chains


def test_a_hits_chains_pass_through_its_passage_and_hang_together(world: Snapshot, exact: Exact) -> None:
    ranking = NaiveGE(base=BM25.over_passages(world), triples=world.triples, scorer=exact, length=3).retrieve(
        "Laughter"
    )
    assert any(hit.chains for hit in ranking)
    for hit in ranking:
        own = {world.triples.triple(id_) for id_ in world.triples.triples_of([hit.passage_id]).tolist()}
        for chain in hit.chains:
            assert own & set(chain)
            ends = [{entity_key(triple.subject), entity_key(triple.object)} for triple in chain]
            assert all(before & after for before, after in pairwise(ends))


def test_the_result_is_the_fusion_of_equation_3(world: Snapshot, exact: Exact) -> None:
    graph = NaiveGE(base=BM25.over_passages(world), triples=world.triples, scorer=exact, width=3)
    query = "director of Laughter in Hell"
    base = graph.base.retrieve(query, 15)
    search = DiverseTripleBeamSearch(triples=world.triples, scorer=exact, width=3)
    beams = search.search(exact.embedder.embed([query], kind="query")[0], world.triples.triples_of(base.ids))
    expected = reciprocal_rank_fusion([passages_along(beams, world.triples), base])
    assert graph.retrieve(query, 15) == expected


def test_without_triples_the_base_stays_in_order(tmp_path: Path, words: Embedder) -> None:
    documents = [Document(id=id_, text=f"{id_} {id_} film", is_passage=True) for id_ in "abc"]
    IndexBuilder(folder=tmp_path, embedder=words).build(documents)
    index = Snapshot.open(tmp_path)
    base = BM25.over_passages(index)
    graph = NaiveGE(base=base, triples=index.triples, scorer=Exact(triples=index.triples, embedder=words))
    assert graph.retrieve("b film").ids == base.retrieve("b film").ids
    assert len(base.retrieve("b film")) == 3


def test_a_base_that_finds_nothing_gives_nothing(world: Snapshot, exact: Exact) -> None:
    assert NaiveGE(base=fix_ranking(), triples=world.triples, scorer=exact).retrieve("anything") == Ranking()


def test_the_reader_says_where_the_walk_starts(world: Snapshot, exact: Exact) -> None:
    """Eq. 1, 2: the nearest stored triple, though the base's passages hold others."""
    reader = Reads(Triple("Pat Brien", "resided in", "Milwaukee"))
    sync = SyncGE(base=fix_ranking("film"), triples=world.triples, scorer=exact, reader=reader)
    ranking = sync.retrieve("Where is the city?")
    assert reader.asked == [("Where is the city?", ["film"])]
    chains = [chain for hit in ranking for chain in hit.chains]
    assert {chain[0] for chain in chains} == {Triple("Pat Brien", "lived in", "Milwaukee")}
    assert "city" in ranking.ids


def test_a_reader_that_finds_nothing_leaves_the_base_as_it_is(world: Snapshot, exact: Exact) -> None:
    base = fix_ranking("film", "other", "lake")
    ranking = SyncGE(base=base, triples=world.triples, scorer=exact, reader=Reads()).retrieve("anything")
    assert ranking.ids == base.retrieve("").ids
    assert not any(hit.chains for hit in ranking)


class PassagesOnly:
    """A store that knows whose each triple is, and no more."""

    def __init__(self, passages: dict[int, str]) -> None:
        self._passages = passages

    def passage_of(self, triple_ids: Sequence[int] | NDArray[np.int64]) -> list[str]:
        return [self._passages[int(id_)] for id_ in triple_ids]

    def triple(self, triple_id: int) -> Triple:
        return Triple(str(triple_id), "is", "a triple")


@given(st.integers(0, 4).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=n, max_size=n)))
def test_beams_are_flattened_breadth_first(beams: list[tuple[int, ...]]) -> None:
    passages = {id_: f"p{id_ % 4}" for id_ in range(10)}
    chains = np.array(beams, np.int64).reshape(-1, 3)
    ranking = passages_along(Beams(np.zeros(len(chains)), chains), PassagesOnly(passages))  # type: ignore[arg-type]
    assert ranking.ids == passages_breadth_first(beams, passages)
    for hit in ranking:
        through = [beam for beam in dict.fromkeys(beams) if hit.passage_id in [passages[id_] for id_ in beam]]
        assert [tuple(int(triple.subject) for triple in chain) for chain in hit.chains] == through


def test_a_proximal_triple_links_to_the_nearest_stored_one(world: Snapshot, words: Embedder) -> None:
    proximal = [Triple("Milwaukee", "lies in state", "Wisconsin"), Triple("Edward Cahn", "died on", "August 1963")]
    linked = [world.triples.triple(id_) for id_ in triple_link(proximal, world.triples, words).tolist()]
    assert linked == [Triple("Milwaukee", "lies in", "Wisconsin"), Triple("Edward Cahn", "died on", "25 August 1963")]


def test_what_is_stored_links_to_itself_once(world: Snapshot, words: Embedder) -> None:
    stored = [world.triples.triple(id_) for id_ in (3, 1, 3, 1, 0)]
    assert triple_link(stored, world.triples, words).tolist() == [3, 1, 0]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_passage_link_fuses_what_passages_and_triples_give(world: Snapshot, words: Embedder, k: int) -> None:
    passages = Hybrid(BM25.over_passages(world), Dense.over_passages(world, words))
    triples = Hybrid(BM25.over_triples(world), Dense.over_triples(world, words))
    triple = Triple("Edward Cahn", "directed", "Laughter in Hell")
    lists = [retriever.retrieve("Edward Cahn directed Laughter in Hell", k).ids for retriever in (passages, triples)]
    assert PassageLink(passages=passages, triples=triples).link(triple, k).ids == rrf(lists, 60)[:k]
