"""Triples and how they are connected: what a graph method needs from an index.

Triples have integer ids; each belongs to exactly one passage; two are neighbours when they share an entity, in either
position, under the normal form of `triplebeam.triple.entity_key`.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.triple import Triple


class TripleStore(Protocol):
    """The graph of triples. An index on disk is one; another engine may be another."""

    def triples_of(self, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        """The triples of these passages: passages in this order, triples in the order they were extracted."""
        ...

    def passage_of(self, triple_ids: Sequence[int] | NDArray[np.int64]) -> list[str]:
        """The passage of each triple."""
        ...

    def neighbours(
        self, triple_ids: Sequence[int] | NDArray[np.int64], query: NDArray[np.float32], limit: int
    ) -> list[NDArray[np.int64]]:
        """For each triple the ``limit`` others that share an end and are most similar to the query, best first."""
        ...

    def nearest(self, vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """For each vector the k triples nearest to it, best first: an array of one row per vector."""
        ...

    def vectors(self, triple_ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """The stored unit vector of each triple."""
        ...

    def triple(self, triple_id: int) -> Triple:
        """The triple itself."""
        ...
