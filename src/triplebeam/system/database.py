"""SQLite files as the package uses them: write-ahead logging, a format number, transactions.

What was committed is on the disk, so a power cut loses nothing that was paid for.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from triplebeam.errors import IndexFormatError

_SECONDS_TO_WAIT_FOR_A_WRITER = 60.0


def open_database(path: Path, schema: str, *upgrades: str) -> sqlite3.Connection:
    """Open a connection for any thread, one at a time; a new file gets the tables of ``schema``, an older one those of
    the upgrades it has not had. Each of them raises the format, which begins at 1, by one.

    Raises sqlite3.Error for a file that cannot be used, IndexFormatError for one of a format that is not known.
    """
    with ExitStack() as on_error:
        db = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT_FOR_A_WRITER, isolation_level=None, check_same_thread=False)
        on_error.callback(db.close)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
            db.execute(f"PRAGMA {pragma}")
        newest = 1 + len(upgrades)
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > newest:
            raise IndexFormatError(
                f"{path} has format {version}, this Triplebeam reads format {newest}: upgrade Triplebeam."
            )
        if version < newest:
            change = " ".join(upgrades[version - 1 :]) if version else schema
            db.executescript(f"BEGIN; {change} PRAGMA user_version = {newest}; COMMIT;")
        on_error.pop_all()
        return db


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a connection for reading, whoever else is writing; in a folder that cannot be written to, too."""
    db = _connect(path, "rw")  # not "ro", which leaves a log behind
    try:
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT 1 FROM sqlite_schema")
    except sqlite3.OperationalError:  # there is no log, and none can be made: nobody is writing
        db.close()
        return _connect(path, "ro&immutable=1")
    return db


def has_tables(db: sqlite3.Connection) -> bool:
    """Return False for a file whose making was interrupted: by a kill, or because the disk was full."""
    return db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False)


def rewrite(db: sqlite3.Connection) -> None:
    """Write the file anew: without the space, and without a byte, of what was removed."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def remove_database(path: Path) -> None:
    """Remove a file that no connection has open, with its log."""
    for ending in ("-wal", "-shm", ""):
        path.with_name(path.name + ending).unlink(missing_ok=True)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Begin a transaction: all of what is written inside, or none of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.execute("COMMIT")
    finally:
        if db.in_transaction:  # neither committed, nor ended already by a full disk
            db.execute("ROLLBACK")
