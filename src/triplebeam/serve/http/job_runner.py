"""The one thread of a server that indexes: jobs one after another, while searches go on with what is published."""

import logging
import shutil
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from filelock import FileLock, Timeout

from triplebeam.errors import IndexBusyError, TriplebeamError
from triplebeam.serve.http.errors import HTTPProblem, unexpected
from triplebeam.serve.http.job_store import Job, JobStore, Kind, Request, new_job_id
from triplebeam.serve.http.job_work import Cancelled, Stopped, Work, do
from triplebeam.serve.http.library import Library

_LOG = logging.getLogger("triplebeam.http")
_SECONDS_TO_STOP = 10.0
_SECONDS_BUSY = 0.5


class JobRunner:
    """Takes jobs, keeps them, and works them off. What a server left undone is taken up when the next one starts.

    Nothing is written before the first job comes, so an index in a read-only folder can be served.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._store: JobStore | None = None
        self._claim: FileLock | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="job")
        self._turns: list[Future[None]] = []

    @property
    def store(self) -> JobStore | None:
        """The jobs; none where there never was one."""
        return self._store

    @property
    def stopping(self) -> bool:
        """Is the server about to end?"""
        return self._stopping.is_set()

    @property
    def busy(self) -> bool:
        """Is a batch still running that was told to stop?"""
        return not all(turn.done() for turn in self._turns)

    def start(self) -> None:
        """Take up what an earlier server left, if it left anything."""
        if (self._library.home / "jobs.sqlite").is_file():
            try:
                self._open()
            except HTTPProblem as problem:
                _LOG.warning("no jobs here: %s", problem.message)

    def leave(self) -> None:
        """The server is about to end: let go of whatever waits for a job."""
        self._stopping.set()

    def stop(self) -> None:
        """Put the running job back, and end. A batch that takes longer is left to end with the process."""
        self.leave()
        self._pool.shutdown(wait=False, cancel_futures=True)
        ended = not wait(self._turns, _SECONDS_TO_STOP).not_done
        if self._store and ended:
            self._store.close()
            self._store = None
        if self._claim:
            self._claim.release()

    def new_folder(self) -> Path:
        """Where what belongs to a new job is kept; its name is the job's id. It is made by whoever fills it."""
        self._open()
        return self._library.home / "jobs" / new_job_id()

    def submit(self, folder: Path, collection: str, kind: Kind, request: Request) -> Job:
        """Let a job wait for its turn."""
        job = self._open().create(folder.name, collection, kind, request)
        self._enqueue()
        return job

    def _open(self) -> JobStore:
        with self._lock:
            if self._store is None:
                self._store = self._claimed()
                for _ in range(self._store.waiting()):
                    self._enqueue()
            return self._store

    def _enqueue(self) -> None:
        """One more turn of the one thread."""
        turn = self._pool.submit(self._turn)
        turn.add_done_callback(self._over)
        self._turns = [*(each for each in self._turns if not each.done()), turn]

    def _claimed(self) -> JobStore:
        home = self._library.home
        try:
            (home / "jobs").mkdir(parents=True, exist_ok=True)
            self._claim = FileLock(home / "server.lock")
            self._claim.acquire(timeout=0)
        except Timeout:
            self._claim = None
            raise HTTPProblem(
                409, "busy", "another server takes the jobs of this folder: send documents to that one."
            ) from None
        except OSError as error:
            raise HTTPProblem(
                503, "read_only", f"this server cannot keep jobs ({error.strerror}): give it a folder it can write to."
            ) from error
        store = JobStore(home / "jobs.sqlite")
        for job_id in store.take_up():
            store.log(job_id, "taken up again after the server ended")
        for folder in sorted((home / "jobs").iterdir()):
            job = store.get(folder.name)
            if job is None or job.has_ended:
                shutil.rmtree(folder, ignore_errors=True)
        return store

    def _turn(self) -> None:
        """The job whose turn it is, to its end, whichever that is."""
        store = self._store
        found = store.next_waiting() if store and not self.stopping else None
        if store is None or found is None:
            return
        job, request = found
        folder = self._library.home / "jobs" / job.id
        work = Work(self._library, job, request, folder, store, self._stopping)
        try:
            store.end(job.id, "done", self._when_free(work, store))
        except Stopped:
            store.wait_again(job.id)
            return
        except Cancelled:
            store.end(job.id, "cancelled", f"cancelled; the collection is as it was{work.take_back()}")
        except TriplebeamError as error:
            store.end(job.id, "failed", self._library.told(str(error)) + work.take_back())
        shutil.rmtree(folder, ignore_errors=True)

    def _over(self, turn: "Future[None]") -> None:
        """A turn that ended in a bug: the job failed, and the next one is somebody else's."""
        error = None if turn.cancelled() else turn.exception()
        if isinstance(error, Exception) and self._store:
            message = unexpected(error).message
            for job_id in self._store.take_up():
                self._store.end(job_id, "failed", message)

    def _when_free(self, work: Work, store: JobStore) -> str:
        """Do it as soon as no other process writes to the index."""
        told = False
        while True:
            try:
                return do(work)
            except IndexBusyError:
                if not told:
                    store.log(work.job.id, "another process writes to the collection: waiting for it")
                told = True
                work.check()
                time.sleep(_SECONDS_BUSY)
