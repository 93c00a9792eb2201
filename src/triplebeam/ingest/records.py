"""Rows and values: CSV, JSON, and lines of JSON.

A row of a table is a document of its own, whose fields can be filtered by; its text is ``name: value`` for each value,
so that a passage says what its values are. The objects of a JSON file are paragraphs. A line of JSON, as in a BEIR
corpus, is a passage.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import IO, Any, cast

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import read_lines
from triplebeam.ingest.content import Composer, Content
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable

_HEAD_CHARACTERS = 10_000
_DELIMITERS = ",;\t|"
_MAX_DEPTH = 40
#: A longer value is a text, not a field to filter by.
_MAX_FIELD_CHARACTERS = 200
_TITLES = ("title", "name")
_FIELDS = frozenset(("id", "_id", "text", "title", "metadata"))
_JSON_WORDS: Mapping[type, str] = {list: "a list", tuple: "a list", dict: "an object"}


def read_csv(source: str) -> Content:
    """Read a table whose first row names the columns: each other row is a document, titled by its title or name."""
    first = source[:_HEAD_CHARACTERS].split("\n", 1)[0]
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
            composer.line(f"{name}: {value}" if name else value)
    return _content(composer, fields)


def _content(composer: Composer, fields: Mapping[str, str]) -> Content:
    """Return the content with the title that is among the fields, and the short ones as metadata."""
    title = next((text for name, text in fields.items() if name.lower() in _TITLES), "")
    short = {name: text for name, text in fields.items() if len(text) < _MAX_FIELD_CHARACTERS and name != "title"}
    return composer.content(title, short)


def read_json(source: str) -> Content:
    """Read JSON: a line for each value, named by its path; the objects of a list are paragraphs.

    Plain values at the top are the document's metadata too.
    """
    try:
        value = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"it is not JSON ({error}); lines of JSON are read from files ending in .jsonl") from error
    composer = Composer()
    for path, text in _walk_values(value, ""):
        if text is None:
            composer.end_paragraph()
        else:
            composer.line(replace_unstorable(f"{path}: {text}" if path else text))
    fields = value if isinstance(value, dict) else {}
    plain = {
        replace_unstorable(name): replace_unstorable(str(text))
        for name, text in fields.items()
        if isinstance(text, str | int | float)
    }
    return _content(composer, plain)


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


def read_json_lines(path: Path, name: str) -> Iterator[tuple[int, Document | str]]:
    """Give each line's number with its document, or with the reason why it is none. Blank lines are passed over.

    Fields: ``id`` or ``_id`` (without one, the id is ``name:line number``), ``text``, ``title``, ``metadata``.
    Other fields are metadata, too.
    """
    is_zipped = path.suffix.lower() == ".gz"
    with cast(IO[bytes], gzip.open(path)) if is_zipped else path.open("rb") as file:
        try:
            for number, line in enumerate(read_lines(file, path.stat().st_size), start=1):
                if line.strip():
                    yield number, _parse(line, f"{name}:{number}")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise SourceError(f"the gzip file is damaged ({error}); what came before was read") from error


def _parse(line: bytes, default_id: str) -> Document | str:
    try:
        return row_document(json.loads(line.decode("utf-8-sig")), default_id)
    except UnicodeDecodeError as error:
        return f"byte {error.start} of the line is not UTF-8"
    except json.JSONDecodeError as error:
        return f"it is not JSON: {error.msg} at column {error.colno}"
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
        return f"its JSON cannot be read: {error}"
    except SourceError as error:
        return str(error)


def row_document(row: object, default_id: str) -> Document:
    """Return the passage that a row is, with its own id where it has one."""
    if not isinstance(row, dict):
        raise SourceError("it is not a JSON object")
    text = _string(row, "text")
    if not text.strip():
        raise SourceError('its "text" is missing or empty')
    return Document(
        id=_id(row) or default_id,
        text=text,
        title=_string(row, "title"),
        metadata=_metadata({name: value for name, value in row.items() if name not in _FIELDS})
        | _metadata(row.get("metadata")),
        is_passage=True,
    )


def check_plain_fields(row: object) -> None:
    """Raise SourceError where a field is a list or an object.

    In a file these are kept as JSON, which no filter such as ``tenant = "b"`` matches: whoever sends rows is told so.
    """
    if not isinstance(row, dict):
        raise SourceError("it is not a JSON object")
    inner = row.get("metadata")
    own = {name: value for name, value in row.items() if name not in _FIELDS}
    for name, value in (*own.items(), *(inner.items() if isinstance(inner, dict) else ())):
        if not isinstance(name, str):
            raise SourceError(f"the name of its field {name!r} is not a string")
        if value is not None and not isinstance(value, str | int | float):
            kind = _JSON_WORDS.get(type(value), type(value).__name__)
            raise SourceError(f"its field {name[:80]!r} is {kind}: send a string, a number, true or false")


def _string(row: Mapping[str, Any], field: str) -> str:
    value = row.get(field)
    if value is not None and not isinstance(value, str):
        raise SourceError(f'its "{field}" is not a string')
    return replace_unstorable(value or "")


def _id(row: Mapping[str, Any]) -> str:
    value = row["id"] if row.get("id") is not None else row.get("_id")
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise SourceError("its id is neither a string nor an integer")
    return "" if value is None else replace_unstorable(str(value))


def _metadata(fields: object) -> dict[str, str]:
    """Convert values to strings: a string as it is, anything else as JSON writes it; null is left out."""
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise SourceError('its "metadata" is not a JSON object')
    as_json = json.JSONEncoder(ensure_ascii=False).encode
    return {
        replace_unstorable(name): replace_unstorable(value if isinstance(value, str) else as_json(value))
        for name, value in fields.items()
        if value is not None
    }
