"""What Python gives to `Index.add`: paths, rows, texts and documents."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from triplebeam.errors import BadInputError, SourceError
from triplebeam.ingest import Reading, check_plain_fields, read_sources, row_document, scan_sources
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable

#: A path to read, a row with "text" (and "id", "title", whatever else), a text, or a document.
Given: TypeAlias = Path | Mapping[str, Any] | str | Document

_NUMBERED = re.compile(r"text-([0-9]+)")


def read_given(
    listed: list[Given],
    known: Iterable[str],
    encoding: str | None = None,
    name: Callable[[Path], str] | None = None,
    *,
    follow_links: bool = False,
) -> Iterable[Reading]:
    """What is given, as documents. Rows and texts are all checked before anything is written.

    Texts and rows without an id are numbered: text-1, text-2 and so on, above those that are ``known`` already. Files
    are called what ``name`` returns.
    """
    paths = [each for each in listed if isinstance(each, Path)]
    for line in scan_sources(paths, follow_links=follow_links).describe_skipped():
        logging.getLogger("triplebeam").info("skipped: %s", line)
    read_paths = partial(read_sources, encoding=encoding, name=name, follow_links=follow_links)
    if len(paths) == len(listed):
        return read_paths(paths)
    numbers = _free_numbers(known)
    read = [
        reading
        for place, each in enumerate(listed, 1)
        for reading in (read_paths([each]) if isinstance(each, Path) else _read(each, place, numbers))
    ]
    _check_ids(read)
    return read


def as_list(given: str | Given | Iterable[Given]) -> list[Given]:
    """A string by itself is a path; in a list it is a text."""
    if isinstance(given, str):
        return [_path(given)]
    return [given] if isinstance(given, Path | Document | Mapping) else list(given)


def _read(given: object, place: int, numbers: Iterator[str]) -> Iterable[Reading]:
    match given:
        case Document():
            _check_document(given, place)
            return [given]
        case str():
            return [_text(given, place, numbers)]
        case Mapping():
            return [_row(given, place, numbers)]
        case _:
            raise BadInputError(
                f'item {place} is {type(given).__name__}: give paths, rows with a "text", texts, or Documents.'
            )


def _path(text: str) -> Path:
    path = Path(text)
    if not os.path.exists(path) and any(character.isspace() for character in text):  # noqa: PTH110
        raise BadInputError(
            f"there is no file or folder {text[:80]!r}: check the path; if it is a text, put it into a list."
        )
    return path


def _text(text: str, place: int, numbers: Iterator[str]) -> Document:
    if not text.strip():
        raise BadInputError(f"item {place} is an empty text: leave it out.")
    if "\n" not in text and os.path.exists(text):  # noqa: PTH110 (unlike Path.exists, False for what is too long)
        raise BadInputError(
            f"item {place} is {text!r}, a file or folder that exists: write Path({text!r}) to read it, or"
            " Document(id=…, text=…) for those very words."
        )
    return Document(id=next(numbers), text=replace_unstorable(text))


def _row(row: Mapping[str, Any], place: int, numbers: Iterator[str]) -> Document:
    has_id = any(row.get(name) not in (None, "") for name in ("id", "_id"))
    try:
        check_plain_fields(dict(row))
        return row_document(dict(row), "" if has_id else next(numbers))
    except (SourceError, TypeError) as error:
        raise BadInputError(f"row {place} cannot be indexed: {error}.") from error


def _check_document(document: Document, place: int) -> None:
    """Refuse values of another type: they would be stored, and break every later change of the index."""
    fields: object = document.metadata
    if not isinstance(fields, Mapping):
        raise BadInputError(
            f"document {place} cannot be indexed: its metadata is {type(fields).__name__}: give a dict."
        )
    strings: dict[object, object] = {"id": document.id, "text": document.text, "title": document.title}
    for name, value in chain(strings.items(), fields.items()):
        if not (isinstance(name, str) and isinstance(value, str)):
            raise BadInputError(
                f"document {place} cannot be indexed: its {name!r} is {type(value).__name__}: give a string, or a row"
                " (a dict), whose numbers are made strings."
            )


def _free_numbers(known: Iterable[str]) -> Iterator[str]:
    taken = [int(match[1]) for match in map(_NUMBERED.fullmatch, known) if match]
    number = max(taken, default=0)
    while True:
        number += 1
        yield f"text-{number}"


def _check_ids(read: Iterable[Reading]) -> None:
    seen: set[str] = set()
    for each in read:
        if isinstance(each, Document):
            if each.id in seen:
                raise BadInputError(f"two documents have the id {each.id!r}: give each its own.")
            seen.add(each.id)
