"""The graph that walks are pushed over (`personalized_pagerank.push`): a walk reads the edges of the nodes it comes to.

What it needs to know of every node beforehand takes several passes over all edges. Of a large index that is stored, for
the walks of STORED_WALKS.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays
from triplebeam.index.arrays.rows import expand_rows

_DAMPING = 0.5
#: How near to the end of a walk its result is, by default. A fusion looks at ranks alone: for the blend, four steps of
#: a walk instead of nine give the same passages but for one in 300.
TOLERANCE, BLENDED_TOLERANCE = 1e-5, 5e-3
#: An entity of more passages than this leads nowhere in particular: walks of the blend pass it by.
BLENDED_PASSAGES = 30
#: Walks of `hipporag2`, and of `blend` from triples and from names: the most passages of an entity, whether they go
#: through passages, as `EntityGraph.open_graph` has them, and the tolerance where they start everywhere alike.
STORED_WALKS: tuple[tuple[int | None, bool, float | None], ...] = (
    (None, True, TOLERANCE),
    (BLENDED_PASSAGES, True, BLENDED_TOLERANCE),
    (BLENDED_PASSAGES, False, None),
)


@dataclass(frozen=True)
class OpenGraph:
    """A symmetric matrix of weights, read where a walk comes; nodes that are not ``open`` have no edges."""

    weights: "csr_array[np.float64]" = field(repr=False)
    open: NDArray[np.bool_] = field(repr=False)
    arrays: ArraySet = field(default_factory=MemoryArrays, repr=False)
    """Where it is stored what is derived, if it is."""
    name: str = "walk"
    """What the names of these arrays begin with."""

    @cached_property
    def leaving(self) -> NDArray[np.float64]:
        """The weights of a node's edges together."""
        if (stored := self.arrays.find(f"{self.name}_leaving")) is not None:
            return stored
        return np.asarray(np.where(self.open, self.weights @ self.open.astype(np.float64), 0.0))

    def edges(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the edges of open nodes: the position of the node, the other end, and the weight of each."""
        positions, places = expand_rows(self.weights.indptr, nodes)
        ends = self.weights.indices[places]
        there = self.open[ends]
        return positions[there], ends[there], self.weights.data[places[there]]

    def visits_together(self, nodes: slice | NDArray[np.int64], start: NDArray[np.floating], damping: float) -> float:
        """Compute visits of all nodes, the start included, in an exact random walk. Nodes without edges absorb."""
        return float((start / np.where(self.leaving[nodes] > 0, 1 - damping, 1)).sum())

    def spread_evenly(self, nodes: slice, damping: float, tolerance: float) -> NDArray[np.float64]:
        """Compute visits of these nodes, by way of edges, in a random walk that starts with 1 at every one of them.

        What `write` stored is taken as it is: ask for the nodes that were given there.
        """
        if (stored := self.arrays.find(f"{self.name}_spread_{damping}_{tolerance}")) is not None:
            return stored
        arriving, visits = np.zeros(len(self.open)), np.zeros(len(self.open))
        arriving[nodes] = 1
        shares = np.divide(damping, self.leaving, out=np.zeros_like(visits), where=self.leaving > 0)
        for _ in range(math.ceil(math.log(tolerance) / math.log(damping)) if damping else 0):
            arriving = np.where(self.open, np.asarray(self.weights @ (arriving * shares)), 0.0)
            visits += arriving
        return visits[nodes]

    def write(self, arrays: ArraySet, nodes: slice, tolerance: float | None) -> None:
        """Store what is derived, for walks from all these nodes alike where there is a tolerance."""
        arrays.add(f"{self.name}_leaving", self.leaving)
        if tolerance is not None:
            spread = self.spread_evenly(nodes, _DAMPING, tolerance)
            arrays.add(f"{self.name}_spread_{_DAMPING}_{tolerance}", spread)
