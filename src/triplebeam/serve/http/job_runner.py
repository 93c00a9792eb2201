"""The server's one indexing thread: it runs jobs one after another, while searches use what is published."""

import logging
import os
import secrets
import shutil
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, TypeAlias

from fastapi import Depends, Request
from filelock import FileLock, Timeout

from triplebeam.errors import CannotWriteError, IndexBusyError, TriplebeamError
from triplebeam.serve.http.errors import HTTPProblem, report_bug
from triplebeam.serve.http.job_store import Job, JobStore, State
from triplebeam.serve.http.job_tasks import Cancelled, JobContext, Stopped, Task, parse_task
from triplebeam.serve.index_folders import message_of
from triplebeam.serve.library import Library
from triplebeam.system.durable import explain_disk_errors, make_folder

_LOG = logging.getLogger("triplebeam.http")
_SECONDS_TO_STOP = 10.0
_SECONDS_BUSY = 0.5


class JobRunner:
    """Queues jobs and runs them. Jobs that a server left unfinished are run when the next one starts.

    Nothing is written before the first job, so an index in a read-only folder can be served.
    """

    def __init__(self, library: Library) -> None:
        self.store: JobStore | None = None
        """The jobs; None if there never was one."""
        self.stopping = threading.Event()
        """Set when the server shuts down, which ends the event streams that follow a job."""
        self._library = library
        self._folders = library.home / "jobs"
        self._lock = threading.Lock()
        self._claim: FileLock | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="job")
        self._turns: list[Future[None]] = []

    @property
    def busy(self) -> bool:
        """Is a job still running?"""
        return not all(turn.done() for turn in self._turns)

    def all(self, index: str | None = None) -> list[Job]:
        """Return the latest jobs, the newest first."""
        return self.store.all(index) if self.store else []

    def count(self, state: State) -> int:
        """Count the jobs in a state."""
        return self.store.count(state) if self.store else 0

    def start(self) -> None:
        """Go on with what an earlier server left unfinished."""
        if (self._library.home / "jobs.sqlite").is_file():
            try:
                self._open()
            except TriplebeamError as error:
                _LOG.warning("no jobs here: %s", error)

    def stop(self) -> None:
        """Queue the running job again, and stop. A batch that takes too long ends with the process."""
        self.stopping.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        ended = not wait(self._turns, _SECONDS_TO_STOP).not_done
        if self.store and ended:
            self.store.close()
            self.store = None
        if self._claim:
            self._claim.release()

    def new_folder(self) -> Path:
        """Return the folder for a new job's files, which the caller creates; its name is the job's id."""
        self._open()
        return self._folders / secrets.token_hex(8)

    def bytes_waiting(self) -> int:
        """Add up the sizes of all files that jobs have yet to read."""
        total = 0
        for folder, _, names in os.walk(self._folders):
            for name in names:
                with suppress(FileNotFoundError):  # a job has just ended
                    total += Path(folder, name).stat().st_size
        return total

    def submit(self, index: str, task: Task, folder: Path | None = None) -> Job:
        """Queue a job; its files, if it has any, are in a ``new_folder``."""
        folder = folder or self.new_folder()
        job = self._open().create(folder.name, index, task.kind, task.model_dump_json())
        self._enqueue()
        return job

    def forget(self, index: str) -> None:
        """Cancel and remove the jobs of a deleted index: the next of that name must not get their documents."""
        for job in self.all(index):
            self.cancel(job.id)
        if self.store:
            self.store.forget(index)

    def cancel(self, job_id: str) -> bool:
        """Cancel a job, with what was sent for it if it had not begun; False if it has already ended."""
        store = self._open()
        if not store.cancel(job_id):
            return False
        if store[job_id].has_ended:
            shutil.rmtree(self._folders / job_id, ignore_errors=True)
        return True

    def _open(self) -> JobStore:
        with self._lock:
            if self.store is None:
                self.store = self._claim_jobs()
                for _ in range(self.store.count("waiting")):
                    self._enqueue()
            return self.store

    def _enqueue(self) -> None:
        """Let the one thread run one more job."""
        turn = self._pool.submit(self._run_next)
        turn.add_done_callback(self._fail_running)
        self._turns = [*(each for each in self._turns if not each.done()), turn]

    def _claim_jobs(self) -> JobStore:
        """Open the jobs, which no other server runs. What fails here is tried again with the next upload."""
        home = self._library.home
        with explain_disk_errors(home), ExitStack() as on_error:
            make_folder(self._folders)
            self._folders.chmod(0o700)  # what was sent is for the server alone
            claim = FileLock(home / "server.lock", thread_local=False)  # released by another thread
            try:
                claim.acquire(timeout=0)
            except Timeout:
                raise HTTPProblem(
                    409, "busy", "another server runs the jobs of this folder: send documents to that one."
                ) from None
            on_error.callback(claim.release)
            store = JobStore(home / "jobs.sqlite")
            on_error.callback(store.close)
            for job_id in store.requeue_running():
                store.log(job_id, "continued after a restart of the server")
            for folder in sorted(self._folders.iterdir()):
                job = store.get(folder.name)
                if job is None or job.has_ended:
                    shutil.rmtree(folder, ignore_errors=True)
            self._library.sweep()
            self._claim = claim
            on_error.pop_all()
            return store

    def _run_next(self) -> None:
        """Run the first waiting job to its end."""
        store = self.store
        found = self._take_next(store) if store else None
        if store is None or found is None:
            return
        job, request = found
        folder = self._folders / job.id
        context = JobContext(self._library, job, folder, store, self.stopping)
        try:
            recorded = store.end(job.id, "done", _run_when_free(parse_task(job.kind, request), context))
        except Stopped:
            with suppress(CannotWriteError):  # the next server continues it in either case
                store.requeue_running()
            return
        except Cancelled:
            recorded = store.end(job.id, "cancelled", f"cancelled; the index is unchanged{context.take_back()}")
        except TriplebeamError as error:
            recorded = store.end(job.id, "failed", message_of(error, self._library.redact) + context.take_back())
        if recorded:
            shutil.rmtree(folder, ignore_errors=True)

    def _take_next(self, store: JobStore) -> tuple[Job, str] | None:
        """Take the first waiting job, as soon as it can be recorded that it runs."""
        while not self.stopping.is_set():
            try:
                return store.next_waiting()
            except CannotWriteError:
                self.stopping.wait(_SECONDS_BUSY)
        return None

    def _fail_running(self, turn: "Future[None]") -> None:
        """Record that a job failed whose turn ended in a bug."""
        error = None if turn.cancelled() else turn.exception()
        if isinstance(error, Exception) and self.store:
            message = report_bug(error).message
            for job in self.store.all():
                if job.state == "running":
                    self.store.end(job.id, "failed", message)


def _run_when_free(task: Task, context: JobContext) -> str:
    """Run a task as soon as no other process is writing to the index."""
    logged = False
    while True:
        context.check()
        try:
            return task.run(context)
        except IndexBusyError:
            if not logged:
                context.log("another process is writing to the index: waiting for it")
            logged = True
            time.sleep(_SECONDS_BUSY)


async def jobs_of(request: Request) -> JobRunner:
    """Depend on the jobs of the server."""
    jobs: JobRunner = request.app.state.jobs
    return jobs


ServerJobs: TypeAlias = Annotated[JobRunner, Depends(jobs_of)]
