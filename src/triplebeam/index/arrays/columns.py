"""A column of strings on disk: one file of UTF-8, one of offsets, both memory-mapped.

Opening costs nothing however long the column is, and a read-only folder will do. What is not to keep files open is read
into memory instead.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: The header of an array is a Python literal, and CPython 3.11 cannot always parse two at once: "SystemError: AST
#: constructor recursion depth mismatch".
_READING_HEADERS = Lock()


def mapped(path: Path) -> NDArray[Any]:
    """An array on disk, read on access. A plain view, since slicing a `memmap` costs more than the reading."""
    with _READING_HEADERS:
        return np.asarray(np.load(path, mmap_mode="r"))


def read_array(path: Path, *, in_memory: bool = False) -> NDArray[Any]:
    """Read an array: as a whole, or where it is. A map keeps a file descriptor for as long as it lasts."""
    return loaded(path) if in_memory else mapped(path)


def mapped_sparse(paths: Iterable[Path], shape: tuple[int, int], *, in_memory: bool = False) -> "csr_array[Any]":
    """A sparse matrix of three arrays on disk: values, ends and starts."""
    from scipy.sparse import csr_array

    values, ends, starts = (read_array(path, in_memory=in_memory) for path in paths)
    if starts[-1] <= np.iinfo(ends.dtype).max:
        # SciPy has starts and ends of one width: it would read and copy the ends, which are many more.
        starts = starts.astype(ends.dtype)
    return csr_array((values, ends, starts), shape=shape)


def write_sparse(
    paths: Iterable[Path], values: NDArray[Any], ends: NDArray[np.integer], starts: NDArray[np.integer]
) -> None:
    """Write the rows of a sparse matrix as three arrays, which `mapped_sparse` reads."""
    parts: tuple[NDArray[Any], ...] = (values, ends.astype(np.int32), starts.astype(np.int64))
    for path, part in zip(paths, parts, strict=True):
        np.save(path, part)


def expand_rows(starts: NDArray[np.integer], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the entries of some rows of a sparse matrix: the position in ``rows`` of each, and its place."""
    begins = starts[rows].astype(np.int64)
    counts = starts[rows + 1] - begins
    before = np.cumsum(counts) - counts
    return np.repeat(np.arange(len(rows)), counts), np.repeat(begins - before, counts) + np.arange(counts.sum())


def loaded(path: Path) -> NDArray[Any]:
    """An array on disk, read as a whole."""
    with _READING_HEADERS:
        return np.asarray(np.load(path))


def write_strings(path: Path, strings: Iterable[str]) -> None:
    """Write a column as ``path.utf8`` and ``path.offsets.npy``."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    path.with_suffix(".utf8").write_bytes(b"".join(encoded))
    np.save(path.with_suffix(".offsets.npy"), np.cumsum([0, *map(len, encoded)], dtype=np.int64))


class StringColumn(Sequence[str]):
    """Strings by row number."""

    def __init__(self, path: Path, *, in_memory: bool = False) -> None:
        # Views of memory: a number or a slice of one costs a fraction of an array's.
        self._offsets = read_array(path.with_suffix(".offsets.npy"), in_memory=in_memory).data
        body = path.with_suffix(".utf8")
        # An empty file cannot be memory-mapped.
        is_read = in_memory or not body.stat().st_size
        self._bytes = memoryview(body.read_bytes()) if is_read else np.memmap(body, np.uint8, "r").data
        if self._offsets[-1] != len(self._bytes):
            raise ValueError(f"{body.name} is not as long as its offsets say")

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(f"row {index} of a column of {len(self)}")
        return str(self._bytes[self._offsets[index] : self._offsets[index + 1]], "utf-8", "surrogatepass")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def place_of(self, string: str) -> int:
        """Where a string is, or would be, in a column that is sorted. UTF-8 is in the order of the characters."""
        offsets, whole = self._offsets, self._bytes
        encoded = string.encode("utf-8", "surrogatepass")
        return bisect_left(range(len(self)), encoded, key=lambda row: bytes(whole[offsets[row] : offsets[row + 1]]))

    def __iter__(self) -> Iterator[str]:
        """All of them, several times faster than one by one."""
        whole = self._bytes.tobytes()
        return (whole[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(self._offsets.tolist()))
