"""Names in a sorted column on disk, each with a number or with the rows of passages: looked up without being read as a
whole, so that the first question to a large index need not wait for dictionaries of millions of names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import numpy as np

from triplebeam.index.arrays.columns import StringColumn, mapped, write_strings

T = TypeVar("T")


@dataclass(frozen=True)
class SortedNames(Mapping[str, T]):
    """A mapping that can also tell how a name may go on."""

    names: StringColumn = field(repr=False)
    at: Callable[[int], T] = field(repr=False)
    """The value at a place."""

    def __getitem__(self, name: str) -> T:
        place = self.names.place_of(name)
        if place < len(self.names) and self.names[place] == name:
            return self.at(place)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def has_beginning(self, beginning: str) -> bool:
        """Does any name begin like this?"""
        place = self.names.place_of(beginning)
        return place < len(self.names) and self.names[place].startswith(beginning)


def write_numbers(path: Path, numbers: Mapping[str, int]) -> None:
    """Write names that have a number each."""
    names = sorted(numbers)
    write_strings(path, names)
    np.save(_beside(path, "numbers"), np.array([numbers[name] for name in names], np.int64))


def read_numbers(path: Path) -> SortedNames[int] | None:
    """What `write_numbers` wrote; None where it did not, or where the next generation has removed it."""
    try:
        return SortedNames(StringColumn(path), mapped(_beside(path, "numbers")).data.__getitem__)
    except FileNotFoundError:
        return None


def write_rows(path: Path, rows: Mapping[str, Sequence[int]]) -> None:
    """Write names that have some rows each."""
    names = sorted(rows)
    write_strings(path, names)
    np.save(_beside(path, "starts"), np.array(list(accumulate((len(rows[name]) for name in names), initial=0))))
    np.save(_beside(path, "rows"), np.array([row for name in names for row in rows[name]], np.int64))


def read_rows(path: Path) -> SortedNames[list[int]] | None:
    """What `write_rows` wrote; None where it did not, or where the next generation has removed it."""
    try:
        starts, rows = mapped(_beside(path, "starts")), mapped(_beside(path, "rows"))
        return SortedNames(StringColumn(path), lambda place: rows[starts[place] : starts[place + 1]].tolist())
    except FileNotFoundError:
        return None


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}.npy")
