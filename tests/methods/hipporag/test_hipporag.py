"""HippoRAG against its transcription, and what it does where the walk cannot start."""

from collections.abc import Sequence
from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_graphs import Drawn, OneHot, drawn_graphs
from oracles.hipporag import hipporag
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import account
from triplebeam.index.folder.entity_graph import MIN_LARGE_GRAPH
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.ranking import Hit, Ranking


class Named:
    """Always names the same."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def entities(self, query: str) -> Sequence[str]:
        return self._names


class Nothing:
    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking([Hit("fallen back", 1.0)])


@settings(max_examples=examples(80), deadline=None)
@given(
    drawn=drawn_graphs(),
    data=st.data(),
    damping=st.sampled_from([0.2, 0.5]),
    specificity=st.booleans(),
    large=st.sampled_from([0, MIN_LARGE_GRAPH]),
)
def test_agrees_with_the_transcription(
    drawn: Drawn, data: st.DataObject, damping: float, specificity: bool, large: int
) -> None:
    """So does the walk by pushing over a large graph, where everything is worth a look."""
    linked = data.draw(st.lists(st.sampled_from(drawn.entities), min_size=1, max_size=3))
    method = HippoRAG(
        query_entities=Named(*linked),
        graph=replace(drawn.graph(), large=large),
        embedder=OneHot(),
        passages=drawn,  # type: ignore[arg-type]
        fallback=Nothing(),
        damping=damping,
        node_specificity=specificity,
        tolerance=1e-9,
    )
    expected = hipporag(drawn.triples, drawn.synonyms, linked, damping, specificity)
    with mock.patch("triplebeam.methods.hipporag.hipporag._MIN_RESIDUAL", 1e-12):
        found = {hit.passage_id: hit.score for hit in method.retrieve("?", 100)}
    reached = {passage for passage, score in expected.items() if score > 0}
    assert set(found) == reached
    for passage in reached:
        assert found[passage] == pytest.approx(expected[passage], abs=1e-6)


def test_a_passage_two_steps_away_is_found(world: Snapshot, words: Embedder) -> None:
    ranking = HippoRAG.over(world, words, Named("Laughter in Hell")).retrieve("When did the director die?")
    assert ranking.ids[:2] == ["film", "actor"]
    assert "director" in ranking.ids, "joined through Edward Cahn"
    assert "other" not in ranking.ids, "it has no triples"


def test_a_name_is_linked_to_the_nearest_entity_once(world: Snapshot, words: Embedder) -> None:
    method = HippoRAG.over(world, words, Named())
    seeds = method.link(["the lake Michigan", "Lake Michigan", "Edward Cahn Senior"])
    assert [world.entities.names[seed] for seed in seeds] == ["Lake Michigan", "Edward Cahn"]


def test_without_entities_it_falls_back_and_says_so(world: Snapshot, words: Embedder) -> None:
    method = HippoRAG.over(world, words, Named())
    with account() as spent:
        ranking = method.retrieve("lake", 3)
    assert ranking == method.fallback.retrieve("lake", 3)
    assert spent.problems == ["no entity of 'lake' is in the graph: falls back to Dense"]


def test_a_synonym_threshold_below_what_is_stored_is_refused(world: Snapshot, words: Embedder) -> None:
    with pytest.raises(BadInputError, match=r"at least 0\.8, got 0\.5"):
        HippoRAG.over(world, words, Named("lake"), synonym_threshold=0.5).retrieve("lake")
