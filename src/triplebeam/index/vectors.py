"""Unit vectors on disk, searched exactly while they are few, and by a one-bit scan with exact reranking later."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.columns import mapped

#: Above this many rows a scan of one bit per dimension, reranked exactly, beats the exact product several times over.
EXACT_UP_TO = 300_000
#: Candidates of the one-bit scan that are reranked exactly, at least.
RERANK_AT_LEAST = 400
RERANK_PER_RESULT = 40


class VectorWriter:
    """Fills a file of vectors without holding them in memory."""

    def __init__(self, path: Path, rows: int, dimension: int, exact_up_to: int = EXACT_UP_TO) -> None:
        self._path = path
        self._exact_up_to = exact_up_to
        self._array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, dimension))
        self._row = 0

    def append(self, vector: NDArray[np.float32]) -> None:
        """Write the next row."""
        self._array[self._row] = vector
        self._row += 1

    def close(self) -> None:
        """Write the file out and, where there are many vectors, the one-bit codes beside it."""
        if self._row != len(self._array):
            raise ValueError(f"{self._row} vectors were written where {len(self._array)} were announced")
        self._array.flush()
        if len(self._array) > self._exact_up_to:
            _write_codes(_codes_path(self._path), self._array)
        del self._array


def _codes_path(path: Path) -> Path:
    return path.with_suffix(".codes")


def _write_codes(path: Path, vectors: NDArray[np.float32]) -> None:
    import faiss

    codes = faiss.IndexRaBitQ(vectors.shape[1], faiss.METRIC_INNER_PRODUCT)
    codes.train(vectors[:: max(1, len(vectors) // 20_000)])
    for start in range(0, len(vectors), 50_000):
        codes.add(np.ascontiguousarray(vectors[start : start + 50_000]))
    faiss.write_index(codes, str(path))


def top(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Positions of the best k, best first, ties by position."""
    if 0 < k < len(scores):
        # Everything as good as the k-th, so that a tie at the border is settled by position and not by chance.
        border = np.partition(scores, len(scores) - k)[len(scores) - k]
        best = np.flatnonzero(scores >= border)
    else:
        best = np.arange(len(scores))
    return best[np.argsort(-scores[best], kind="stable")][:k]


def _reranked(k: int) -> int:
    return max(RERANK_AT_LEAST, RERANK_PER_RESULT * k)


class VectorIndex:
    """Rows by number, and the rows nearest to a vector."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: NDArray[np.float32] = mapped(path)

    def __len__(self) -> int:
        return len(self.rows)

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
        scores = np.asarray((self.rows if candidates is None else self.rows[candidates]) @ vector)
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
