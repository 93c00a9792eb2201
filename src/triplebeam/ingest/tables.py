"""CSV and JSON: each row or object is a paragraph of ``name: value``, so that a passage says what its values are."""

import csv
import json
from collections.abc import Iterator
from io import StringIO

from triplebeam.errors import SourceError
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.text import Content
from triplebeam.text import storable

_LOOKED_AT = 10_000
_DELIMITERS = ",;\t|"
_MOST_DEPTH = 40


def csv_content(source: str) -> Content:
    """Read a table whose first row names the columns."""
    head = source[:_LOOKED_AT]
    first = head.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    composer = Composer()
    try:
        rows = csv.reader(StringIO(source), delimiter=delimiter)
        names = [name.strip() for name in next(rows, [])]
        for row in rows:
            composer.end_paragraph()
            for name, value in zip(names, row, strict=False):
                if value.strip():
                    composer.end_line()
                    composer.words(f"{name}: {value}" if name else value)
    except csv.Error as error:
        raise SourceError(f"the table cannot be read ({error})") from error
    content = composer.content()
    return content if content.text else Content(source)


def json_content(source: str) -> Content:
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
        storable(name): storable(str(text)) for name, text in fields.items() if isinstance(text, str | int | float)
    }
    title = next((text for name, text in plain.items() if name.lower() in ("title", "name")), "")
    return composer.content(title, {name: text for name, text in plain.items() if len(text) < 200 and name != "title"})


def _write(value: object, composer: Composer) -> None:
    for path, text in _leaves(value, ""):
        if text is None:
            composer.end_paragraph()
        else:
            composer.end_line()
            composer.words(storable(f"{path}: {text}" if path else text))


def _leaves(value: object, path: str, depth: int = 0) -> Iterator[tuple[str, str | None]]:
    """Every value with its path; nothing where a paragraph ends."""
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth + 1)
        yield path, None
    elif isinstance(value, list) and depth < _MOST_DEPTH:
        for inner in value:
            yield from _leaves(inner, path, depth + 1)
    elif value is not None and value != "":
        yield path, value if isinstance(value, str) else json.dumps(value)
