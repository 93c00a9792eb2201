"""Personalised PageRank against networkx, which also sends a walker without a way on back to the reset.

Walks by pushing against the exact walk, and names found in a sorted column against those found in a dictionary.
"""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from trials import examples
from triplebeam.errors import BadInputError
from triplebeam.index.arrays.array_set import MemoryArrays, read_numbers, write_numbers
from triplebeam.index.folder.entity_graph import OpenGraph
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank, Reset, push
from triplebeam.retrieve.question_parts import VerbatimNames


def random_weights(seed: int, nodes: int, degree: int = 1) -> np.ndarray:  # type: ignore[type-arg]
    """An undirected graph in which some nodes have no edge."""
    random = np.random.default_rng(seed)
    weights = random.random((nodes, nodes)) * (random.random((nodes, nodes)) < degree / nodes)
    return weights + weights.T


def as_resets(rows: np.ndarray) -> list[Reset]:  # type: ignore[type-arg]
    """Each row without its zeros."""
    return [Reset(np.flatnonzero(row), row[row != 0]) for row in rows]


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 30),
    damping=st.sampled_from([0.1, 0.5, 0.85]),
    batch=st.integers(1, 3),
)
def test_agrees_with_networkx(seed: int, nodes: int, damping: float, batch: int) -> None:
    weights = random_weights(seed, nodes)
    random = np.random.default_rng([seed, 1])
    resets = random.random((nodes, batch)) * (random.random((nodes, batch)) < 0.3)
    resets[random.integers(nodes)] += 0.5
    walk = PersonalizedPageRank(weights=csr_array(weights), damping=damping, tolerance=1e-10)
    found = walk.probabilities(as_resets(resets.T))
    graph = networkx.from_numpy_array(weights, create_using=networkx.DiGraph)
    for column in range(batch):
        expected = networkx.pagerank(
            graph, alpha=damping, personalization=dict(enumerate(resets[:, column])), tol=1e-12, max_iter=1000
        )
        np.testing.assert_allclose(found[:, column], [expected[node] for node in range(nodes)], atol=1e-8)
        np.testing.assert_allclose(walk.probabilities(as_resets(resets.T[[column]])), found[:, [column]], rtol=1e-12)


@pytest.mark.parametrize(("damping", "tolerance"), [(0.5, 1e-3), (0.85, 1e-3), (0.5, 1e-5), (0.5, 1e-6), (0.5, 1e-9)])
@pytest.mark.parametrize("seed", range(5))
def test_the_error_is_within_the_tolerance(damping: float, tolerance: float, seed: int) -> None:
    """Measured as the bound is written: by squares over the nodes' weights, against the result."""
    weights = random_weights(seed, 60)
    rough, fine = (
        PersonalizedPageRank(weights=csr_array(weights), damping=damping, tolerance=wanted).probabilities(
            as_resets(np.eye(60))
        )
        for wanted in (tolerance, 1e-13)
    )
    node_weights = np.where(weights.sum(axis=0) > 0, weights.sum(axis=0), 1)[:, None]
    error, size = (np.sqrt((each**2 / node_weights).sum(axis=0)) for each in (rough - fine, fine))
    # Scaled to add up to one, a result is off by its sum's error, too.
    assert (error <= 2 * tolerance * size).all()
    np.testing.assert_allclose(rough.sum(axis=0), 1, rtol=1e-6)


def test_single_precision_is_enough_for_the_default() -> None:
    walk = PersonalizedPageRank(weights=csr_array(random_weights(0, 30)))
    assert walk.probabilities(as_resets(np.ones((1, 30)))).dtype == np.float32
    assert walk.iterations == 9


def test_without_damping_the_walker_stays_and_what_has_no_sense_is_refused() -> None:
    weights = csr_array(np.ones((2, 2)))
    walk = PersonalizedPageRank(weights=weights, damping=0.0)
    np.testing.assert_allclose(walk.probabilities(as_resets(np.array([[3.0, 1.0]]))), [[0.75], [0.25]], rtol=1e-6)
    for reset in ([0.0, 0.0], [1.0, -0.5]):
        with pytest.raises(ValueError, match="reset distribution"):
            walk.probabilities(as_resets(np.array([reset])))
    for damping in (-0.1, 1.0):
        with pytest.raises(BadInputError, match="out of range"):
            PersonalizedPageRank(weights=weights, damping=damping)


NODES = 60


def graph(seed: int) -> OpenGraph:
    """Some nodes have no edge, and some are closed."""
    is_open = np.random.default_rng([seed, 2]).random(NODES) < 0.9
    return OpenGraph(csr_array(random_weights(seed, NODES, degree=3)), is_open)


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
    seed=st.integers(0, 10_000), damping=st.sampled_from([0.1, 0.5, 0.85]), least=st.sampled_from([1e-2, 1e-4, 1e-7])
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
    assert dict(column) == numbers
    assert VerbatimNames(column).within(query) == VerbatimNames(numbers).within(query)
