"""Long-running work: how it reports its progress, how many processors it may use, and how it is cancelled.

A thread that is cancelled stops sleeping and starts no further request, no further batch of texts to encode and no
further step of a search. `run_in_thread` is the way from asyncio to the library, which is synchronous: a cancelled task
cancels its thread.
"""

import os
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

from triplebeam.errors import EndpointError

#: Called with the stage ("read", "extract", "embed", ...), the work done and all the work of that stage, or 0 while
#: that is unknown. Both count what people count (documents, passages, texts), at a pace that is about even.
Progress: TypeAlias = Callable[[str, int, int], None]
T = TypeVar("T")
_cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class WorkCancelledError(EndpointError):
    """The work was cancelled (Ctrl-C, a time limit, or its endpoint is gone), so nothing more is sent."""


def cancel_on(event: threading.Event) -> None:
    """Cancel what this thread does once ``event`` is set. Every thread starts with a context of its own."""
    _cancelled.set(event)


def sleep(seconds: float) -> None:
    """Sleep, or raise WorkCancelledError as soon as the work is cancelled."""
    event = _cancelled.get()
    if event is None:
        time.sleep(seconds)
    else:
        event.wait(seconds)
        check_cancelled()


def check_cancelled() -> None:
    """Raise WorkCancelledError if this thread's work is cancelled."""
    event = _cancelled.get()
    if event is not None and event.is_set():
        raise WorkCancelledError("The work was cancelled: start it again.")


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread. Once the task that awaits it is cancelled, it sends no further request."""
    import asyncio  # slow to import, and no command needs it

    stop = threading.Event()

    def run_cancellable() -> T:
        cancel_on(stop)
        return work()

    try:
        return await asyncio.to_thread(run_cancellable)
    finally:
        stop.set()


def processors() -> int:
    """Count the processors this process may use, which can be fewer than the machine has. ``OMP_NUM_THREADS`` is the
    usual way to say so; a cluster sets it for each of its workers.
    """
    most = os.environ.get("OMP_NUM_THREADS", "")
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, int(most)) if most.isdecimal() and int(most) else there
