"""Rows of published files, each of which knows its place: a missing field is reported with file, row and name.

Files are JSON lines, one large array or one large object, plain or gzipped; the largest hold hundreds of megabytes, so
about one value is held at a time.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import ijson

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import open_text
from triplebeam.text.characters import replace_unstorable


def elements(path: Path) -> Iterator[tuple[int, object]]:
    """Yield the values of JSON lines or of a JSON array, numbered from 1."""
    opening = read_first_character(path)
    if not opening:
        raise BadInputError(f"{path} is empty: there is nothing to read.")
    number = 0
    with open_text(path) as file, _explain_errors(path, lambda: f"row {number + 1}"):
        lines = (json.loads(line) for line in file if line.strip())
        values = ijson.items(_Bytes(file), "item", use_float=True) if opening == "[" else lines
        for number, value in enumerate(values, start=1):
            yield number, value


def members(path: Path) -> Iterator[tuple[str, object]]:
    """Yield the members of a JSON object, in order."""
    if read_first_character(path) != "{":
        raise BadInputError(f"{path} is not one JSON object: is it of the format you named?")
    last = "the beginning"
    with open_text(path) as file, _explain_errors(path, lambda: f"what follows {last}"):
        for name, value in ijson.kvitems(_Bytes(file), "", use_float=True):
            last = f"the member {name!r}"
            yield name, value


def read_first_character(path: Path) -> str:
    """Read what the file's JSON opens with; nothing where it is empty."""
    with open_text(path) as file:
        while (character := file.read(1)).isspace():
            pass
        return character


class _Bytes:
    """A text as the bytes that ijson reads: without the mark at its beginning, and checked to be UTF-8."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        return self._file.read(size).encode()


@contextmanager
def _explain_errors(path: Path, place: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInputError(f"{path}, {place()} is not JSON: {error}.") from None
    except ijson.JSONError as error:
        reason = str(error).splitlines()[0].partition("error: ")[2] or "it ends too early"
        raise BadInputError(f"{path}, {place()} is not JSON: {reason.rstrip('.')}.") from None


@dataclass(frozen=True, slots=True)
class Row:
    """The fields of a JSON object. Where several names are given, the first one that is there counts."""

    place: str
    fields: Mapping[str, object]

    def make_error(self, what: str) -> BadInputError:
        """Return the error for a row that is not what the format says."""
        return BadInputError(f"{self.place} {what}: is the file of the format you named?")

    def has(self, *names: str) -> bool:
        """Return whether one of these is there, and not null."""
        return any(self.fields.get(name) is not None for name in names)

    def text(self, *names: str) -> str:
        """Return a string that must be there, and not be blank."""
        value = self.text_or_empty(*names)
        if not value:
            raise self.make_error(f"has no {' or '.join(map(repr, names))}")
        return value

    def text_or_empty(self, *names: str) -> str:
        """Return a string that may be missing, and is empty then. Numbers are read as strings."""
        name, value = self._find_first(names, "")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.make_error(f"has a {name!r} that is not a text")
        return replace_unstorable(str(value)).strip()

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return a list of strings, or one string alone; may be missing."""
        name, value = self._find_first(names, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str | int | float) for each in values):
            raise self.make_error(f"has a {name!r} that is not a list of texts")
        return tuple(text for each in values if (text := replace_unstorable(str(each)).strip()))

    def items(self, *names: str) -> Sequence[object]:
        """Return a list that must be there."""
        name, value = self._find_first(names, None)
        if value is None:
            raise self.make_error(f"has no {' or '.join(map(repr, names))}")
        if not isinstance(value, list):
            raise self.make_error(f"has a {name!r} that is not a list")
        return value

    def row(self, name: str) -> "Row":
        """Return a JSON object that must be there."""
        value = self.fields.get(name)
        if not isinstance(value, dict):
            raise self.make_error(f"has no {name!r}, a JSON object")
        return Row(f"{self.place}, {name}", value)

    def rows(self, *names: str) -> list["Row"]:
        """Return a list of JSON objects that must be there."""
        name, _ = self._find_first(names, None)
        return [_row(f"{self.place}, {name} {n}", item) for n, item in enumerate(self.items(*names), start=1)]

    def _find_first(self, names: Sequence[str], default: object) -> tuple[str, object]:
        for name in names:
            if (value := self.fields.get(name)) is not None:
                return name, value
        return names[0], default


def read_rows(path: Path) -> Iterator[Row]:
    """Read the rows of JSON lines or of a JSON array, plain or gzipped."""
    for number, value in elements(path):
        yield _row(f"{path}, row {number}", value)


def _row(place: str, value: object) -> Row:
    if not isinstance(value, dict):
        raise BadInputError(f"{place} is not a JSON object: is the file of the format you named?")
    return Row(place, value)
