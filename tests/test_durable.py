"""What the errors of a disk mean, for whoever reads the message.

Transactions of SQLite: all or nothing, also where SQLite gives up first.
"""

import sqlite3
from pathlib import Path

import pytest

from triplebeam.errors import CannotWriteError, DiskFullError, IndexDamagedError, TriplebeamError
from triplebeam.system.durable import raise_cannot_write, transaction

PLACE = Path("my.index")


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("SQLITE_FULL", DiskFullError, "free some space"),
        ("SQLITE_IOERR_WRITE", DiskFullError, "free some space"),
        ("SQLITE_IOERR_SHMSIZE", DiskFullError, "free some space"),
        ("SQLITE_READONLY_DBMOVED", CannotWriteError, "check its permissions"),
        ("SQLITE_IOERR_READ", IndexDamagedError, "the disk of my.index reports an error"),
        ("SQLITE_IOERR_SHORT_READ", IndexDamagedError, "look into the system's log"),
        ("SQLITE_IOERR_LOCK", IndexDamagedError, "SQLITE_IOERR_LOCK"),
    ],
)
def test_an_error_of_sqlite_is_explained_by_its_name(name: str, kind: type[TriplebeamError], said: str) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    with pytest.raises(TriplebeamError, match=said) as raised:
        raise_cannot_write(error, PLACE)
    assert type(raised.value) is kind


def test_other_errors_are_left_to_their_callers() -> None:
    error = sqlite3.OperationalError("no such table")
    error.sqlite_errorname = "SQLITE_ERROR"
    raise_cannot_write(error, PLACE)
    raise_cannot_write(FileNotFoundError(2, "no such file"), PLACE)


def test_a_failed_commit_is_reported_as_it_is_and_leaves_no_transaction_open() -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(
        "PRAGMA foreign_keys = ON; CREATE TABLE a (id PRIMARY KEY);"
        " CREATE TABLE b (a REFERENCES a DEFERRABLE INITIALLY DEFERRED)"
    )
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), transaction(db):
        db.execute("INSERT INTO b VALUES (1)")
    with transaction(db):
        assert db.execute("SELECT count(*) FROM b").fetchone() == (0,)


def _full(db: sqlite3.Connection) -> None:
    with transaction(db):
        db.execute("ROLLBACK")  # as SQLite does by itself on a full disk
        raise RuntimeError("the disk is full")


def test_what_ended_the_transaction_already_is_what_is_reported() -> None:
    with pytest.raises(RuntimeError, match="disk"):
        _full(sqlite3.connect(":memory:", isolation_level=None))
