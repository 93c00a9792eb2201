"""JSON values one after another from a file of any size, plain or gzipped.

Published question files are JSON lines, one large array or one large object; the largest hold hundreds of megabytes, so
about one value is held at a time.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import ijson

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import open_text


def elements(path: Path) -> Iterator[tuple[int, object]]:
    """Yield the values of JSON lines or of a JSON array, numbered from 1."""
    opening = read_first_character(path)
    if not opening:
        raise BadInputError(f"{path} is empty: there is nothing to read.")
    number = 0
    with open_text(path) as file, _explain_errors(path, lambda: f"row {number + 1}"):
        values = ijson.items(_Bytes(file), "item", use_float=True) if opening == "[" else _lines(file)
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


def _lines(file: TextIO) -> Iterator[object]:
    return (json.loads(line) for line in file if line.strip())


@contextmanager
def _explain_errors(path: Path, place: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInputError(f"{path}, {place()} is not JSON: {error}.") from None
    except ijson.JSONError as error:
        reason = str(error).splitlines()[0].partition("error: ")[2] or "it ends too early"
        raise BadInputError(f"{path}, {place()} is not JSON: {reason.rstrip('.')}.") from None
