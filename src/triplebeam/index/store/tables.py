"""The file of the store, its tables, and those of them that hold values, files and counts.

What an index remembers for the next run is read here, too, without waiting for a writer.
"""

import json
import secrets
import sqlite3
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from triplebeam.errors import IndexDamagedError
from triplebeam.index.source import MAX_PASSAGES, VectorSpace
from triplebeam.index.store.corrections import Corrections, parse_corrections
from triplebeam.system.durable import has_tables, open_to_read
from triplebeam.text.terms import is_language_throughout

STORE = "store.sqlite"
SCHEMA = """
CREATE TABLE document (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT '{}', links TEXT NOT NULL DEFAULT '[]',
    source TEXT NOT NULL DEFAULT '', content BLOB NOT NULL);
CREATE TABLE passage (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
    position INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    extractor TEXT, failure TEXT, section TEXT NOT NULL DEFAULT '', unread_language TEXT);
CREATE INDEX passage_document ON passage (document, position);
CREATE TABLE triple (
    number INTEGER PRIMARY KEY, passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE,
    subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL);
CREATE INDEX triple_passage ON triple (passage);
CREATE TABLE entity (passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE, name TEXT NOT NULL);
CREATE INDEX entity_passage ON entity (passage);
CREATE TABLE rejected (passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE, parts TEXT NOT NULL);
CREATE INDEX rejected_passage ON rejected (passage);
CREATE TABLE file (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE forgotten (line INTEGER PRIMARY KEY);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
#: Passages ``p`` by their documents' ids, so that nothing depends on the order in which they came.
IN_ORDER = " ORDER BY (SELECT id FROM document WHERE number = p.document), p.position"
#: A language of a smaller share of the passages is counted only where the detection is sure.
_MIN_SHARE = 0.05
_MAX_SAMPLE = 20
_HEADER = ("page_count", "page_size", "user_version")


@dataclass(frozen=True)
class MetaTable:
    """Reads and writes the table ``meta``."""

    db: sqlite3.Connection

    def get(self, key: str) -> str | None:
        """Return a value."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set(self, key: str, value: str) -> None:
        """Keep a value."""
        self.db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value))

    @property
    def revision(self) -> int:
        """Another number after every change of what is searched; a generation records the one it was made from.

        It is random, so that a store that was restored from a copy and changed since is not taken for the published.
        """
        return int(self.get("revision") or 0)

    def mark_changed(self) -> None:
        """Choose another revision."""
        self.set("revision", str(secrets.randbits(53)))

    @property
    def embedder(self) -> VectorSpace | None:
        """The space of the index; None while nothing was indexed."""
        space = self.get("embedder")
        return VectorSpace.model_validate_json(space) if space else None

    @property
    def keyword_passages(self) -> int:
        """A keyword of more passages than this makes no edges between them; 0: every keyword does."""
        return int(self.get("keyword_passages") or MAX_PASSAGES)

    @property
    def tuned_share(self) -> float | None:
        """How much walks count in the default search, where `triplebeam tune` chose it."""
        value = self.get("tuned_share")
        return float(value) if value else None

    @property
    def extractor(self) -> str | None:
        """The extractor that new passages go to: the one last chosen. Given triples are for the passages they name."""
        return self.get("extractor")

    def choose_extractor(self, name: str) -> None:
        """Choose the extractor of new passages."""
        if self.extractor != name:
            self.set("extractor", name)
            self.mark_changed()

    @property
    def corrections(self) -> Corrections:
        """What a person corrected."""
        return parse_corrections(self.get("corrections") or "")

    @property
    def source_names(self) -> dict[str, str]:
        """The names of sources by their absolute paths; see `triplebeam.ingest.SourceNames`."""
        return dict(json.loads(self.get("source_names") or "{}"))

    def set_source_names(self, names: Mapping[str, str]) -> None:
        """Keep under which names files and folders were indexed."""
        self.set("source_names", json.dumps(dict(names)))


@dataclass(frozen=True)
class FileTable:
    """Reads and writes the table ``file``, and the files of documents."""

    db: sqlite3.Connection

    def sources(self) -> dict[str, str]:
        """Return the file that each document came from, by its name in the index; the document's id where unknown."""
        return dict(self.db.execute("SELECT id, iif(source = '', id, source) FROM document ORDER BY number"))

    def states(self) -> dict[str, str]:
        """Return the state of each file when it was last read, by its name in the index."""
        return dict(self.db.execute("SELECT name, state FROM file"))

    def set_states(self, states: Mapping[str, str | None]) -> None:
        """Store the state of files; None removes a file."""
        for name, state in states.items():
            if state is None:
                self.db.execute("DELETE FROM file WHERE name = ?", (name,))
            else:
                self.db.execute("INSERT OR REPLACE INTO file VALUES (?, ?)", (name, state))

    def forget_unused_names(self) -> None:
        """Forget sources that no document came from."""
        meta, files = MetaTable(self.db), sorted(set(self.sources().values()))
        meta.set_source_names({path: name for path, name in meta.source_names.items() if _has_files(name, files)})


def _has_files(folder: str, files: Sequence[str]) -> bool:
    """Return whether one of the files, which are sorted, is in a folder, or the same."""
    if folder == ".":
        return bool(files)
    first = [bisect_left(files, name) for name in (folder, f"{folder}/")]
    return any(at < len(files) and f"{files[at]}/".startswith(f"{folder}/") for at in first)


@dataclass(frozen=True)
class Statistics:
    """Counts of what is in the store now."""

    db: sqlite3.Connection

    def counts(self) -> dict[str, int]:
        """Count what there is of each kind."""
        queries = {
            "documents": "SELECT count(*) FROM document",
            "passages": "SELECT count(*) FROM passage",
            "triples": "SELECT count(*) FROM triple",
            "passages_without_extraction": "SELECT count(*) FROM passage WHERE extractor IS NULL",
            "passages_failed": "SELECT count(*) FROM passage WHERE failure IS NOT NULL",
            "passages_without_triples": "SELECT count(*) FROM passage p WHERE extractor IS NOT NULL AND failure IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM triple t WHERE t.passage = p.number)",
            "triples_rejected": "SELECT count(*) FROM rejected",
        }
        return {name: self.db.execute(query).fetchone()[0] for name, query in queries.items()}

    def count_unread_languages(self) -> dict[str, int]:
        """Count the passages in each language that their extractor does not support, the most common first.

        A few passages of code or of names that look like a rare language do not make it one of the collection's.
        """
        counts = self.db.execute(
            "SELECT unread_language, count(*) FROM passage WHERE unread_language IS NOT NULL"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
        (passages,) = self.db.execute("SELECT count(*) FROM passage").fetchone()
        return {code: n for code, n in counts if n >= _MIN_SHARE * passages or self._is_sure(code)}

    def _is_sure(self, language: str) -> bool:
        """Return whether most of its first passages are in this language from beginning to end."""
        texts = self.db.execute(
            "SELECT substr(text, start + 1, stop - start) FROM passage JOIN document ON document.number = document"
            " WHERE unread_language = ? ORDER BY passage.number LIMIT ?",
            (language, _MAX_SAMPLE),
        )
        found = [is_language_throughout(text, language) for (text,) in texts]
        return 2 * sum(found) > len(found)

    def failures(self) -> list[tuple[str, str]]:
        """List passages whose extraction failed, with the reason."""
        return self.db.execute("SELECT id, failure FROM passage WHERE failure IS NOT NULL ORDER BY number").fetchall()


def has_store(folder: Path) -> bool:
    """Return whether there is an index in this folder that documents can be added to, published or not."""
    return (folder / STORE).is_file()


def read_extractor(folder: Path) -> str | None:
    """Return the name of the extractor that an index goes on with; None where none was chosen yet."""
    with _store_of(folder) as db:
        return MetaTable(db).extractor if db else None


def read_source_names(folder: Path) -> dict[str, str]:
    """Return the names of sources that an index knows, by their absolute paths."""
    with _store_of(folder) as db:
        return MetaTable(db).source_names if db else {}


def read_source_files(folder: Path) -> dict[str, str]:
    """Return the file that each document came from, by its name in the index."""
    with _store_of(folder) as db:
        return FileTable(db).sources() if db else {}


def read_embedder(folder: Path) -> VectorSpace | None:
    """Return the embedder that an index was built with, whether it is published or not."""
    with _store_of(folder) as db:
        return MetaTable(db).embedder if db else None


def read_index_corrections(folder: Path) -> Corrections:
    """Return the corrections of an index."""
    with _store_of(folder) as db:
        return MetaTable(db).corrections if db else Corrections()


class StoreState(BaseModel):
    """What a look at the store shows, without reading it whole."""

    format: int
    bytes: int
    revision: int
    documents: int


def read_store_state(folder: Path) -> StoreState | None:
    """Return the state of the store of an index; None where there is none, and it can only be searched.

    A file that was cut off, or is no database, is an error. `triplebeam repair` reads all of it.
    """
    with _store_of(folder) as db:
        if db is None:
            return None
        pages, size, format_ = (db.execute(f"PRAGMA {of}").fetchone()[0] for of in _HEADER)
        there, log = (folder / STORE).stat().st_size, folder / f"{STORE}-wal"
        if there < pages * size and not (log.is_file() and log.stat().st_size):  # the last pages may be in the log
            raise sqlite3.DatabaseError(f"{there} bytes of {pages * size}")
        (documents,) = db.execute("SELECT count(*) FROM document").fetchone()
        revision = MetaTable(db).revision
    return StoreState(format=format_, bytes=there, revision=revision, documents=documents)


@contextmanager
def _store_of(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the store of an index for reading; None where there is none, or one that was only begun."""
    if not has_store(folder):
        yield None
        return
    path = folder / STORE
    try:
        with closing(open_to_read(path)) as db:
            yield db if has_tables(db) else None
    except sqlite3.DatabaseError as error:
        raise make_damaged_error(path, error) from error


def make_damaged_error(path: Path, error: sqlite3.DatabaseError) -> IndexDamagedError:
    """Return the error for a store that cannot be read."""
    return IndexDamagedError(
        f"{path} is not a usable SQLite file ({error}): restore it from a copy, or index into a new folder."
    )
