"""Conditions on the fields of a passage."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from triplebeam.errors import BadInputError, nearest
from triplebeam.where.values import Kind, Value

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "exists"]
Fields: TypeAlias = Mapping[str, str]
_MAX_FIELDS_SHOWN = 20
_MAX_CHARACTERS_SHOWN = 40
_KINDS: Mapping[Kind, str] = {"number": "a number", "date": "a date"}


class Condition(Protocol):
    """Something that holds for a passage or does not."""

    def matches(self, fields: Fields) -> bool:
        """Return whether it matches a passage with these fields."""
        ...

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield every comparison of a field in it."""
        ...


@dataclass(frozen=True)
class AllOf:
    """Every one of these holds."""

    parts: tuple[Condition, ...]

    def matches(self, fields: Fields) -> bool:
        """Return whether all parts match."""
        return all(part.matches(fields) for part in self.parts)

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield every comparison of a field in it."""
        return (comparison for part in self.parts for comparison in part.comparisons())


@dataclass(frozen=True)
class AnyOf:
    """At least one of these holds."""

    parts: tuple[Condition, ...]

    def matches(self, fields: Fields) -> bool:
        """Return whether any part matches."""
        return any(part.matches(fields) for part in self.parts)

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield every comparison of a field in it."""
        return (comparison for part in self.parts for comparison in part.comparisons())


@dataclass(frozen=True)
class Not:
    """This one does not hold."""

    part: Condition

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
