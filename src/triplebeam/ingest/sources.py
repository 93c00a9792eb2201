"""Walk what the user names (folders, files, BEIR folders) and read it, one document at a time."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError, SourceError
from triplebeam.ingest.formats import DOCUMENT_READERS, ENDINGS, LINE_READERS, ending_of
from triplebeam.ingest.outcome import Reading, Skipped, Unreadable
from triplebeam.passage import Document
from triplebeam.text import storable

_BEIR_CORPORA = ("corpus.jsonl", "corpus.jsonl.gz")
_NO_TEXT = "there is no text in it"
_HIDDEN = (".", "~$")  # "~$report.docx" is the lock that Word keeps beside an open file


def read_sources(paths: Sequence[Path]) -> Iterator[Reading]:
    """Read every source in turn, lazily. What cannot be read is told and the rest goes on.

    A file's id is its path as the user named it, such as ``docs/guide/start.md``: two files of one name in two folders
    are two documents, and the same command run again means the same documents.
    A folder with a BEIR corpus at its top is read as that corpus alone.
    """
    for path in paths:
        if not path.exists():
            raise BadInputError(f"There is no file or folder {str(path)!r}; check the path.")
    return _read_all(paths)


def _read_all(paths: Sequence[Path]) -> Iterator[Reading]:
    seen: set[str] = set()
    for source in paths:
        for path, name in _files(source):
            if isinstance(path, Unreadable):
                yield path
            elif ending_of(path) is None and path != source:
                yield Skipped(str(path))
            else:
                yield from _read_file(path, name, seen)


def _files(source: Path) -> Iterator[tuple[Path | Unreadable, str]]:
    """The files of one source, each with its id."""
    if not source.is_dir():
        yield source, document_id(source)
        return
    corpus = next((source / name for name in _BEIR_CORPORA if (source / name).is_file()), None)
    for path in _walk(source) if corpus is None else [corpus]:
        yield path, "" if isinstance(path, Unreadable) else document_id(path)


def document_id(path: Path) -> str:
    """The id of a file's document: its path as it was named."""
    return storable(Path(os.path.normpath(path)).as_posix())


def _walk(folder: Path) -> Iterator[Path | Unreadable]:
    """Files in order of their names. Links are followed, each real folder is entered once: links may form a loop."""
    entered: set[Path] = set()
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            if not path.is_dir():
                yield path
            elif (real := path.resolve()) not in entered:
                entered.add(real)
                children = sorted(path.iterdir(), key=lambda child: child.name, reverse=True)
                waiting += [child for child in children if not child.name.startswith(_HIDDEN)]
        except OSError as error:
            yield Unreadable(str(path), f"the folder cannot be opened: {error.strerror}")


def _read_file(path: Path, name: str, seen: set[str]) -> Iterator[Reading]:
    try:
        for line, outcome in _outcomes(path, name):
            if isinstance(outcome, str):
                yield Unreadable(str(path), outcome, line)
            elif outcome.id in seen:
                reason = f"an earlier document has the same id, {outcome.id!r}; rename one of the two"
                yield Unreadable(str(path), reason, line)
            else:
                seen.add(outcome.id)
                yield outcome
    except SourceError as error:
        yield Unreadable(str(path), str(error))
    except OSError as error:
        yield Unreadable(str(path), f"it cannot be read: {error.strerror}")


def _outcomes(path: Path, name: str) -> Iterator[tuple[int | None, Document | str]]:
    ending = ending_of(path)
    if ending is None:
        raise SourceError(f"files of this kind are not read; the endings known are {', '.join(ENDINGS)}")
    if not path.is_file():  # opening a pipe would wait for ever
        raise SourceError("it is no regular file, but a broken link, a pipe or a device")
    if path.stat().st_size == 0:
        raise SourceError("the file is empty")
    if ending in LINE_READERS:
        yield from _or_empty(LINE_READERS[ending](path, name))
        return
    content = DOCUMENT_READERS[ending](path)
    if not content.text.strip():
        raise SourceError(_NO_TEXT)
    yield None, Document(id=name, text=storable(content.text), title=storable(content.title or path.stem))


def _or_empty(rows: Iterator[tuple[int, Document | str]]) -> Iterator[tuple[int, Document | str]]:
    """The rows; a file of none is told, not passed over in silence."""
    first = next(rows, None)
    if first is None:
        raise SourceError(_NO_TEXT)
    yield first
    yield from rows
