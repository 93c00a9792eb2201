"""From asyncio to the library, which is synchronous: work goes to a thread, and stops when its task is cancelled."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from triplebeam.generate.cancellation import cancel_on

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns. Once the task that awaits it is cancelled, it calls no language model any more."""
    stop = threading.Event()

    def stoppable() -> T:
        cancel_on(stop)
        return work()

    try:
        return await asyncio.to_thread(stoppable)
    finally:
        stop.set()
