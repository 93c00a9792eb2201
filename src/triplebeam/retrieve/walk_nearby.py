"""The first steps of a walk over a large graph: what they cost depends on the nodes that are reached, not on the graph.

Nodes are numbered in the order in which they are reached, so that values of the steps before are the heads of longer
arrays, and nothing is ever looked at that no edge has led to.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


class WalkNearby:
    """Chebyshev's iteration for x = A x + start, A symmetric, where start is zero almost everywhere."""

    def __init__(self, matrix: "csr_array[np.floating]", nodes: NDArray[np.int64], start: NDArray[np.floating]) -> None:
        self._matrix = matrix
        self._numbers = np.zeros(matrix.shape[0], np.int64)  # 0: not reached; memory never written to costs nothing
        self.nodes = np.zeros(0, np.int64)
        """Those reached so far."""
        self._reach(nodes)
        self._start = self._before = self.visits = start.astype(np.float64)
        """x at these nodes."""

    @property
    def edges(self) -> int:
        """How many edges the next step looks at."""
        return int((self._matrix.indptr[self.nodes + 1] - self._matrix.indptr[self.nodes]).sum())

    def step(self, relaxation: float, correction: float, *, wanted: NDArray[np.bool_] | None = None) -> None:
        """The plain step, A x + start, less some of the step before; where it is the last, only to wanted nodes."""
        edges = self._matrix[self.nodes]
        ends, arriving = edges.indices, edges.data * np.repeat(self.visits, np.diff(edges.indptr))
        if wanted is not None:
            ends, arriving = ends[wanted[ends]], arriving[wanted[ends]]
        self._reach(ends)
        after = np.zeros(len(self.nodes))
        after += np.bincount(self._numbers[ends] - 1, arriving, len(after))
        after[: len(self._start)] += self._start
        after[: len(self._before)] -= correction * self._before
        self._before, self.visits = self.visits, relaxation * after

    def _reach(self, ends: NDArray[np.integer]) -> None:
        """Number those that are new."""
        new = ends[self._numbers[ends] == 0]
        self._numbers[new] = np.arange(len(new))  # of a node that is there twice, the last one stays
        new = new[self._numbers[new] == np.arange(len(new))]
        self._numbers[new] = np.arange(len(self.nodes) + 1, len(self.nodes) + len(new) + 1)
        self.nodes = np.append(self.nodes, new)
