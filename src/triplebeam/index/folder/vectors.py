"""Unit vectors on disk, searched exactly while they are few; later a scan of short codes chooses those that are worth
an exact look.

Few vectors are restored as a whole at their first use, and stay in memory. Many are read where they are stored; of
passages, which every question may be compared with, a byte per dimension stays in memory.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import REPAIR, IndexDamagedError
from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.folder_arrays import release_pages
from triplebeam.index.arrays.rows import dequantize
from triplebeam.index.folder.scan import Codes, Int8Scan, make_codes

Read = TypeVar("Read")

#: Above this many rows a scan of codes, reranked exactly, beats the exact product several times over.
MAX_EXACT_ROWS = 300_000
#: The best of a pass over all rows that are compared exactly, at least.
MIN_RERANK = 400
RERANK_PER_RESULT = 40
#: Rows that are looked up before their pages are let go. The system maps up to 64 kB around each: 0.25 GB at most.
_BATCH_ROWS = 4096
#: Scores of which only the best is looked at, at first, when the best of many are wanted.
_PILE = 16


def write_vectors(arrays: ArraySet, name: str, stored: NDArray[np.integer], exact_up_to: int = MAX_EXACT_ROWS) -> None:
    """Write stored vectors and, where there are many, short codes beside them."""
    arrays.add(name, stored)
    if len(stored) > exact_up_to:
        arrays.add_bytes(f"{name}.codes", make_codes(stored))


def select_top(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Select the positions of the best k, best first, ties by position."""
    best = _select_candidates(scores, k)
    return best[np.argsort(-scores[best], kind="stable")][:k]


def _select_candidates(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Select everything as good as the k-th, so that a tie at the border is resolved by position and not by chance."""
    if not 0 < k < len(scores):
        return np.arange(len(scores))
    columns = len(scores) // _PILE
    if columns > _PILE * k:
        # The k-th best of the columns' best is no better than the k-th best of all. To look for it among a sixteenth
        # is faster, and much so where most scores are 0, since sorting algorithms are slow where all is equal.
        border = _kth(scores[: _PILE * columns].reshape(_PILE, columns).max(axis=0), k)
        candidates = np.flatnonzero(scores >= border)
        return candidates[_select_candidates(scores[candidates], k)] if len(candidates) < len(scores) else candidates
    return np.flatnonzero(scores >= _kth(scores, k))


def _kth(scores: NDArray[np.floating], k: int) -> np.floating:
    """Return the k-th best score."""
    found: np.floating = np.partition(scores, len(scores) - k)[len(scores) - k]
    return found


class VectorIndex:
    """Rows by number, and the rows nearest to a vector."""

    _codes_file: NDArray[np.uint8] | None = None

    def __init__(self, arrays: ArraySet, name: str) -> None:
        self._arrays, self._name = arrays, name
        self.stored: NDArray[np.integer] = arrays.array(name)
        # Opened now: a later generation may remove the file while this one is still searched.
        with suppress(FileNotFoundError):
            self._codes_file = arrays.read_bytes(f"{name}.codes")
        self._looked_up, self._is_verified = 0, False

    def __len__(self) -> int:
        return len(self.stored)

    @property
    def is_large(self) -> bool:
        """Whether rows are read where they are stored, and short codes choose those that are worth a look."""
        return self._codes_file is not None

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """All unit vectors, in memory from the first use on."""
        return self._read(dequantize)

    @cached_property
    def _high_bytes(self) -> Int8Scan:
        """Of all rows, in memory from the first use on."""
        return self._read(Int8Scan)

    def _read(self, how: Callable[[NDArray[np.integer]], Read]) -> Read:
        """Read all rows, and verify their checksum."""
        self.verify()
        rows = how(self.stored)
        release_pages(self.stored)
        return rows

    def verify(self) -> None:
        """Raise IndexDamagedError where the rows are not what was written; they are compared once."""
        if not self._is_verified:
            self._arrays.verify(self._name, self.stored)
            self._is_verified = True

    def get_vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the unit vectors of some rows."""
        if not self.is_large:
            return self.rows[rows]
        found = np.empty((len(rows), self.stored.shape[1]), np.float32)
        for start in range(0, len(rows), _BATCH_ROWS):
            some = rows[start : start + _BATCH_ROWS]
            found[start : start + _BATCH_ROWS] = dequantize(self.stored[some])
            self._looked_up += len(some)
            if self._looked_up >= _BATCH_ROWS:
                self._looked_up = 0
                release_pages(self.stored)
        return found

    def copy_stored(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Copy some rows as they are stored; -1 stands for zeros."""
        if not self.is_large:
            self.verify()
        found = np.zeros((len(rows), self.stored.shape[1]), self.stored.dtype)
        found[rows >= 0] = self.stored[rows[rows >= 0]]
        release_pages(self.stored)
        return found

    def cosines(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Compute for each vector a row of its cosines with all rows: exactly those of the best, and where there are
        many rows, those of the others by their high bytes, but none above those of the best.
        """
        if not self.is_large:
            return np.asarray(vectors @ self.rows.T)
        found = self._high_bytes.cosines(vectors)
        for cosines, vector in zip(found, vectors, strict=True):
            best = select_top(cosines, MIN_RERANK)
            exact = self._compute_cosines(vector, best)
            np.minimum(cosines, exact.min(), out=cosines)  # what was not compared exactly is no better
            cosines[best] = exact
        return found

    def _compute_cosines(self, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Compute cosines with some rows; not by BLAS, whose last bits depend on its threads."""
        return np.asarray(np.einsum("ij,j->i", self.get_vectors(rows), vector))

    @cached_property
    def _codes(self) -> Codes:
        """In memory from the first use on."""
        assert self._codes_file is not None
        name = f"{self._name}.codes"
        self._arrays.verify(name, self._codes_file)
        try:
            codes = Codes(self._codes_file, self.stored.shape)
        except RuntimeError as error:
            raise IndexDamagedError(f"{self._arrays.locate(name)} is corrupted: {REPAIR}") from error
        release_pages(self._codes_file)
        return codes

    def nearest(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the k rows of highest cosine and their cosines, ties by row.

        Where there are many rows and too many of them are wanted to be chosen by codes, these are the best of
        `cosines`: not exact behind the first.
        """
        return self.nearest_many(vector[None], k)[0]

    def nearest_many(
        self, vectors: NDArray[np.float32], k: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return what `nearest` returns for each, apart from rounding, in one pass over the rows or their codes."""
        if k <= 0 or not len(self):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in vectors]
        reranked = max(MIN_RERANK, RERANK_PER_RESULT * k)
        if self.is_large and reranked < len(self):
            chosen = self._codes.nearest(vectors, reranked)
            scores = [self._compute_cosines(vector, rows) for vector, rows in zip(vectors, chosen, strict=True)]
            best = [select_top(row, k) for row in scores]
            return [(rows[kept], row[kept]) for rows, row, kept in zip(chosen, scores, best, strict=True)]
        cosines = self.cosines(vectors)
        best = [select_top(row, k) for row in cosines]
        return [(rows, row[rows]) for row, rows in zip(cosines, best, strict=True)]
