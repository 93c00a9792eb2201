"""Conditions on the fields of a passage, whose values are texts in an index, and the literals they compare with."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from triplebeam.errors import BadInputError, nearest

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "exists"]
Fields: TypeAlias = Mapping[str, str]
Kind: TypeAlias = Literal["number", "date", "text"]
#: In ASCII digits. The exponent is bounded, so that no number takes long to compare.
NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_NUMBER = re.compile(rf" *{NUMBER} *")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MAX_FIELDS_SHOWN = 20
_MAX_CHARACTERS_SHOWN = 40
_KINDS: Mapping[Kind, str] = {"number": "a number", "date": "a date"}


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


@dataclass(frozen=True)
class _Combination:
    parts: "tuple[Condition, ...]"

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield every comparison of a field in it."""
        return (comparison for part in self.parts for comparison in part.comparisons())


class AllOf(_Combination):
    """Every one of these holds."""

    def matches(self, fields: Fields) -> bool:
        """Return whether all parts match."""
        return all(part.matches(fields) for part in self.parts)


class AnyOf(_Combination):
    """At least one of these holds."""

    def matches(self, fields: Fields) -> bool:
        """Return whether any part matches."""
        return any(part.matches(fields) for part in self.parts)


@dataclass(frozen=True)
class Not:
    """This one does not hold."""

    part: "Condition"

    def matches(self, fields: Fields) -> bool:
        """Return whether the part does not match."""
        return not self.part.matches(fields)

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield every comparison of a field in it."""
        return self.part.comparisons()


@dataclass(frozen=True)
class Comparison:
    """A field compared with values; it never holds where the passage has no such field."""

    name: str
    operator: Operator
    values: tuple[Value, ...] = ()
    position: int = field(default=0, compare=False)
    """Where the name begins in the filter, from 0."""

    def matches(self, fields: Fields) -> bool:
        """Return whether the field has such a value."""
        value = fields.get(self.name)
        return value is not None and self._matches(value)

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield itself."""
        yield self

    def check(self, known: Mapping[str, Collection[str]]) -> None:
        """Raise where no passage has the field, or none has a value of the kind it is compared with."""
        if self.name not in known:
            names = sorted(known)
            there = ", ".join(names[:_MAX_FIELDS_SHOWN]) + (", …" if len(names) > _MAX_FIELDS_SHOWN else "")
            raise BadInputError(
                f"no passage has the field {self.name!r}{nearest(self.name, names)}, at character {self.position + 1}"
                f" of the filter: there are {there or 'none'}."
            )
        for value in self.values if self.operator != "contains" else ():
            if value.kind != "text" and not any(value.order(each) is not None for each in known[self.name]):
                example = min(known[self.name])[:_MAX_CHARACTERS_SHOWN]
                raise BadInputError(
                    f"{value.text!r} (character {value.position + 1} of the filter) is {_KINDS[value.kind]}, and no"
                    f" value of the field {self.name!r} is one: compare it with a text in quotes, such as {example!r}."
                )

    def _matches(self, value: str) -> bool:
        if self.operator == "exists":
            return True
        if self.operator == "contains":
            return self.values[0].text.casefold() in value.casefold()
        if self.operator in ("=", "in"):
            return any(each.is_equal(value) for each in self.values)
        if self.operator in ("!=", "not in"):
            return not any(each.is_equal(value) for each in self.values)
        order = self.values[0].order(value)
        wanted = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}[self.operator]
        return order in wanted


#: Something that holds for a passage or does not.
Condition: TypeAlias = AllOf | AnyOf | Not | Comparison


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
