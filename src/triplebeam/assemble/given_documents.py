"""What Python adds to an index: paths, texts, rows and documents."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from triplebeam.errors import BadInputError, SourceError
from triplebeam.ingest import Reading, check_plain_fields, read_sources, row_document, scan_sources
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable

_NUMBERED = re.compile(r"text-([0-9]+)")


def list_paths(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return paths as a list; one that is a text by mistake is an error."""
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    for each in listed:
        if not isinstance(each, str | Path):
            raise BadInputError(f"a path is {type(each).__name__}: add_documents takes documents and rows.")
        if any(map(str.isspace, str(each))) and not os.path.exists(each):  # noqa: PTH110 (False for what is too long)
            raise BadInputError(
                f"there is no file or folder {str(each)[:80]!r}: check the path; add_texts takes texts."
            )
    return [Path(each) for each in listed]


def read_paths(
    paths: Sequence[Path], encoding: str | None, name: Callable[[Path], str], *, follow_links: bool
) -> Iterable[Reading]:
    """Read files and folders; files are called what ``name`` returns."""
    for line in scan_sources(paths, follow_links=follow_links).describe_skipped():
        logging.getLogger("triplebeam").info("skipped: %s", line)
    return read_sources(paths, encoding=encoding, name=name, follow_links=follow_links)


def read_texts(texts: str | Iterable[str], known: Iterable[str]) -> list[Document]:
    """Make documents of texts, numbered text-1, text-2 and so on, above those that are ``known`` already."""
    numbers, documents = _free_numbers(known), []
    for place, text in enumerate([texts] if isinstance(texts, str) else texts, 1):
        if not isinstance(text, str):
            raise BadInputError(f"text {place} is {type(text).__name__}: add takes paths, add_documents rows.")
        if not text.strip():
            raise BadInputError(f"text {place} is empty: leave it out.")
        documents.append(Document(id=next(numbers), text=replace_unstorable(text)))
    return documents


def read_documents(
    given: Document | Mapping[str, object] | Iterable[Document | Mapping[str, object]], known: Iterable[str]
) -> list[Document]:
    """Check documents and rows, all before anything is written; rows without an id are numbered as texts are."""
    numbers, documents = _free_numbers(known), []
    for place, each in enumerate([given] if isinstance(given, Document | Mapping) else given, 1):
        if isinstance(each, Document):
            _check_document(each, place)
            documents.append(each)
        elif isinstance(each, Mapping):
            documents.append(_row(each, place, numbers))
        else:
            raise BadInputError(
                f'item {place} is {type(each).__name__}: give rows with a "text", or Documents; add takes paths, and'
                " add_texts texts."
            )
    _check_ids(documents)
    return documents


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


def _check_ids(documents: Iterable[Document]) -> None:
    seen: set[str] = set()
    for each in documents:
        if each.id in seen:
            raise BadInputError(f"two documents have the id {each.id!r}: give each its own.")
        seen.add(each.id)
