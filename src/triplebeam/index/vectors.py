"""Unit vectors on disk as whole numbers, searched exactly while they are few, and by a one-bit scan with exact
reranking later.

A vector is stored as whole numbers from -127 to 127, or from -32,767 to 32,767 for passages, scaled so that its largest
dimension is the largest number. Its length was 1, so the scale need not be kept: dividing by the length of the stored
numbers restores it. One byte per dimension changes no cosine on MuSiQue by more than 0.003, and two none that counts
(docs/benchmarks.md). Products of single bytes are exact, so the cosine of two such vectors is the same in whatever
order and however many at a time they are compared.
"""

import zlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import IndexDamagedError
from triplebeam.index.columns import mapped
from triplebeam.index.manifest import REPAIR

#: Of passages, whose similarity to a question decides alone, and of triples and entities, which are many more.
FINE, COARSE = np.dtype(np.int16), np.dtype(np.int8)
#: Above this many rows a scan of one bit per dimension, reranked exactly, beats the exact product several times over.
EXACT_UP_TO = 300_000
#: Candidates of the one-bit scan that are reranked exactly, at least.
RERANK_AT_LEAST = 400
RERANK_PER_RESULT = 40
_BLOCK = 50_000
#: Scores of which only the best is looked at, at first, when the best of many are wanted.
_PILE = 16


def quantized(vectors: NDArray[np.float32], stored_as: "np.dtype[Any]" = COARSE) -> NDArray[Any]:
    """Unit vectors as they are stored."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    return np.rint(vectors * (np.iinfo(stored_as).max / np.where(largest, largest, 1))).astype(stored_as)


def restored(stored: NDArray[np.integer]) -> NDArray[np.float32]:
    """Stored vectors as unit vectors."""
    rows = stored.astype(np.float32)
    rows /= lengths(rows)[:, None]
    return rows


def lengths(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """The lengths of stored rows, whose numbers were widened; 1 for a row of zeros, which stays one."""
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.sqrt(np.where(squares, squares, 1), dtype=np.float32)


def write_vectors(path: Path, stored: NDArray[np.integer], exact_up_to: int = EXACT_UP_TO) -> None:
    """Write stored vectors and, where there are many, one-bit codes beside them."""
    np.save(path, stored)
    if len(stored) > exact_up_to:
        _write_codes(_codes_path(path), stored)


def _codes_path(path: Path) -> Path:
    return path.with_suffix(".codes")


def _write_codes(path: Path, stored: NDArray[np.integer]) -> None:
    import faiss

    codes = faiss.IndexRaBitQFastScan(stored.shape[1], faiss.METRIC_INNER_PRODUCT)
    codes.train(restored(stored[:: max(1, len(stored) // 20_000)]))
    for start in range(0, len(stored), _BLOCK):
        codes.add(restored(stored[start : start + _BLOCK]))
    faiss.write_index(codes, str(path))


def top(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Positions of the best k, best first, ties by position."""
    best = _among_the_best(scores, k)
    return best[np.argsort(-scores[best], kind="stable")][:k]


def _among_the_best(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Everything as good as the k-th, so that a tie at the border is settled by position and not by chance."""
    if not 0 < k < len(scores):
        return np.arange(len(scores))
    columns = len(scores) // _PILE
    if columns > _PILE * k:
        # The k-th best of the columns' best is no better than the k-th best of all. To look for it among a sixteenth
        # is faster, and much so where most scores are 0, since sorting algorithms are slow where all is equal.
        border = _kth(scores[: _PILE * columns].reshape(_PILE, columns).max(axis=0), k)
        candidates = np.flatnonzero(scores >= border)
        return candidates[_among_the_best(scores[candidates], k)] if len(candidates) < len(scores) else candidates
    return np.flatnonzero(scores >= _kth(scores, k))


def _kth(scores: NDArray[np.floating], k: int) -> np.floating:
    """The k-th best score."""
    found: np.floating = np.partition(scores, len(scores) - k)[len(scores) - k]
    return found


def _reranked(k: int) -> int:
    return max(RERANK_AT_LEAST, RERANK_PER_RESULT * k)


class VectorIndex:
    """Rows by number, and the rows nearest to a vector."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.stored: NDArray[np.integer] = mapped(path)
        self._file = np.memmap(path, np.uint8, "r")
        self.checksum: int | None = None
        """Of the file, where it is known: compared when the rows are first used, since all of it is read then."""
        _ = self._codes  # opened now: a later generation may remove the file while this one is still searched

    def __len__(self) -> int:
        return len(self.stored)

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """All unit vectors, in memory from the first use on."""
        if self.checksum is not None and zlib.crc32(self._file.data) != self.checksum:
            raise IndexDamagedError(f"{self._path} is not as it was written: {REPAIR}")
        return restored(self.stored)

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of some rows."""
        return self.rows[rows] if self._codes is None else restored(self.stored[rows])

    @cached_property
    def _codes(self) -> Any:
        """The one-bit codes, where there are any."""
        if not _codes_path(self._path).exists():
            return None
        import faiss

        return faiss.read_index(str(_codes_path(self._path)), faiss.IO_FLAG_MMAP)

    def nearest(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k rows of highest cosine and their cosines, ties by row."""
        if k <= 0 or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        candidates = self._candidates(vector, k)
        scores = np.asarray((self.rows if candidates is None else self.at(candidates)) @ vector)
        best = top(scores, k)
        return (best if candidates is None else candidates[best]), scores[best]

    def nearest_many(
        self, vectors: NDArray[np.float32], k: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """What `nearest` returns for each, apart from rounding, in one pass over the rows where all are compared."""
        if k <= 0 or not len(self) or self._scans(k):
            return [self.nearest(vector, k) for vector in vectors]
        scores = np.asarray(vectors @ self.rows.T)
        best = [top(row, k) for row in scores]
        return [(rows, row[rows]) for row, rows in zip(scores, best, strict=True)]

    def _scans(self, k: int) -> bool:
        """Whether the one-bit codes choose the rows that are worth an exact look."""
        return self._codes is not None and _reranked(k) < len(self)

    def _candidates(self, vector: NDArray[np.float32], k: int) -> NDArray[np.int64] | None:
        """Rows worth an exact look: all of them (None) while there are few."""
        if not self._scans(k):
            return None
        _, rows = self._codes.search(vector[None], _reranked(k))
        return np.sort(rows[0][rows[0] >= 0])
