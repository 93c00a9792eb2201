"""Values of fields, which are texts in an index, and the literals they are compared with."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["number", "date", "text"]

#: In ASCII digits. The exponent is bounded, so that no number takes long to compare.
NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_NUMBER = re.compile(rf" *{NUMBER} *")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True)
class Value:
    """A literal of a filter: a number, or a text that may be a date."""

    kind: Kind
    text: str
    position: int = field(default=0, compare=False)
    """Where it begins in the filter, from 0."""

    @classmethod
    def of(cls, text: str, position: int) -> "Value":
        """Parse a text in quotes."""
        return cls("text" if _parse_date(text) is None else "date", text, position)

    def order(self, other: str) -> int | None:
        """Return whether a field's value is before (-1), equal to (0) or after (1) this one; None: not comparable."""
        match self.kind:
            case "number":
                return _order(_number(other), _number(self.text))
            case "date":
                return _order(_day_or_moment(other, self.text), _day_or_moment(self.text, self.text))
            case _:
                return _order(other, self.text)

    def is_equal(self, other: str) -> bool:
        """Return whether a field's value equals this one."""
        return other == self.text or self.order(other) == 0


def is_day(text: str) -> bool:
    """Return whether it is a date without a time."""
    return _DATE.fullmatch(text) is not None


def _order(one: Any, two: Any) -> int | None:
    """Compare two numbers or two texts; None where one is missing."""
    return None if one is None or two is None else (one > two) - (one < two)


def _number(text: str) -> Decimal | None:
    """Parse an exact number: as floats, two ids of nineteen digits could be equal that are not."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def _day_or_moment(text: str, precision: str) -> str | None:
    """Format a date as text that sorts, in UTC: as precise as the one it is compared with."""
    moment = _parse_date(text)
    if moment is None:
        return None
    return moment.date().isoformat() if is_day(precision) else moment.isoformat(timespec="microseconds")


def _parse_date(text: str) -> datetime | None:
    """Parse a date, with or without a time; without a time zone it is in UTC."""
    if not _DATE.match(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
