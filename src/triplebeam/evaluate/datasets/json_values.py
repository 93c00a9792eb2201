"""JSON values one after another from a file of any size, plain or gzipped.

Published question files are JSON lines, one large array or one large object; the largest hold hundreds of megabytes, so
no more than about one value is held at a time.
"""

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from triplebeam.errors import BadInputError

_CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_BEHIND_NUMBER = re.compile(r"[ \t\r\n,\]}]")
_DECODER = json.JSONDecoder()


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """The file's text; what goes wrong while reading is told with the file's name."""
    try:
        with cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as data:
            yield io.TextIOWrapper(data, encoding="utf-8-sig", newline="")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BadInputError(f"{path} cannot be read: {reason}.") from error


def elements(path: Path) -> Iterator[tuple[int, object]]:
    """The values of JSON lines or of a JSON array, numbered from 1."""
    with open_text(path) as file:
        values = _Values(path, file)
        is_array = values.opens_with("[")
        number = 0
        while not values.ends_with("]" if is_array else ""):
            if is_array and number:
                values.expect(",", f"row {number + 1}")
            number += 1
            yield number, values.next(f"row {number}")


def members(path: Path) -> Iterator[tuple[str, object]]:
    """The members of a JSON object, in order."""
    with open_text(path) as file:
        values = _Values(path, file)
        if not values.opens_with("{"):
            raise BadInputError(f"{path} is not one JSON object: is it of the format you named?")
        place = "the beginning"
        while not values.ends_with("}"):
            if place != "the beginning":
                values.expect(",", place)
            name = str(values.next(f"what follows {place}"))
            place = f"the member {name!r}"
            values.expect(":", place)
            yield name, values.next(place)


def first_character(path: Path) -> str:
    """What the file's JSON opens with."""
    with open_text(path) as file:
        return _Values(path, file).peek()


class _Values:
    """A text read value by value."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self._path, self._file = path, file
        self._text, self._at = "", 0

    def opens_with(self, character: str) -> bool:
        """Take the opening bracket if it is this one. A file of nothing is refused."""
        if not self.peek():
            raise BadInputError(f"{self._path} is empty: nothing can be read from it.")
        return self.ends_with(character)

    def ends_with(self, character: str) -> bool:
        """Take the character, or the end of the text for "", if it is what follows."""
        follows = self.peek() == character
        self._at += follows and len(character)
        return follows

    def expect(self, character: str, place: str) -> None:
        """Take a character that must be there."""
        if not self.ends_with(character):
            raise BadInputError(f"{self._path}, {place} is not JSON: {character!r} is missing.")

    def peek(self) -> str:
        """The next character that is not white space; nothing at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._read_on():
                return self._text[self._at : self._at + 1]

    def next(self, place: str) -> object:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:  # cut at the end of what was read so far, or no JSON
                if not self._read_on():
                    raise BadInputError(f"{self._path}, {place} is not JSON: {error}.") from None
                continue
            # A number is whole when something follows that is no part of one: 1 may be the beginning of 1.5.
            is_whole = not isinstance(value, int | float) or _BEHIND_NUMBER.match(self._text, end)
            if is_whole or not self._read_on():
                self._at = end
                return cast(object, value)

    def _read_on(self) -> bool:
        """Read more, ever more at a time while one value grows. Was there more?"""
        chunk = self._file.read(max(_CHUNK, len(self._text) - self._at))
        if chunk:
            self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)
