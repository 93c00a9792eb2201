"""Dates as texts write them: 25 August 1963, August 25, 1963, 1963-08-25."""

from collections.abc import Sequence
from typing import NamedTuple

from triplebeam.support.page import Word

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = {name[:length]: n for n, name in enumerate(_MONTHS, 1) for length in (3, len(name))}
_ORDINALS = ("st", "nd", "rd", "th")
_LONGEST = 3


class Date(NamedTuple):
    """A date; a part that is not given is 0."""

    year: int
    month: int = 0
    day: int = 0

    def covers(self, other: "Date") -> bool:
        """Whether this date implies the other: a full date implies its year, not the other way round."""
        return all(theirs in (0, ours) for ours, theirs in zip(self, other, strict=True))


def read_date(words: Sequence[Word]) -> Date | None:
    """The date that these words are, and nothing else."""
    keys = [_plain(word.key) for word in words if word.key not in ("of", "the")]
    months = [n for n, key in enumerate(keys) if key in _MONTH]
    numbers = [int(key) for key in keys if key.isdecimal() and len(key) <= 4]
    if not 1 <= len(keys) <= _LONGEST or len(months) + len(numbers) != len(keys):
        return None
    years, small = [n for n in numbers if n > 31], [n for n in numbers if 0 < n <= 31]
    if months and len(months) == 1 and len(years) <= 1 and len(small) <= 1:
        return Date(years[0] if years else 0, _MONTH[keys[months[0]]], small[0] if small else 0)
    if not months and len(keys) == _LONGEST and numbers[0] > 31 and len(small) == 2 and small[0] <= 12:
        return Date(numbers[0], small[0], small[1])
    if not months and len(keys) == 1 and len(keys[0]) == 4:
        return Date(numbers[0])
    return None


def _plain(key: str) -> str:
    return key[:-2] if key[:-2].isdecimal() and key.endswith(_ORDINALS) else key
