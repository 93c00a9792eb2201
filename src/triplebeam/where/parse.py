"""Reading a filter. A mistake is one sentence that says where it is."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

from triplebeam.errors import BadInputError
from triplebeam.where.conditions import (
    NUMBER,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Fields,
    Not,
    Operator,
    Value,
    is_day,
)

T = TypeVar("T")
MAX_CHARACTERS = 2000
_MAX_CHARACTERS_SHOWN = 80
_MAX_DEPTH = 50
_TOKEN = re.compile(
    rf"""(?P<text>'[^']*'|"[^"]*")|(?P<number>{NUMBER}(?![\w.]))"""
    r"""|(?P<name>`[^`]+`|[^\W\d][\w.-]*)|(?P<sign><=|>=|!=|=|<|>|\(|\)|,)"""
)
_SPACE = re.compile(r"\s*")
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_WORDS = frozenset(("and", "or", "not", "in", "contains", "exists", "true", "false"))
_VALUE = 'a value was expected, such as 2020, "a text" or "2020-01-31"'
_OPERATOR = "=, !=, <, <=, >, >=, in (…), not in (…), contains or exists was expected after the field"


@dataclass(frozen=True)
class Where:
    """A filter. Two are equal where their conditions are, however they are written."""

    text: str = field(compare=False)
    condition: Condition

    def __str__(self) -> str:
        """Return the filter as it was written."""
        return self.text

    def matches(self, fields: Fields) -> bool:
        """Return whether it matches a passage with these fields."""
        return self.condition.matches(fields)

    def check(self, known: Mapping[str, Collection[str]]) -> None:
        """Raise where it names a field that is not known, or compares one with what it never is.

        ``known`` are the fields that passages have, with their values.
        """
        for comparison in self.condition.comparisons():
            comparison.check(known)

    def find_case_mismatches(self, known: Mapping[str, Collection[str]]) -> list[str]:
        """Find known values that differ from those of the filter in upper and lower case only."""
        comparisons = [each for each in self.condition.comparisons() if each.operator in ("=", "in")]
        texts = {(each.name, value.text.casefold()): value.text for each in comparisons for value in each.values}
        return [
            value
            for name in known
            for value in sorted(known[name])
            if texts.get((name, value.casefold()), value) != value
        ]


def parse(text: "str | Where") -> Where:
    """Read a filter."""
    if isinstance(text, Where):
        return text
    if not isinstance(text, str):
        shown = f"{type(text).__name__} {str(text)[:_MAX_CHARACTERS_SHOWN]}"
        raise BadInputError(f'where must be a filter written as text, got the {shown}: write where="year = 1781".')
    if not text.strip():
        raise BadInputError("the filter is empty: leave it out, or write one, such as 'year >= 2020'.")
    if len(text) > MAX_CHARACTERS:
        raise BadInputError(
            f"the filter must have at most {MAX_CHARACTERS:,} characters, got {len(text):,}: shorten it."
        )
    return Where(text, _Reader(text).read())


class _Token(NamedTuple):
    kind: str
    text: str
    position: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "name" and self.text.lower() in words


class _Reader:
    """Goes through the tokens once, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*self._split(), _Token("end", "", len(text))]
        self._place = 0
        self._depth = 0

    def read(self) -> Condition:
        condition = self._parse_any()
        if self._next.kind != "end":
            raise self._make_error("`and`, `or` or the end was expected")
        return condition

    def _split(self) -> Iterator[_Token]:
        position = _SPACE.match(self._text).end()  # type: ignore[union-attr]  # it matches nothing, too
        while position < len(self._text):
            match = _TOKEN.match(self._text, position)
            if match is None:
                quote = self._text[position] in "'\"`"
                raise self._make_error(
                    "the closing quote is missing" if quote else "no name, value or operator begins like this", position
                )
            yield _Token(cast(str, match.lastgroup), match[0], position)
            position = _SPACE.match(self._text, match.end()).end()  # type: ignore[union-attr]

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _take(self) -> _Token:
        self._place += 1
        return self._tokens[self._place - 1]

    def _accept(self, *words: str) -> bool:
        """Take the next token if it is one of these."""
        found = self._next.is_word(*words) or (self._next.kind == "sign" and self._next.text in words)
        self._place += found
        return found

    def _parse_any(self) -> Condition:
        parts = self._parse_list(self._parse_all, "or")
        return parts[0] if len(parts) == 1 else AnyOf(parts)

    def _parse_all(self) -> Condition:
        parts = self._parse_list(self._parse_one, "and")
        return parts[0] if len(parts) == 1 else AllOf(parts)

    def _parse_list(self, parse_part: Callable[[], T], separator: str) -> tuple[T, ...]:
        parts = [parse_part()]
        while self._accept(separator):
            parts.append(parse_part())
        return tuple(parts)

    def _parse_one(self) -> Condition:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._make_error("there are too many brackets")
        if self._accept("not"):
            condition: Condition = Not(self._parse_one())
        elif self._accept("("):
            condition = self._parse_any()
            self._expect(")", "a closing bracket was expected")
        else:
            condition = self._comparison()
        self._depth -= 1
        return condition

    def _comparison(self) -> Comparison:
        token = self._next
        if token.kind != "name" or token.is_word(*_WORDS):
            raise self._make_error(
                "the name of a field was expected; one that is no plain word goes between backquotes"
            )
        self._take()
        name, position = token.text.strip("`"), token.position
        if self._accept("exists"):
            return Comparison(name, "exists", position=position)
        if self._accept("contains"):
            return Comparison(name, "contains", (self._value(),), position)
        if self._next.kind == "sign" and self._next.text in _COMPARISONS:
            return Comparison(name, cast(Operator, self._take().text), (self._value(),), position)
        if self._accept("not"):
            self._expect("in", "`in` was expected after `not`")
            return Comparison(name, "not in", self._values(), position)
        self._expect("in", _OPERATOR)
        return Comparison(name, "in", self._values(), position)

    def _values(self) -> tuple[Value, ...]:
        self._expect("(", "an opening bracket was expected after `in`")
        values = self._parse_list(self._value, ",")
        self._expect(")", "a comma or a closing bracket was expected")
        return values

    def _value(self) -> Value:
        token = self._next
        if token.kind == "text":
            self._take()
            return Value.of(token.text[1:-1], token.position)
        if token.kind == "number" or token.is_word("true", "false"):
            self._take()
            return Value("number" if token.kind == "number" else "text", token.text, token.position)
        if token.kind == "name":
            raise self._make_error(f"a text must be in quotes: write '{token.text}'")
        if token.text == "=" == self._tokens[self._place - 1].text:
            raise self._make_error("write a single `=`")
        raise self._make_error(_VALUE)

    def _expect(self, word: str, otherwise: str) -> None:
        if not self._accept(word):
            raise self._make_error(otherwise)

    def _make_error(self, what: str, position: int | None = None) -> BadInputError:
        place = self._next.position if position is None else position
        rest = self._text[place:]
        at = f", at {rest[:20]!r}" if rest else ", its end"
        return BadInputError(f"the filter {self._text!r} cannot be read at character {place + 1}{at}: {what}.")


def warn_of_other_spellings(where: Where) -> list[str]:
    """Write a sentence for each number and date that a field must equal: what else matches it, and what to do.

    Whoever binds a key to a filter is told, since such a value may be the name of a tenant.
    """
    found = [
        (comparison.name, value)
        for comparison in where.condition.comparisons()
        if comparison.operator in ("=", "in")
        for value in comparison.values
        if value.kind != "text"
    ]
    return [_describe_matches(name, value) for name, value in dict.fromkeys(found)]


def _describe_matches(name: str, value: Value) -> str:
    text = value.text
    if value.kind == "number":
        digits = text.lstrip("+-")
        return (
            f"{name} = {text} also matches other spellings of the number, such as"
            f' {text.replace(digits, f"0{digits}")!r}: write {name} = "{text}" to compare letter by letter.'
        )
    others = f"every time of that day, such as '{text}T12:00'" if is_day(text) else "that moment in every time zone"
    return (
        f'{name} = "{text}" also matches {others}: dates are never compared letter by letter, so give the documents'
        f' values that are no dates, such as "d{text}".'
    )
