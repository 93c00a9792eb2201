"""Walks by pushing against the exact walk, and names found in a sorted column against those found in a dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from trials import examples
from triplebeam.index.arrays.array_set import MemoryArrays, read_numbers, write_numbers
from triplebeam.index.folder.entity_graph import OpenGraph
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank, Reset, push
from triplebeam.retrieve.question_parts import VerbatimNames

NODES = 60


def graph(seed: int) -> OpenGraph:
    """Some nodes have no edge, and some are closed."""
    random = np.random.default_rng(seed)
    weights = random.random((NODES, NODES)) * (random.random((NODES, NODES)) < 3 / NODES)
    return OpenGraph(csr_array(weights + weights.T), random.random(NODES) < 0.9)


def exact(of: OpenGraph, nodes: np.ndarray, start: np.ndarray, damping: float) -> np.ndarray:  # type: ignore[type-arg]
    """Visits by way of edges, by the walk that networkx is held against, over the edges of open nodes alone."""
    weights = csr_array(of.weights.toarray() * np.outer(of.open, of.open))
    walk = PersonalizedPageRank(weights=weights, damping=damping, tolerance=1e-13)
    reset = Reset(nodes, start)
    visits = walk.probabilities([reset])[:, 0] * walk._visits_together(reset)
    visits[nodes] -= start
    return np.asarray(visits)


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    damping=st.sampled_from([0.1, 0.5, 0.85]),
    least=st.sampled_from([1e-2, 1e-4, 1e-7]),
)
def test_what_a_push_misses_is_known(seed: int, damping: float, least: float) -> None:
    of, random = graph(seed), np.random.default_rng([seed, 1])
    nodes, start = random.choice(NODES, 4, replace=False), random.random(4)
    found, expected = push(of, nodes, start, damping, least), exact(of, nodes, start, damping)
    visits = np.zeros(NODES)
    visits[found.nodes] = found.visits
    assert (visits <= expected + 1e-9).all(), "no node is visited more often than in the exact walk"
    assert (expected - visits).sum() == pytest.approx(found.missing, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_from_many_nodes_alike(seed: int) -> None:
    of, nodes = graph(seed), np.arange(20, NODES)
    spread = of.spread_evenly(slice(20, None), 0.5, 1e-12)
    np.testing.assert_allclose(spread, exact(of, nodes, np.ones(len(nodes)), 0.5)[20:], atol=1e-9)


some_words = st.lists(st.sampled_from(["new", "york", "city", "newer", "the", "state", "é"]), min_size=1, max_size=4)


@settings(max_examples=examples(60), deadline=None)
@given(names=st.sets(some_words.map(" ".join), max_size=12), text=st.lists(some_words, max_size=4))
def test_names_in_a_sorted_column_are_found_as_in_a_dictionary(names: set[str], text: list[list[str]]) -> None:
    numbers = {name: number for number, name in enumerate(names)}
    write_numbers(arrays := MemoryArrays(), "lookup", numbers)
    column, query = read_numbers(arrays, "lookup"), " ".join(word for some in text for word in some)
    assert column is not None
    assert dict(column) == numbers
    assert VerbatimNames(column).within(query) == VerbatimNames(numbers).within(query)
