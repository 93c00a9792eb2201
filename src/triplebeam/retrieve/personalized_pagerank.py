"""Personalised PageRank (Haveliwala, 2002): where a walker over a weighted graph is found who keeps starting afresh.

At each step the walker follows an edge with probability ``damping``, chosen in proportion to the weights, and otherwise
goes back to a node drawn from the reset distribution; from a node without edges it always goes back. Solved by power
iteration, p ← d·(M p + lost·r) + (1 − d)·r, with M the weights scaled so that columns add up to one, r the reset
distribution and ``lost`` the probability that stands on nodes without edges.

The number of steps is known beforehand: the error in the sum of absolute differences is at most 2·dⁿ after n steps, so
n is the first with 2·dⁿ at or below the tolerance (21 for damping 0.5 and one in a million). A result therefore never
depends on what else is computed in the same batch.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from triplebeam.errors import BadInputError


@dataclass(frozen=True, kw_only=True)
class PersonalizedPageRank:
    """A graph to walk on: ``weights[i, j]`` is that of the edge from j to i. An undirected graph's are symmetric."""

    weights: "csr_array[np.float64]" = field(repr=False)
    damping: float = 0.5
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise BadInputError(f"a damping of {self.damping} is out of range: choose one from 0 up to but not 1.")

    @cached_property
    def _leaving(self) -> NDArray[np.float64]:
        """The weight of all edges that leave a node."""
        return np.asarray(self.weights.sum(axis=0), np.float64)

    @cached_property
    def _transition(self) -> "csr_array[np.float64]":
        shares = np.divide(1.0, self._leaving, out=np.zeros_like(self._leaving), where=self._leaving > 0)
        return csr_array(self.weights @ diags_array(shares))

    @cached_property
    def iterations(self) -> int:
        """Steps until the error is within the tolerance."""
        return math.ceil(math.log(self.tolerance / 2) / math.log(self.damping)) if self.damping else 0

    def probabilities(self, reset: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of time spent on each node, for one reset vector or for each column of several.

        A reset vector holds weights, none negative and not all zero; they are scaled to add up to one.
        """
        totals = reset.sum(axis=0)
        if (reset < 0).any() or (totals <= 0).any():
            raise ValueError("a reset vector has a negative weight, or none above zero")
        start = reset / totals
        dead_ends = np.flatnonzero(self._leaving <= 0)
        probabilities: NDArray[np.float64] = start
        for _ in range(self.iterations):
            lost = probabilities[dead_ends].sum(axis=0)
            followed = self._transition @ probabilities + start * lost
            probabilities = self.damping * followed + (1 - self.damping) * start
        return probabilities
