"""PageRank by pushing (Andersen, Chung & Lang, 2006): what a walk costs depends on where it goes, not on the graph.

Whatever arrives at a node waits there until it is worth a look at the node's edges, that is while it comes to less than
``least`` per edge; then the share ``damping`` of it goes on. What is still waiting in the end was counted where it
waits, and would have led to ``damping / (1 - damping)`` as many visits again. That is all that is missing, so the error
is known: no node has more visits than in the exact walk, and together they have less by this number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.open_graph import OpenGraph


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
        """The place of each node; those that are new come behind the others."""
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
