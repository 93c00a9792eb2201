"""A set of named arrays, which every search structure is written to and made from: in a folder, or in memory."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.columns import StringColumn, encode_strings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What the arrays of a sparse matrix are called, behind its name: the values of all rows, their columns, and where each
#: row starts.
MATRIX_PARTS = ("values", "ends", "starts")


class ArraySet(ABC):
    """Arrays, string columns, sparse matrices and bytes by name. Reading what is not there raises FileNotFoundError."""

    @abstractmethod
    def __contains__(self, name: object) -> bool:
        """Return whether there is an array or a string column of this name."""

    @abstractmethod
    def array(self, name: str) -> NDArray[Any]:
        """Return an array, which must not be changed."""

    @abstractmethod
    def read_bytes(self, name: str) -> NDArray[np.uint8]:
        """Return what `add_bytes` wrote."""

    @abstractmethod
    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array."""

    @abstractmethod
    def add_bytes(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write bytes, one part behind the other."""

    @abstractmethod
    def open_subset(self, name: str) -> "ArraySet":
        """Return the set of this name in this one."""

    @abstractmethod
    def locate(self, name: str) -> str:
        """Say where the bytes of this name are, for an error message."""

    def verify(self, name: str, array: NDArray[Any]) -> None:
        """Raise IndexDamagedError where an array is not what was written; one in memory always is."""
        return

    def strings(self, name: str) -> StringColumn:
        """Return a column of strings."""
        return StringColumn(self.array(f"{name}.offsets"), self.read_bytes(f"{name}.utf8"), name)

    def add_strings(self, name: str, strings: Iterable[str]) -> None:
        """Write a column of strings."""
        column = strings if isinstance(strings, StringColumn) else encode_strings(strings)
        self.add_bytes(f"{name}.utf8", [column.body.data])
        self.add(f"{name}.offsets", column.offsets)

    def matrix(self, name: str, shape: tuple[int, int], parts: Sequence[str] = MATRIX_PARTS) -> "csr_array[Any]":
        """Return a sparse matrix."""
        from scipy.sparse import csr_array

        values, ends, starts = (self.array(f"{name}_{part}") for part in parts)
        if starts[-1] <= np.iinfo(ends.dtype).max:
            # SciPy has starts and ends of one width: it would read and copy the ends, which are many more.
            starts = starts.astype(ends.dtype)
        return csr_array((values, ends, starts), shape=shape)

    def add_matrix(
        self,
        name: str,
        values: NDArray[Any],
        ends: NDArray[np.integer],
        starts: NDArray[np.integer],
        parts: Sequence[str] = MATRIX_PARTS,
    ) -> None:
        """Write the rows of a sparse matrix."""
        arrays: tuple[NDArray[Any], ...] = (values, ends.astype(np.int32), starts.astype(np.int64))
        for part, array in zip(parts, arrays, strict=True):
            self.add(f"{name}_{part}", array)


class MemoryArrays(ArraySet):
    """Arrays in memory: no file is opened or written."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self._sets: dict[str, MemoryArrays] = {}

    def __contains__(self, name: object) -> bool:
        """Return whether there is an array or a string column of this name."""
        return name in self._arrays or f"{name}.offsets" in self._arrays

    def array(self, name: str) -> NDArray[Any]:
        """Return an array."""
        try:
            return self._arrays[name]
        except KeyError:
            raise FileNotFoundError(f"there is no array {name!r} in memory") from None

    def read_bytes(self, name: str) -> NDArray[np.uint8]:
        """Return what `add_bytes` wrote."""
        return self.array(name)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array."""
        self._arrays[name] = array

    def add_bytes(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Keep bytes."""
        self._arrays[name] = np.frombuffer(b"".join(parts), np.uint8)

    def open_subset(self, name: str) -> "MemoryArrays":
        """Return the set of this name in this one."""
        return self._sets.setdefault(name, MemoryArrays())

    def locate(self, name: str) -> str:
        """Say that it is in memory."""
        return f"{name} in memory"
