"""Eq. 1, 2 and 4 against their transcription, on random graphs."""

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import gnn_ret as oracle
from small_graphs import edge_lists, graph_of, neighbours_of
from trials import examples
from triplebeam.index.folder.passage_graph import KINDS, PAPER_KINDS, EdgeKind
from triplebeam.methods.gnn_ret.propagate import Message, MessagePassing, distances_of, integrate_steps, nearest

MESSAGES = {"min": min, "mean": fmean}


@settings(max_examples=examples(200), deadline=None)
@given(
    data=st.data(),
    nodes=st.integers(1, 12),
    alpha=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), max_size=3),
    relevant=st.integers(1, 14),
    message=st.sampled_from(["min", "mean"]),
    kinds=st.sampled_from([("structural",), ("keyword",), ("links",), PAPER_KINDS, KINDS, ()]),
)
def test_agrees_with_the_paper(
    data: st.DataObject, nodes: int, alpha: list[float], relevant: int, message: Message, kinds: tuple[EdgeKind, ...]
) -> None:
    edges: dict[EdgeKind, list[tuple[int, int]]] = {kind: data.draw(edge_lists(nodes)) for kind in KINDS}
    # Coarse, so that ties happen.
    distances = data.draw(st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=nodes, max_size=nodes))
    layers = oracle.gnn(distances, neighbours_of(nodes, edges, kinds), alpha, relevant, MESSAGES[message])
    passing = MessagePassing(graph=graph_of(nodes, *edges.values()), relevant=relevant, message=message, edges=kinds)
    propagated = passing.propagate(np.array(distances), alpha)
    assert len(propagated.hidden) == len(layers)
    for hidden, layer in zip(propagated.hidden, layers, strict=True):
        assert hidden == pytest.approx(layer.h)
    for sent, layer in zip(propagated.messages, layers[1:], strict=True):
        assert set(sent.receivers.tolist()) == layer.S_K
        assert [int(sent.senders[start]) for start in sent.starts] == [layer.sender[i] for i in sent.receivers]


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4), st.floats(0, 1))
def test_steps_are_mixed_as_in_eq_4(seed: int, count: int, beta: float) -> None:
    steps = np.random.default_rng(seed).random((count, 5))
    integrated = None
    for step, expected in zip(steps, oracle.rgnn(steps.tolist(), beta), strict=True):
        integrated = integrate_steps(step, integrated, beta)
        assert integrated == pytest.approx(expected)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(0, 5).map(float), max_size=12), st.integers(0, 15))
def test_the_nearest_come_first_ties_by_row(distances: list[float], k: int) -> None:
    assert nearest(np.array(distances), k).tolist() == oracle.smallest(distances, k)


def test_scores_become_distances() -> None:
    scores = np.array([3.0, 1.0, 2.0], np.float32)
    assert distances_of(scores, "scaled").tolist() == [0.0, 1.0, 0.5]
    assert distances_of(scores / 4, "cosine").tolist() == [0.25, 0.75, 0.5]
    assert distances_of(np.full(3, 7, np.float32), "scaled").tolist() == [1.0, 1.0, 1.0]


@settings(max_examples=examples(50), deadline=None)
@given(edges=edge_lists(8), seed=st.integers(0, 1000), alpha=st.lists(st.floats(0, 1), max_size=3))
def test_scale_does_not_matter_to_the_order(edges: list[tuple[int, int]], seed: int, alpha: list[float]) -> None:
    distances = np.random.default_rng(seed).random(8)
    passing = MessagePassing(graph=graph_of(8, [], edges), relevant=3)
    plain, scaled = (passing.propagate(d, alpha).distances for d in (distances, 3 * distances + 1))
    assert scaled == pytest.approx(3 * plain + 1)
