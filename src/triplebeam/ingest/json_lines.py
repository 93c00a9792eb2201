"""JSON lines, plain or gzipped: one passage a line, as in a BEIR corpus."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import read_lines
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable

_FIELDS = frozenset(("id", "_id", "text", "title", "metadata"))
_JSON_WORDS: Mapping[type, str] = {list: "a list", tuple: "a list", dict: "an object"}


def read_json_lines(path: Path, name: str) -> Iterator[tuple[int, Document | str]]:
    """Give each line's number with its document, or with the reason why it is none. Blank lines are passed over.

    Fields: ``id`` or ``_id`` (without one, the id is ``name:line number``), ``text``, ``title``, ``metadata``.
    Other fields are metadata, too.
    """
    with _open(path) as file:
        try:
            for number, line in enumerate(read_lines(file, path.stat().st_size), start=1):
                if line.strip():
                    yield number, _parse(line, f"{name}:{number}")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise SourceError(f"the gzip file is damaged ({error}); what came before was read") from error


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _parse(line: bytes, default_id: str) -> Document | str:
    try:
        row = json.loads(line.decode("utf-8-sig"))
        return row_document(row, default_id)
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
    for name, value in chain(own.items(), inner.items() if isinstance(inner, dict) else ()):
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
    return {replace_unstorable(name): _value(value) for name, value in fields.items() if value is not None}


def _value(value: object) -> str:
    return replace_unstorable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
