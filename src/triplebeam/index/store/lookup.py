"""What an index remembers for the next run, read from its store without waiting for a writer."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import BaseModel

from triplebeam.errors import IndexDamagedError
from triplebeam.index.manifest import VectorSpace
from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.tables import STORE, FileTable, MetaTable
from triplebeam.system.database import has_tables, open_to_read

_HEADER = ("page_count", "page_size", "user_version")


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
