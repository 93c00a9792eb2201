"""Random little graphs of passages with distances, for the tests of GNN-Ret."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from triplebeam.index.folder.passage_graph import EdgeKind, Edges, PassageGraph
from triplebeam_research.training.objective import TrainingStep


def graph_of(
    nodes: int, structural: list[tuple[int, int]], keyword: list[tuple[int, int]], links: Sequence[tuple[int, int]] = ()
) -> PassageGraph:
    """Any pairs as edges of each kind."""

    def joined(pairs: Sequence[tuple[int, int]]) -> Edges:
        both = np.array(sorted({*pairs, *((b, a) for a, b in pairs)}), np.int64).reshape(-1, 2)
        return Edges(np.searchsorted(both[:, 0], np.arange(nodes + 1)), both[:, 1].astype(np.int32))

    return PassageGraph(structural=joined(structural), keyword=joined(keyword), links=joined(links))


def neighbours_of(
    nodes: int, edges: dict[EdgeKind, list[tuple[int, int]]], kinds: tuple[EdgeKind, ...]
) -> dict[int, set[int]]:
    around: dict[int, set[int]] = {row: set() for row in range(nodes)}
    for kind in kinds:
        for a, b in edges[kind]:
            around[a].add(b)
            around[b].add(a)
    return around


class Problem(NamedTuple):
    """A graph, as the fast code and as the oracle want it, and a question of some steps."""

    graph: PassageGraph
    neighbours: dict[int, set[int]]
    distances: list[list[float]]
    targets: list[set[int]]
    alpha: list[float]
    beta: float
    relevant: int
    competitors: int

    @property
    def steps(self) -> list[TrainingStep]:
        return [
            TrainingStep(distances=np.array(distances), targets=np.array(sorted(targets), np.int64))
            for distances, targets in zip(self.distances, self.targets, strict=True)
        ]


@st.composite
def edge_lists(draw: st.DrawFn, nodes: int) -> list[tuple[int, int]]:
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda ends: ends[0] != ends[1])
    return draw(st.lists(pair, max_size=2 * nodes)) if nodes > 1 else []


@st.composite
def problems(draw: st.DrawFn, max_steps: int = 3) -> Problem:
    """Distances without ties, drawn from a seed, so that derivatives exist."""
    nodes = draw(st.integers(2, 12))
    edges = draw(edge_lists(nodes))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    count = draw(st.integers(1, max_steps))
    share = st.floats(0.05, 0.95)
    return Problem(
        graph=graph_of(nodes, [], edges),
        neighbours=neighbours_of(nodes, {"structural": [], "keyword": edges, "links": []}, ("keyword",)),
        distances=random.random((count, nodes)).tolist(),
        targets=[draw(st.sets(st.integers(0, nodes - 1), max_size=3)) for _ in range(count)],
        alpha=draw(st.lists(share, min_size=1, max_size=3)),
        beta=draw(share),
        relevant=draw(st.integers(1, 5)),
        competitors=draw(st.integers(1, 8)),
    )
