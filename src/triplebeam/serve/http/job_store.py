"""Jobs and their logs, in one SQLite file, so that they survive the server."""

import datetime
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel

from triplebeam.errors import CannotWriteError, IndexDamagedError
from triplebeam.system.durable import explain_disk_errors, open_database, raise_cannot_write, transaction

#: ``sync`` adds documents and deletes all others.
Kind: TypeAlias = Literal["add", "sync", "delete", "correct", "compact"]
State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, index_name TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, stage TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, started TEXT,
    ended TEXT, request TEXT NOT NULL, cancelling INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS log (job TEXT NOT NULL, time TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS log_job ON log (job);
"""
_MAX_LISTED = 100
_COLUMNS = "id, index_name, kind, state, stage, done, total, message, created, started, ended"


class LogLine(BaseModel):
    """Something that happened in a job."""

    time: str
    text: str


class Job(BaseModel):
    """A job as clients see it: its columns in their order, and its log."""

    id: str
    index: str
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
        """Is it done, failed or cancelled?"""
        return self.state not in ("waiting", "running")


class JobStore:
    """Reads and writes the file, from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._ends: dict[str, tuple[State, str, str]] = {}
        """How jobs ended, where the disk is too full to record it."""
        try:
            self._db = open_database(path, _SCHEMA)
        except sqlite3.DatabaseError as error:
            raise_cannot_write(error, path)
            raise IndexDamagedError(
                f"{path} is not a usable job file ({error}): remove it, and send the waiting documents again."
            ) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def create(self, job_id: str, index: str, kind: Kind, request: str) -> Job:
        """Add a job to the queue; ``request`` is its task as JSON."""
        with self._write() as db:
            db.execute(
                "INSERT INTO job (id, index_name, kind, state, created, request) VALUES (?, ?, ?, 'waiting', ?, ?)",
                (job_id, index, kind, _now(), request),
            )
        return self[job_id]

    def __getitem__(self, job_id: str) -> Job:
        return self._read_jobs("WHERE id = ?", job_id)[0]

    def get(self, job_id: str) -> Job | None:
        """Return the job of that id, if there is one."""
        return next(iter(self._read_jobs("WHERE id = ?", job_id)), None)

    def all(self, index: str | None = None) -> list[Job]:
        """Return the latest jobs, the newest first."""
        return self._read_jobs(f"WHERE ?1 IS NULL OR index_name = ?1 ORDER BY number DESC LIMIT {_MAX_LISTED}", index)

    def forget(self, index: str) -> None:
        """Remove the jobs of an index that have ended."""
        ended = "SELECT id FROM job WHERE index_name = ? AND state NOT IN ('waiting', 'running')"
        with self._write() as db:
            db.execute(f"DELETE FROM log WHERE job IN ({ended})", (index,))
            db.execute(f"DELETE FROM job WHERE id IN ({ended})", (index,))

    def next_waiting(self) -> tuple[Job, str] | None:
        """Mark the first waiting job as running, and return it with its task as JSON."""
        self._record_ends()
        with self._write() as db:
            row = db.execute("SELECT id, request FROM job WHERE state = 'waiting' ORDER BY number LIMIT 1").fetchone()
            if row is None:
                return None
            db.execute("UPDATE job SET state = 'running', started = ? WHERE id = ?", (_now(), row[0]))
        return self[row[0]], row[1]

    def requeue_running(self) -> list[str]:
        """Queue jobs again that were running when a server ended, or are while it shuts down; return their ids."""
        with self._write() as db:
            rows = db.execute("SELECT id FROM job WHERE state = 'running' ORDER BY number").fetchall()
            db.execute("UPDATE job SET state = 'waiting' WHERE state = 'running'")
        return [job_id for (job_id,) in rows]

    def set_progress(self, job_id: str, stage: str, done: int, total: int) -> None:
        """Record a job's progress."""
        with self._write() as db:
            db.execute("UPDATE job SET stage = ?, done = ?, total = ? WHERE id = ?", (stage, done, total, job_id))

    def log(self, job_id: str, text: str) -> None:
        """Add a line to a job's log."""
        with self._write() as db:
            db.execute("INSERT INTO log VALUES (?, ?, ?)", (job_id, _now(), text))

    def end(self, job_id: str, state: State, message: str) -> bool:
        """Record how a job ended; where that cannot be written it is known as long as the server runs, and False."""
        self._ends[job_id] = state, message, _now()
        try:
            self._record_ends()
        except CannotWriteError:
            return False
        return True

    def _record_ends(self) -> None:
        """From the thread that runs jobs only."""
        with self._write() as db:
            for job_id, (state, message, now) in self._ends.items():
                db.execute(
                    "UPDATE job SET state = ?, message = ?, ended = ? WHERE id = ?", (state, message, now, job_id)
                )
                db.execute("INSERT INTO log VALUES (?, ?, ?)", (job_id, now, message))
        self._ends.clear()

    def cancel(self, job_id: str) -> bool:
        """Cancel a job: at once if it waits, when it next checks if it runs; False if it has already ended."""
        with self._write() as db:
            running = db.execute("UPDATE job SET cancelling = 1 WHERE id = ? AND state = 'running'", (job_id,))
            waiting = db.execute(
                "UPDATE job SET state = 'cancelled', message = 'cancelled before it began', ended = ?"
                " WHERE id = ? AND state = 'waiting'",
                (_now(), job_id),
            )
            return running.rowcount + waiting.rowcount > 0

    def is_cancelling(self, job_id: str) -> bool:
        """Return whether cancelling it has been requested."""
        with self._lock:
            row = self._db.execute("SELECT cancelling FROM job WHERE id = ?", (job_id,)).fetchone()
            return bool(row and row[0])

    def count(self, state: State) -> int:
        """Count the jobs in a state."""
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM job WHERE state = ?", (state,)).fetchone()[0])

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with explain_disk_errors(self._path), self._lock, transaction(self._db) as db:
            yield db

    def _read_jobs(self, rest: str, value: str | None) -> list[Job]:
        jobs = []
        with self._lock:
            for row in self._db.execute(f"SELECT {_COLUMNS} FROM job {rest}", (value,)).fetchall():
                log = self._db.execute("SELECT time, text FROM log WHERE job = ? ORDER BY rowid", (row[0],))
                lines = [LogLine(time=time, text=text) for time, text in log]
                job = Job(**dict(zip(Job.model_fields, [*row, lines], strict=True)))
                end = dict(zip(("state", "message", "ended"), self._ends.get(job.id, ()), strict=False))
                jobs.append(job.model_copy(update=end))
        return jobs


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
