"""Personalised PageRank (Haveliwala, 2002): where a walker over a weighted graph is found who keeps starting afresh.

At each step the walker follows an edge with probability ``damping``, chosen in proportion to the weights, and otherwise
goes back to a node sampled from the reset distribution, as it always does from a node without edges. With M the weights
scaled so that columns add up to one, d the damping and r the reset distribution, the share of time on each node is
q / Σq, where q = d·M q + r: the division also accounts for nodes without edges.

Solved by Chebyshev's iteration (Golub & Varga, 1961), which corrects each step of the plain one, q ← d·M q + r, by the
step before it. It may be used because the graph is undirected: M then has real eigenvalues, from -1 to 1. With n
products the error is at most 2·cⁿ⁺¹ of the result, c = d / (1 + √(1 - d²)), both measured by their squares over the
nodes' weights (√Σ x²/weight); for d = 0.5 that is 0.27 a product where the plain step has 0.5. So n is known
beforehand, 9 for the default tolerance.
For 60 questions of MuSiQue the sum of absolute errors stays below 5e-5, and the best 30 passages are the same ones.

With D the weights of nodes (of all their edges) and S = D^-½·weights·D^-½, which is symmetric, q = √D·x where
x = d·S x + r/√D. A product with d·S is most of the cost. It skips what is not needed: at first, the edges of nodes that
the walker has not reached yet, and in the end, those of nodes whose probability is not wanted. It is computed in
single precision, where the tolerance allows it, and with the nodes in falling order of their edges, which suits the
processor: rows of one length follow each other, and the nodes that most others read lie together.

In a large graph a walk is pushed instead (`push`; Andersen, Chung & Lang, 2006): what it costs depends on where it
goes, not on the graph. Whatever arrives at a node waits there until it is worth a look at the node's edges, that is
while it comes to less than ``least`` per edge; then the share ``damping`` of it goes on. What is still waiting in the
end was counted where it waits, and would have led to ``damping / (1 - damping)`` as many visits again. That is all that
is missing, so the error is known: no node has more visits than in the exact walk, and together they have less by this
number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from triplebeam.errors import BadInputError
from triplebeam.index.folder.entity_graph import TOLERANCE, OpenGraph, scale_edges

#: Single precision adds errors of about a tenth of this.
_SINGLE_PRECISION_FROM = 1e-6
#: To look an edge up, for a product with a few nodes' edges alone, costs about as much as eight products with it.
_LOOKED_UP = 8
_ALL = slice(None)


class Reset(NamedTuple):
    """Some nodes, each once, and their weights, none negative and not all zero; their proportions alone count."""

    nodes: NDArray[np.int64]
    weights: NDArray[np.floating]


class _Ordered(NamedTuple):
    """The graph with its nodes in falling order of their edges."""

    position: NDArray[np.int64]
    """Where each node is in the order."""
    scales: NDArray[np.floating]
    """√D in this order."""
    steps: "csr_array[np.floating]"
    """d·S."""
    last: "csr_array[np.floating]"
    """The rows of it that the last product needs: those of wanted nodes."""
    kept: slice | NDArray[np.int64]
    """Where these are in the order."""
    places: NDArray[np.int64]
    """Where each wanted node is among what is kept."""


@dataclass(frozen=True, kw_only=True)
class PersonalizedPageRank:
    """An undirected graph to walk on: ``weights[i, j] == weights[j, i]`` is that of the edge between i and j."""

    weights: "csr_array[np.float64]" = field(repr=False)
    damping: float = 0.5
    tolerance: float = TOLERANCE
    wanted_from: int = 0
    """Nodes before this one are walked over, but their probabilities are not wanted."""

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise BadInputError(f"a damping of {self.damping} is out of range: choose one from 0 up to but not 1.")
        if not 0 < self.tolerance < 1:
            raise BadInputError(f"a tolerance of {self.tolerance} is out of range: choose one between 0 and 1.")

    @cached_property
    def iterations(self) -> int:
        """Products until the error is within the tolerance."""
        rate = self.damping / (1 + math.sqrt(1 - self.damping**2))
        return max(0, math.ceil(math.log(self.tolerance / 2) / math.log(rate)) - 1) if rate else 0

    def probabilities(self, resets: Sequence[Reset]) -> NDArray[np.floating]:
        """Return the share of time spent on each wanted node, q / Σq: a column for each reset distribution."""
        found = np.zeros((len(resets), len(self._leaving) - self.wanted_from), self.precision)
        for row, reset in zip(found, resets, strict=True):
            row[:] = self._share(self._sorted_nodes, reset)
        return found.T

    def _share(self, graph: _Ordered, reset: Reset) -> NDArray[np.floating]:
        places = graph.position[reset.nodes]
        reached = np.zeros(len(graph.position), np.bool_)
        reached[places] = True
        start = np.zeros(len(graph.position), self.precision)
        start[places] = reset.weights / (graph.scales[places] * self._visits_together(reset))
        found = self._solution(graph, start, reached)
        found *= graph.scales[graph.kept]
        np.maximum(found, 0, out=found)  # what is nearly zero may come out below it
        return found[graph.places]

    def _solution(
        self, graph: _Ordered, start: NDArray[np.floating], reached: NDArray[np.bool_]
    ) -> NDArray[np.floating]:
        """Return the x of x = d·S x + start, at the nodes that are kept; start is zero where nothing is reached."""
        before, visits, last = start, start, start[graph.kept]
        for step in self._steps[:-1]:
            before, visits = visits, _correct_step(_product(graph.steps, visits, reached), start, before, *step)
        for step in self._steps[-1:]:
            last = _correct_step(np.asarray(graph.last @ visits), last, before[graph.kept], *step)
        return last

    def _visits_together(self, reset: Reset) -> float:
        """Σq."""
        together = float((self._visits_from[reset.nodes] * reset.weights).sum())  # not BLAS, see _correct_step
        if reset.weights.min(initial=0) < 0 or together <= 0:
            raise ValueError("a reset distribution has a negative weight, or none above zero")
        return together

    @cached_property
    def _visits_from(self) -> NDArray[np.float64]:
        """What all visits add up to that begin with a reset of 1 to a node. Nodes with edges are like one whose edge
        leads to itself, since whatever leaves one arrives at another.
        """
        joined, alone = (self._visits_of_one(chance) for chance in (self.damping, 0.0))
        return np.where(self._leaving > 0, joined, alone)

    def _visits_of_one(self, chance: float) -> float:
        """`_solution` for a single node to which the walker returns with this chance."""
        before = visits = 1.0
        for relaxation, correction in self._steps:
            before, visits = visits, relaxation * (chance * visits + 1 - correction * before)
        return visits

    @cached_property
    def _steps(self) -> list[tuple[float, float]]:
        """Of each product, how far the plain step is taken, and how much of the step before is subtracted."""
        steps, relaxation = [], 2.0
        for number in range(self.iterations):
            correction = relaxation * self.damping**2 / 4
            relaxation = 1 / (1 - correction)
            steps.append((relaxation, correction if number else 0.0))
        return steps

    @cached_property
    def precision(self) -> type[np.floating]:
        """Of the matrix and of the results."""
        return np.float32 if self.tolerance >= _SINGLE_PRECISION_FROM else np.float64

    @cached_property
    def _leaving(self) -> NDArray[np.float64]:
        """The weights of a node's edges together."""
        return np.asarray(self.weights.sum(axis=0), np.float64)

    @cached_property
    def _sorted_nodes(self) -> _Ordered:
        order = np.argsort(-np.diff(self.weights.indptr), kind="stable")
        scales = np.sqrt(np.where(self._leaving > 0, self._leaving, 1))
        matrix = csr_array(scale_edges(self.weights, 1 / scales)[order][:, order])
        matrix.sort_indices()
        narrow = np.int32 if matrix.nnz < np.iinfo(np.int32).max else np.int64
        data, indices, starts = matrix.data * self.damping, matrix.indices, matrix.indptr
        steps = csr_array((data.astype(self.precision), indices.astype(narrow), starts.astype(narrow)), matrix.shape)
        position, scales = np.argsort(order), scales[order].astype(self.precision)
        wanted = order >= self.wanted_from
        if wanted.all():
            return _Ordered(position, scales, steps, steps, _ALL, position)
        kept = np.flatnonzero(wanted)
        places = np.searchsorted(kept, position[self.wanted_from :])
        return _Ordered(position, scales, steps, csr_array(steps[kept]), kept, places)


def _product(
    steps: "csr_array[np.floating]", visits: NDArray[np.floating], reached: NDArray[np.bool_]
) -> NDArray[np.floating]:
    """Multiply a symmetric matrix by a vector. Where nodes of few edges are reached, only these are read; then their
    neighbours are reached, too.
    """
    if reached.all():
        return np.asarray(steps @ visits)
    few = np.flatnonzero(reached)
    if int((steps.indptr[few + 1] - steps.indptr[few]).sum()) * (_LOOKED_UP + 1) > steps.nnz:
        reached[:] = True  # from now on
        return np.asarray(steps @ visits)
    edges = steps[few]
    reached[edges.indices] = True
    return np.asarray(edges.T @ visits[few])


def _correct_step(
    after: NDArray[np.floating],
    start: NDArray[np.floating],
    before: NDArray[np.floating],
    relaxation: float,
    correction: float,
) -> NDArray[np.floating]:
    """Chebyshev's step from d·S x, in its place."""
    after += start  # the plain step
    if correction:
        # Not by BLAS, whose threads wait for each other longer than this takes where other work shares the processor.
        after -= correction * before
    after *= relaxation
    return after


@dataclass(frozen=True)
class Pushed:
    """The end of a walk."""

    nodes: NDArray[np.int64]
    """Those that were reached, the first of them those it started from."""
    visits: NDArray[np.float64]
    """How often each was visited by way of an edge: the start itself does not count."""
    missing: float
    """What is missing from the visits of all nodes together."""


def push(
    graph: OpenGraph, nodes: NDArray[np.int64], start: NDArray[np.floating], damping: float, least: float
) -> Pushed:
    """Walk from some nodes, each once, until nothing is waiting that is worth a look."""
    reached = _Reached(graph, nodes)
    waiting, visits = start.astype(np.float64), np.zeros(len(nodes))
    while len(moving := np.flatnonzero(waiting >= least * reached.edges)):
        leaving = damping * waiting[moving] / reached.leaving[moving]
        waiting[moving] = 0
        positions, ends, weights = graph.edges(reached.nodes[moving])
        places = reached.places(ends)
        arriving = np.bincount(places, leaving[positions] * weights, len(reached.nodes))
        visits, waiting = (np.append(old, np.zeros(len(arriving) - len(old))) + arriving for old in (visits, waiting))
    missing = waiting[np.isfinite(reached.edges)].sum() * damping / (1 - damping)
    return Pushed(reached.nodes, visits, float(missing))


class _Reached:
    """The nodes that a walk has reached, in the order in which it did."""

    def __init__(self, graph: OpenGraph, nodes: NDArray[np.int64]) -> None:
        self._graph = graph
        self._numbers = np.zeros(len(graph.open), np.int32)  # 0: not reached; memory never written to costs nothing
        self.nodes = np.zeros(0, np.int64)
        self.edges, self.leaving = np.zeros(0), np.zeros(0)
        """How many edges each has, infinitely many where nothing can leave it; and their weights together."""
        self.places(nodes)

    def places(self, ends: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the place of each node; those that are new come behind the others."""
        new = ends[self._numbers[ends] == 0]
        self._numbers[new] = np.arange(len(new))  # of a node that is there twice, the last one stays
        new = new[self._numbers[new] == np.arange(len(new))]
        self._numbers[new] = np.arange(len(self.nodes) + 1, len(self.nodes) + len(new) + 1)
        self.nodes = np.append(self.nodes, new)
        starts, leaving = self._graph.weights.indptr, self._graph.leaving[new]
        edges = np.where(leaving > 0, starts[new + 1] - starts[new], np.inf)
        self.edges, self.leaving = np.append(self.edges, edges), np.append(self.leaving, leaving)
        places: NDArray[np.int32] = self._numbers[ends] - 1
        return places
