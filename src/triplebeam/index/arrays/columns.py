"""A column of strings: UTF-8, one string behind the other, and the offset of each.

Opening costs nothing however long the column is: a string is decoded when it is read.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray


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
