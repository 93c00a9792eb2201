"""Requests that are alike are answered together: whatever came while others ran is one batch.

Nothing waits for company: a request that finds a free thread starts at once, alone. Of each kind one batch runs at a
time. What comes meanwhile waits, and the next batch takes it, in the order in which it came; before that, everything
else that waits for a thread has its turn. A batch that takes long does not hold up its kind: another may then start.
"""

import contextvars
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from triplebeam.cancellation import AllSet, cancel_on

T = TypeVar("T")
#: Called with questions: the answer to each, in their order.
Work: TypeAlias = Callable[[Sequence[str]], Iterable[T]]

#: Questions of a batch: enough to share what all need, few enough that none waits long for the others.
LARGEST = 16
#: Seconds of a batch after which another of its kind may start.
PATIENCE = 5.0


@dataclass(frozen=True, eq=False)
class _Entry(Generic[T]):
    """One caller's question."""

    question: str
    work: Work[T]
    gone: threading.Event
    """Set once the caller no longer waits."""
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    answer: "Future[T]" = field(default_factory=Future)
    alone: bool = False
    """It was in a batch that failed, for which another question may be the reason."""


class Batches(Generic[T]):
    """Answers questions in batches, in the threads of a pool."""

    def __init__(self, pool: ThreadPoolExecutor, patience: float = PATIENCE) -> None:
        self._pool = pool
        self._patience = patience
        self._lock = threading.RLock()
        self._waiting: defaultdict[Hashable, deque[_Entry[T]]] = defaultdict(deque)
        self._answering = 0
        self._running: Counter[Hashable] = Counter()
        self._started: dict[Hashable, float] = {}
        self._timers: dict[Hashable, threading.Timer] = {}

    @property
    def waiting(self) -> int:
        """Questions that wait for a thread."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    @property
    def running(self) -> int:
        """Questions that are being answered."""
        with self._lock:
            return self._answering

    def submit(self, kind: Hashable, question: str, work: Work[T], gone: threading.Event | None = None) -> "Future[T]":
        """The answer to a question. Whatever ``work`` depends on is in its kind: any caller's may be used for all.

        Once ``gone`` is set for every question of a batch, its work is cancelled (`triplebeam.cancellation`).
        """
        entry = _Entry(question, work, gone or threading.Event())
        with self._lock:
            self._waiting[kind].append(entry)
            self._start(kind)
        return entry.answer

    def close(self) -> None:
        """Cancel what waits."""
        with self._lock:
            for kind in list(self._timers):
                self._timers.pop(kind).cancel()
            for entry in (entry for waiting in self._waiting.values() for entry in waiting):
                entry.answer.cancel()
            self._waiting.clear()

    def _start(self, kind: Hashable) -> None:
        """Run a batch, unless one of its kind is at work and has not been for long: then, look again later."""
        if kind not in self._waiting:
            return
        now = time.monotonic()
        if self._running[kind] and (early := self._started[kind] + self._patience - now) > 0:
            self._look_again(kind, early)
            return
        self._running[kind] += 1
        self._started[kind] = now
        batch: list[_Entry[T]] = []
        self._pool.submit(self._run, kind, batch).add_done_callback(partial(self._ended, kind, batch))

    def _look_again(self, kind: Hashable, seconds: float) -> None:
        """Start another batch then if something still waits, whether or not anybody asks meanwhile."""
        if kind not in self._timers:
            timer = self._timers[kind] = threading.Timer(seconds, self._waited, [kind])
            timer.daemon = True
            timer.start()

    def _waited(self, kind: Hashable) -> None:
        with self._lock:
            if self._timers.get(kind) is threading.current_thread():  # else it was cancelled too late to notice
                del self._timers[kind]
                self._start(kind)

    def _run(self, kind: Hashable, batch: list[_Entry[T]]) -> None:
        """Answer what waits now, in the context of the first caller, so that its open spans apply."""
        batch += self._taken(kind)
        if batch:
            batch[0].context.run(_answer, batch)

    def _taken(self, kind: Hashable) -> Sequence[_Entry[T]]:
        """Those that come next and whose callers still wait."""
        taken: list[_Entry[T]] = []
        with self._lock:
            waiting = self._waiting.pop(kind, deque())
            while waiting and len(taken) < LARGEST and not (taken and (taken[-1].alone or waiting[0].alone)):
                entry = waiting.popleft()
                if entry.alone or entry.answer.set_running_or_notify_cancel():
                    taken.append(entry)
            self._answering += len(taken)
            if waiting:
                self._waiting[kind] = waiting
                self._look_again(kind, self._patience)
        return taken

    def _ended(self, kind: Hashable, batch: Sequence[_Entry[T]], done: "Future[None]") -> None:
        """Let the next batch start. What a batch that failed has left is answered again, one by one."""
        left = [entry for entry in batch if not entry.answer.done()]
        with self._lock:
            if left and len(batch) > 1:
                self._waiting[kind].extendleft(replace(entry, alone=True) for entry in reversed(left))
            self._answering -= len(batch)
            self._running[kind] -= 1
            self._start(kind)
            if not self._running[kind]:
                del self._running[kind], self._started[kind]
                if timer := self._timers.pop(kind, None):
                    timer.cancel()
        if left and len(batch) == 1:
            left[0].answer.set_exception(done.exception())


def _answer(batch: Sequence[_Entry[T]]) -> None:
    cancel_on(AllSet([entry.gone for entry in batch]))
    questions = [entry.question for entry in batch]
    for entry, answer in zip(batch, batch[0].work(questions), strict=True):
        entry.answer.set_result(answer)
