"""What an index remembers for the next run, read from its store without waiting for a writer."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pydantic import BaseModel

from triplebeam.index.build.writing import has_store
from triplebeam.index.folder.manifest import STORE, VectorSpace
from triplebeam.index.store.corrections import Corrections, kept_corrections
from triplebeam.index.store.known_files import KnownFiles
from triplebeam.index.store.schema import kept_value
from triplebeam.index.store.store import unusable
from triplebeam.system.database import has_tables, open_to_read

_HEADER = ("page_count", "page_size", "user_version")


def remembered_extractor(folder: Path) -> str | None:
    """The name of the extractor that an index goes on with; None where there is no index yet, or none was chosen."""
    with _store_of(folder) as db:
        return kept_value(db, "extractor") if db else None


def remembered_sources(folder: Path) -> dict[str, str]:
    """The names of sources that an index knows, by their absolute paths."""
    with _store_of(folder) as db:
        return KnownFiles(db).names() if db else {}


def remembered_files(folder: Path) -> dict[str, str]:
    """The file that each document came from, by its name in the index."""
    with _store_of(folder) as db:
        return KnownFiles(db).sources() if db else {}


def remembered_embedder(folder: Path) -> VectorSpace | None:
    """The embedder that an index was built with, whether it is published or not."""
    with _store_of(folder) as db:
        space = kept_value(db, "embedder") if db else None
    return VectorSpace.model_validate_json(space) if space else None


def remembered_corrections(folder: Path) -> Corrections:
    """The corrections of an index."""
    with _store_of(folder) as db:
        return kept_corrections(db) if db else Corrections()


class StoreState(BaseModel):
    """What a look at the store shows, without reading it whole."""

    format: int
    bytes: int
    revision: int
    documents: int


def store_state(folder: Path) -> StoreState | None:
    """The state of the store of an index; None where there is none, and it can only be searched.

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
        revision = int(kept_value(db, "revision") or 0)
    return StoreState(format=format_, bytes=there, revision=revision, documents=documents)


@contextmanager
def _store_of(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """The store of an index, open for reading; None where there is none, or one that was only begun."""
    if not has_store(folder):
        yield None
        return
    path = folder / STORE
    try:
        with closing(open_to_read(path)) as db:
            yield db if has_tables(db) else None
    except sqlite3.DatabaseError as error:
        raise unusable(path, error) from error
