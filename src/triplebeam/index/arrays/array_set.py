"""A set of named arrays, which every search structure is written to and made from: in a folder, or in memory.

A column of strings is UTF-8, one string behind the other, and the offset of each. Opening costs nothing however long it
is: a string is decoded when it is read. Names in a sorted column, each with a number or with the rows of passages, are
looked up without being read as a whole, so that the first question to a large index need not wait for dictionaries of
millions of names.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What the arrays of a sparse matrix are called, behind its name: the values of all rows, their columns, and where each
#: row starts.
MATRIX_PARTS = ("values", "ends", "starts")
T = TypeVar("T")


class StringColumn(Sequence[str]):
    """Strings by row number."""

    def __init__(self, offsets: NDArray[np.int64], body: NDArray[np.uint8], name: str = "strings") -> None:
        self.offsets, self.body = offsets, body
        # Views of memory: a number or a slice of one costs a fraction of an array's.
        self._offsets, self._bytes = offsets.data, body.data
        if self._offsets[-1] != len(self._bytes):
            raise ValueError(f"{name}.utf8 is not as long as its offsets say")

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

    def take(self, rows: NDArray[np.int64]) -> "StringColumn":
        """Return a column of the strings at these rows. What is side by side is copied as one."""
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(self.offsets[rows + 1] - self.offsets[rows], out=offsets[1:])
        first, last = rows[np.diff(rows, prepend=-2) != 1], rows[np.diff(rows, append=-2) != 1]
        starts, ends = self.offsets[first].tolist(), self.offsets[last + 1].tolist()
        body = b"".join([self._bytes[start:end] for start, end in zip(starts, ends, strict=True)])
        return StringColumn(offsets, np.frombuffer(body, np.uint8))

    def find_position(self, string: str) -> int:
        """Find where a string is, or would be, in a sorted column. UTF-8 sorts in the order of the characters."""
        offsets, whole = self._offsets, self._bytes
        encoded = string.encode("utf-8", "surrogatepass")
        return bisect_left(range(len(self)), encoded, key=lambda row: bytes(whole[offsets[row] : offsets[row + 1]]))

    def __iter__(self) -> Iterator[str]:
        """Iterate over all strings, several times faster than one by one."""
        whole = self._bytes.tobytes()
        return (whole[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(self._offsets.tolist()))


def concatenate(one: StringColumn, two: StringColumn) -> StringColumn:
    """Return a column of the strings of both."""
    offsets = np.append(one.offsets, two.offsets[1:] + one.offsets[-1])
    return StringColumn(offsets, np.append(one.body, two.body))


def encode_strings(strings: Iterable[str]) -> StringColumn:
    """Return a column of these strings."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return StringColumn(offsets, np.frombuffer(b"".join(encoded), np.uint8))


class ArraySet(ABC):
    """Arrays, string columns, sparse matrices and bytes by name. Reading what is not there raises FileNotFoundError."""

    @abstractmethod
    def __contains__(self, name: object) -> bool:
        """Return whether there is an array or a string column of this name."""

    @abstractmethod
    def array(self, name: str) -> NDArray[Any]:
        """Return an array, which must not be changed."""

    def find(self, name: str) -> NDArray[Any] | None:
        """Return an array; None where it was not written, or where the next generation has removed it."""
        try:
            return self.array(name)
        except FileNotFoundError:
            return None

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


@dataclass(frozen=True)
class SortedNames(Mapping[str, T]):
    """A mapping that can also tell how a name may go on."""

    names: StringColumn = field(repr=False)
    at: Callable[[int], T] = field(repr=False)
    """The value at a place."""

    def __getitem__(self, name: str) -> T:
        place = self.names.find_position(name)
        if place < len(self.names) and self.names[place] == name:
            return self.at(place)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def has_beginning(self, beginning: str) -> bool:
        """Return whether any name has this prefix."""
        place = self.names.find_position(beginning)
        return place < len(self.names) and self.names[place].startswith(beginning)


def write_numbers(arrays: ArraySet, name: str, numbers: Mapping[str, int]) -> None:
    """Write names that have a number each."""
    names = sorted(numbers)
    arrays.add_strings(name, names)
    arrays.add(f"{name}.numbers", np.array([numbers[each] for each in names], np.int64))


def read_numbers(arrays: ArraySet, name: str) -> SortedNames[int] | None:
    """Read what `write_numbers` wrote; None where it did not, or where the next generation has removed it."""
    try:
        return SortedNames(arrays.strings(name), arrays.array(f"{name}.numbers").data.__getitem__)
    except FileNotFoundError:
        return None


def write_rows(arrays: ArraySet, name: str, rows: Mapping[str, Sequence[int]]) -> None:
    """Write names that have some rows each."""
    names = sorted(rows)
    arrays.add_strings(name, names)
    arrays.add(f"{name}.starts", np.array(list(accumulate((len(rows[each]) for each in names), initial=0))))
    arrays.add(f"{name}.rows", np.array([row for each in names for row in rows[each]], np.int64))


def read_rows(arrays: ArraySet, name: str) -> SortedNames[list[int]] | None:
    """Read what `write_rows` wrote; None where it did not, or where the next generation has removed it."""
    try:
        starts, rows = arrays.array(f"{name}.starts"), arrays.array(f"{name}.rows")
        return SortedNames(arrays.strings(name), lambda place: rows[starts[place] : starts[place + 1]].tolist())
    except FileNotFoundError:
        return None
