"""CSV and JSON: ``name: value`` for each value, so that a passage says what its values are.

A row of a table is a document of its own, whose fields can be filtered by; the objects of a JSON file are paragraphs.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from triplebeam.errors import SourceError
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.text import Content
from triplebeam.text.characters import replace_unstorable

_HEAD_CHARACTERS = 10_000
_DELIMITERS = ",;\t|"
_MAX_DEPTH = 40
#: A longer value is a text, not a field to filter by.
_MAX_FIELD_CHARACTERS = 200
_TITLES = ("title", "name")


def read_csv(source: str) -> Content:
    """Read a table whose first row names the columns: each other row is a document, titled by its title or name."""
    head = source[:_HEAD_CHARACTERS]
    first = head.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = csv.reader(StringIO(source), delimiter=delimiter)
        names = [name.strip() for name in next(rows, [])]
        parts = tuple(_row(names, row) for row in rows)
    except csv.Error as error:
        raise SourceError(f"the table cannot be read ({error})") from error
    return Content("", parts=parts) if any(part.text for part in parts) else Content(source)


def _row(names: Sequence[str], row: Sequence[str]) -> Content:
    values = [(name, " ".join(value.split())) for name, value in zip(names, row, strict=False)]
    fields = {name: value for name, value in values if name and value}
    composer = Composer()
    for name, value in values:
        if value:
            composer.end_line()
            composer.words(f"{name}: {value}" if name else value)
    return composer.content(_title_of(fields), _select_short_fields(fields))


def _title_of(fields: Mapping[str, str]) -> str:
    return next((text for name, text in fields.items() if name.lower() in _TITLES), "")


def _select_short_fields(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in fields.items() if len(text) < _MAX_FIELD_CHARACTERS and name != "title"}


def read_json(source: str) -> Content:
    """Read JSON: a line for each value, named by its path; the objects of a list are paragraphs.

    Plain values at the top are the document's metadata too.
    """
    try:
        value = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"it is not JSON ({error}); lines of JSON are read from files ending in .jsonl") from error
    composer = Composer()
    _write(value, composer)
    fields = value if isinstance(value, dict) else {}
    plain = {
        replace_unstorable(name): replace_unstorable(str(text))
        for name, text in fields.items()
        if isinstance(text, str | int | float)
    }
    return composer.content(_title_of(plain), _select_short_fields(plain))


def _write(value: object, composer: Composer) -> None:
    for path, text in _walk_values(value, ""):
        if text is None:
            composer.end_paragraph()
        else:
            composer.end_line()
            composer.words(replace_unstorable(f"{path}: {text}" if path else text))


def _walk_values(value: object, path: str, depth: int = 0) -> Iterator[tuple[str, str | None]]:
    """Yield every value with its path; nothing where a paragraph ends."""
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for name, inner in value.items():
            yield from _walk_values(inner, f"{path}.{name}" if path else str(name), depth + 1)
        yield path, None
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        for inner in value:
            yield from _walk_values(inner, path, depth + 1)
    elif value is not None and value != "":
        yield path, value if isinstance(value, str) else json.dumps(value)
