"""Unit vectors on disk as whole numbers, searched exactly while they are few, and by a one-bit scan with exact
reranking later.

A vector is stored as whole numbers from -127 to 127, or from -32,767 to 32,767 for passages, scaled so that its largest
dimension is the largest number. Its length was 1, so the scale need not be kept: dividing by the length of the stored
numbers restores it. One byte per dimension changes no cosine on MuSiQue by more than 0.003, and two none that counts
(docs/benchmarks.md). Products of single bytes are exact, so the cosine of two such vectors is the same in whatever
order and however many at a time they are compared.

Few vectors are restored as a whole at their first use, and stay in memory. Many are read where they are stored; those
of passages, which every question may be compared with, stay in memory as they are stored.
"""

import mmap
import zlib
from collections.abc import Callable, Iterator, Sequence
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
#: Rows that are widened and compared at a time: so many stay in the processor's cache, and BLAS need not copy them.
_COMPARED = 256
#: Rows that are looked up before their pages are let go. The system maps up to 64 kB around each: 0.25 GB at most.
_LOOKED_UP = 4096
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

    _codes_file: NDArray[np.uint8] | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.stored: NDArray[np.integer] = mapped(path)
        self.checksum: int | None = None
        """Of the file, where it is known: compared when all rows are read into memory."""
        if _codes_path(path).exists():
            # Opened now: a later generation may remove the file while this one is still searched.
            self._codes_file = np.memmap(_codes_path(path), np.uint8, "r")
        self._looked_up = 0

    def __len__(self) -> int:
        return len(self.stored)

    @property
    def is_large(self) -> bool:
        """Whether rows are read where they are stored, and one-bit codes choose those that are worth a look."""
        return self._codes_file is not None

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """All unit vectors, in memory from the first use on."""
        return self._read(restored)

    @cached_property
    def _compared(self) -> NDArray[np.integer]:
        """All rows as they are stored, in memory from the first use on; a mapped file takes half as long again."""
        return self._read(np.array)

    def _read(self, how: Callable[[NDArray[np.integer]], NDArray[Any]]) -> NDArray[Any]:
        """All rows, after a look at their checksum."""
        if self.checksum is not None and zlib.crc32(_file_of(self.stored)) != self.checksum:
            raise IndexDamagedError(f"{self._path} is not as it was written: {REPAIR}")
        rows = how(self.stored)
        _let_go(self.stored)
        return rows

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of some rows."""
        if not self.is_large:
            return self.rows[rows]
        found = np.empty((len(rows), self.stored.shape[1]), np.float32)
        for start in range(0, len(rows), _LOOKED_UP):
            some = rows[start : start + _LOOKED_UP]
            found[start : start + _LOOKED_UP] = restored(self.stored[some])
            self._looked_up += len(some)
            if self._looked_up >= _LOOKED_UP:
                self._looked_up = 0
                _let_go(self.stored)
        return found

    def cosines(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each vector a row of its cosines with all rows."""
        if not self.is_large:
            return np.asarray(vectors @ self.rows.T)
        found = np.empty((len(vectors), len(self)), np.float32)
        for start, block in self._blocks():
            np.matmul(vectors, block.T, out=found[:, start : start + len(block)])
        found /= self._lengths
        return found

    @cached_property
    def _lengths(self) -> NDArray[np.float32]:
        return np.concatenate([lengths(block) for _, block in self._blocks()])

    def _blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All rows as they are stored, widened, a few at a time, with the number of the first; each until the next."""
        room = np.empty((_COMPARED, self.stored.shape[1]), np.float32)
        for start in range(0, len(self), _COMPARED):
            block = self._compared[start : start + _COMPARED]
            room[: len(block)] = block
            yield start, room[: len(block)]

    @cached_property
    def _codes(self) -> Any:
        """The one-bit codes, in memory from the first use on."""
        import faiss

        assert self._codes_file is not None
        reader = faiss.PyCallbackIOReader(_reader(self._codes_file))  # type: ignore[attr-defined]
        try:
            codes = faiss.read_index(reader)
        except RuntimeError as error:
            raise IndexDamagedError(f"{_codes_path(self._path)} is not as it was written: {REPAIR}") from error
        _let_go(self._codes_file)
        return codes

    def nearest(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k rows of highest cosine and their cosines, ties by row."""
        if k <= 0 or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        candidates = self._candidates(vector, k)
        scores = self.cosines(vector[None])[0] if candidates is None else self.at(candidates) @ vector
        best = top(scores, k)
        return (best if candidates is None else candidates[best]), scores[best]

    def nearest_many(
        self, vectors: NDArray[np.float32], k: int
    ) -> Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """What `nearest` returns for each, apart from rounding, in one pass over the rows where all are compared."""
        if k <= 0 or not len(self) or self._scans(k):
            return [self.nearest(vector, k) for vector in vectors]
        scores = self.cosines(vectors)
        best = [top(row, k) for row in scores]
        return [(rows, row[rows]) for row, rows in zip(scores, best, strict=True)]

    def _scans(self, k: int) -> bool:
        """Whether the one-bit codes choose the rows that are worth an exact look."""
        return self.is_large and _reranked(k) < len(self)

    def _candidates(self, vector: NDArray[np.float32], k: int) -> NDArray[np.int64] | None:
        """Rows worth an exact look: all of them (None) while there are few."""
        if not self._scans(k):
            return None
        _, rows = self._codes.search(vector[None], _reranked(k))
        return np.sort(rows[0][rows[0] >= 0])


def _reader(file: NDArray[np.uint8]) -> Callable[[int], bytes]:
    """Reads a mapped file from its beginning, so many bytes at each call."""
    unread = file.data

    def read(size: int) -> bytes:
        nonlocal unread
        part, unread = unread[:size], unread[size:]
        return part.tobytes()

    return read


def _file_of(stored: NDArray[Any]) -> mmap.mmap:
    """The file that an array is mapped from, with its header."""
    owner: Any = stored
    while not isinstance(owner, mmap.mmap):
        owner = owner.base
    return owner


def _let_go(stored: NDArray[Any]) -> None:
    """Let the pages of a mapped array go: they stay in the system's cache, and are no longer the process's."""
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        _file_of(stored).madvise(mmap.MADV_DONTNEED)
