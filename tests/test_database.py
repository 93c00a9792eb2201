"""Transactions of SQLite: all or nothing, also where SQLite gives up first."""

import sqlite3

import pytest

from triplebeam.system.database import transaction


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
