"""Uploaded files and texts: checked on arrival, kept in the job's folder, and read when the job runs."""

import codecs
import json
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from triplebeam.errors import SourceError
from triplebeam.ingest import ENDINGS, Reading, check_plain_fields, read_sources, row_document
from triplebeam.ingest.archive import check_gzip, check_zip
from triplebeam.ingest.sources import ZIPPED, find_ending
from triplebeam.passage import Document
from triplebeam.serve.http.errors import HTTPProblem

_FILES, _TEXTS = "files", "texts.json"
_MAX_NAME_CHARACTERS = 200
_MAX_TITLE_CHARACTERS = 1000
_HEAD_BYTES = 8192
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: What the field of a document may be.
PlainValue: TypeAlias = str | int | float | bool | None


class NewDocument(BaseModel):
    """A text with its name, as the schema shows it. Every other field is metadata, too; null is left out."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PlainValue]
    id: str | int | None = Field(None, max_length=_MAX_NAME_CHARACTERS)
    title: str | None = Field("", max_length=_MAX_TITLE_CHARACTERS)
    text: str = Field(min_length=1)
    metadata: dict[str, PlainValue] | None = None
    """Fields for filters."""


def clean_name(name: str) -> str:
    """Return a document's name: the last part of a file's name, without unprintable characters."""
    parts = unicodedata.normalize("NFC", name).replace("\\", "/").split("/")
    cleaned = "".join(letter for letter in parts[-1] if letter.isprintable()).strip()
    if ".." in parts or not cleaned.strip(".") or cleaned.startswith("."):
        raise HTTPProblem(400, "bad_file_name", f"{name[:80]!r} cannot be a document's name: send a plain file name.")
    if len(cleaned.encode()) > _MAX_NAME_CHARACTERS:
        raise HTTPProblem(
            400,
            "bad_file_name",
            f"the file name {name[:40]!r}… has more than {_MAX_NAME_CHARACTERS} bytes: shorten it.",
        )
    return cleaned


def keep_files(files: Sequence[tuple[str, IO[bytes]]], folder: Path) -> list[str]:
    """Write files into a job's folder, each under its cleaned name; the names."""
    names = [clean_name(name) for name, _ in files]
    for name in names:
        if find_ending(Path(name)) is None:
            raise _make_refusal(name, "files of this type are not supported")
        if names.count(name) > 1:
            raise HTTPProblem(400, "same_name", f"two files are called {name!r}: rename one, since names are ids.")
    (folder / _FILES).mkdir(parents=True)
    for name, (_, file) in zip(names, files, strict=True):
        path = folder / _FILES / name
        with path.open("xb") as kept:
            shutil.copyfileobj(file, kept)
        _check_content(path)
    return names


def keep_texts(rows: Sequence[object], folder: Path) -> list[str]:
    """Write texts into a job's folder; their ids, made from the folder's name where none is given."""
    documents = [_read_row(row, number, f"{folder.name}-{number}") for number, row in enumerate(rows, start=1)]
    ids = [document.id for document in documents]
    repeated = [id_ for id_, count in Counter(ids).items() if count > 1]
    if repeated:
        raise HTTPProblem(400, "same_name", f"two documents have the id {repeated[0][:80]!r}: give each its own.")
    kept = [{"id": d.id, "title": d.title, "text": d.text, "metadata": d.metadata} for d in documents]
    folder.mkdir(parents=True)
    (folder / _TEXTS).write_text(json.dumps(kept), encoding="utf-8")
    return ids


def _read_row(row: object, number: int, default_id: str) -> Document:
    """Make a row of the body a document, with the fields that it would have as a row of JSON lines."""
    if isinstance(row, dict) and isinstance(text := row.get("text"), str) and text and not text.strip():
        raise HTTPProblem(400, "no_text", f"document {number} has no text: leave it out.")
    try:
        check_plain_fields(row)
        document = row_document(row, default_id)
    except SourceError as error:
        raise HTTPProblem(400, "bad_input", f"document {number} cannot be indexed: {error}.") from error
    for field, value, most in (
        ("id", document.id, _MAX_NAME_CHARACTERS),
        ("title", document.title, _MAX_TITLE_CHARACTERS),
    ):
        if len(value) > most:
            reason = f"its {field} has {len(value):,} characters: shorten it to {most:,}"
            raise HTTPProblem(400, "bad_input", f"document {number} cannot be indexed: {reason}.")
    parts = {*document.id.split("/")}
    if not document.id.strip() or {".", ".."} & parts or not document.id.isprintable():  # it is part of a path
        raise HTTPProblem(
            400,
            "bad_document_id",
            f"{document.id[:80]!r} cannot be a document's id: use printable characters, no part '.' or '..'.",
        )
    return document


def read_kept(folder: Path) -> Iterator[Reading]:
    """Read the documents in a job's folder; their ids are names without folders."""
    for path in sorted((folder / _FILES).glob("*")):
        for reading in read_sources([path]):
            yield _remove_path(reading, path)
    if (folder / _TEXTS).is_file():
        for row in json.loads((folder / _TEXTS).read_text(encoding="utf-8")):
            yield replace(row_document(row, ""), is_passage=False)


def _remove_path(reading: Reading, path: Path) -> Reading:
    """Name the file alone: a reader's ids and reasons begin with the path it read, which clients must not see."""
    if not isinstance(reading, Document) or not reading.id.startswith(path.as_posix()):
        return replace(reading, source=path.name)
    title = "" if reading.title == reading.id else reading.title
    return replace(reading, id=path.name + reading.id.removeprefix(path.as_posix()), title=title, source=path.name)


def _check_content(path: Path) -> None:
    """Refuse a file whose content does not match its name, and archives that would fill the memory."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    ending = find_ending(path)
    if not _looks_like(ending, head):
        raise _make_refusal(path.name, f"its content is not that of a {ending} file")
    try:
        if ending in ZIPPED:
            check_zip(path, ending[1:])
        elif ending is not None and ending.endswith(".gz"):
            check_gzip(path)
    except SourceError as error:
        raise HTTPProblem(413, "too_large_inside", f"{path.name!r} is refused: {error}.") from error


def _looks_like(ending: str | None, head: bytes) -> bool:
    match ending:
        case str() if ending in ZIPPED:
            return head.startswith(b"PK")
        case ".pdf":
            return b"%PDF" in head[:1024]
        case str() if ending.endswith(".gz"):
            return head.startswith(b"\x1f\x8b")
        case _:
            return b"\0" not in head or head.startswith(_UTF_16)


def _make_refusal(name: str, why: str) -> HTTPProblem:
    return HTTPProblem(415, "unsupported", f"{name[:80]!r} is refused: {why}; supported are {', '.join(ENDINGS)}.")
