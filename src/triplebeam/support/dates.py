"""Dates as texts write them: 25 August 1963, August 25, 1963, 1963-08-25."""

from calendar import month_name
from collections.abc import Sequence
from typing import NamedTuple

from triplebeam.support.page import Word

_MONTH = {name[:length].casefold(): n for n, name in enumerate(month_name) if n for length in (3, len(name))}
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
    months = [_MONTH[key] for key in keys if key in _MONTH]
    numbers = [int(key) for key in keys if key.isdecimal() and len(key) <= 4]
    if not 1 <= len(keys) <= _LONGEST or len(months) + len(numbers) != len(keys):
        return None
    years, days = [n for n in numbers if n > 31], [n for n in numbers if 0 < n <= 31]
    if not months and len(days) == 2 and numbers[0] > 31 and days[0] <= 12:
        months, days = days[:1], days[1:]
    if len(years) > 1 or len(months) > 1 or len(days) > 1 or (not months and (days or len(keys[0]) != 4)):
        return None
    return Date(*(part[0] if part else 0 for part in (years, months, days)))


def _plain(key: str) -> str:
    return key[:-2] if key[:-2].isdecimal() and key.endswith(_ORDINALS) else key
