"""Names in a sorted column, each with a number or with the rows of passages: looked up without being read as a
whole, so that the first question to a large index need not wait for dictionaries of millions of names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

import numpy as np

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.columns import StringColumn

T = TypeVar("T")


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
