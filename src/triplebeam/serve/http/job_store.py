"""Jobs and their logs, in one SQLite file, so that they survive the server."""

import datetime
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel

from triplebeam.database import open_database, transaction
from triplebeam.errors import IndexDamagedError

Kind: TypeAlias = Literal["add", "delete"]
State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]

ENDED: tuple[State, ...] = ("done", "failed", "cancelled")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, collection TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, stage TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, started TEXT,
    ended TEXT, request TEXT NOT NULL, cancelling INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS log (job TEXT NOT NULL, time TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS log_job ON log (job);
"""
_FIELDS = "id, collection, kind, state, stage, done, total, message, created, started, ended"


class LogLine(BaseModel):
    """Something that happened in a job."""

    time: str
    text: str


class Job(BaseModel):
    """A job as clients see it."""

    id: str
    collection: str
    kind: Kind
    state: State
    stage: str
    done: int
    total: int
    message: str
    created: str
    started: str | None
    ended: str | None
    log: list[LogLine]

    @property
    def has_ended(self) -> bool:
        """Will it never change again?"""
        return self.state in ENDED


class Request(BaseModel):
    """What a job has to do."""

    extractor: str = "local"
    document_ids: list[str] = []
    """Those to take out, for a job that deletes."""


class JobStore:
    """Reads and writes the file, from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._db = open_database(path, _SCHEMA)
        except sqlite3.DatabaseError as error:
            raise IndexDamagedError(
                f"{path} is not a usable file of jobs ({error}): remove it, and send again what was waiting."
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def create(self, job_id: str, collection: str, kind: Kind, request: Request) -> Job:
        """A new job that waits for its turn."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO job (id, collection, kind, state, created, request) VALUES (?, ?, ?, 'waiting', ?, ?)",
                (job_id, collection, kind, _now(), request.model_dump_json()),
            )
        return self[job_id]

    def __getitem__(self, job_id: str) -> Job:
        found = self.get(job_id)
        if found is None:
            raise KeyError(job_id)
        return found

    def get(self, job_id: str) -> Job | None:
        """The job of that id, if there is one."""
        with self._lock:
            return next(self._jobs("WHERE id = ?", job_id), None)

    def all(self, collection: str | None = None, most: int = 100) -> list[Job]:
        """The latest jobs, the newest first."""
        with self._lock:
            if collection is None:
                return list(self._jobs("ORDER BY number DESC LIMIT ?", most))
            return list(self._jobs("WHERE collection = ? ORDER BY number DESC LIMIT ?", collection, most))

    def next_waiting(self) -> tuple[Job, Request] | None:
        """The job whose turn it is, with what it has to do; it is running from now on."""
        with self._writing() as db:
            row = db.execute("SELECT id, request FROM job WHERE state = 'waiting' ORDER BY number LIMIT 1").fetchone()
            if row is None:
                return None
            db.execute("UPDATE job SET state = 'running', started = ? WHERE id = ?", (_now(), row[0]))
        return self[row[0]], Request.model_validate_json(row[1])

    def take_up(self) -> list[str]:
        """Let jobs that were running when a server ended wait again; their ids."""
        with self._writing() as db:
            rows = db.execute("SELECT id FROM job WHERE state = 'running' ORDER BY number").fetchall()
            db.execute("UPDATE job SET state = 'waiting' WHERE state = 'running'")
        return [job_id for (job_id,) in rows]

    def wait_again(self, job_id: str) -> None:
        """Put a running job back: the server is about to end."""
        with self._writing() as db:
            db.execute("UPDATE job SET state = 'waiting' WHERE id = ?", (job_id,))

    def tell(self, job_id: str, stage: str, done: int, total: int) -> None:
        """How far a job is."""
        with self._writing() as db:
            db.execute("UPDATE job SET stage = ?, done = ?, total = ? WHERE id = ?", (stage, done, total, job_id))

    def log(self, job_id: str, text: str) -> None:
        """Add a line to a job's log."""
        with self._writing() as db:
            db.execute("INSERT INTO log VALUES (?, ?, ?)", (job_id, _now(), text))

    def end(self, job_id: str, state: State, message: str) -> None:
        """A job is over, one way or the other."""
        with self._writing() as db:
            db.execute(
                "UPDATE job SET state = ?, message = ?, ended = ? WHERE id = ?", (state, message, _now(), job_id)
            )
            db.execute("INSERT INTO log VALUES (?, ?, ?)", (job_id, _now(), message))

    def cancel(self, job_id: str) -> bool:
        """Wish a job ended; False where it has ended already. One that waits is over at once."""
        with self._writing() as db:
            row = db.execute("SELECT state FROM job WHERE id = ?", (job_id,)).fetchone()
            if row is None or row[0] in ENDED:
                return False
            db.execute("UPDATE job SET cancelling = 1 WHERE id = ?", (job_id,))
            if row[0] == "waiting":
                db.execute(
                    "UPDATE job SET state = 'cancelled', message = 'cancelled before it began', ended = ? WHERE id = ?",
                    (_now(), job_id),
                )
            return True

    def is_cancelling(self, job_id: str) -> bool:
        """Does somebody wish it ended?"""
        with self._lock:
            row = self._db.execute("SELECT cancelling FROM job WHERE id = ?", (job_id,)).fetchone()
            return bool(row and row[0])

    def running(self) -> int:
        """How many jobs are running: none or one."""
        return self._count("running")

    def waiting(self) -> int:
        """How many jobs wait for their turn."""
        return self._count("waiting")

    def _count(self, state: State) -> int:
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM job WHERE state = ?", (state,)).fetchone()[0])

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, transaction(self._db) as db:
            yield db

    def _jobs(self, rest: str, *values: str | int) -> Iterator[Job]:
        names = _FIELDS.split(", ")
        for row in self._db.execute(f"SELECT {_FIELDS} FROM job {rest}", values).fetchall():
            log = self._db.execute("SELECT time, text FROM log WHERE job = ? ORDER BY rowid", (row[0],))
            lines = [LogLine(time=time, text=text) for time, text in log]
            yield Job(**dict(zip(names, row, strict=True)), log=lines)


def new_job_id() -> str:
    """An id nobody can guess, good as a folder's name."""
    return secrets.token_hex(8)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
