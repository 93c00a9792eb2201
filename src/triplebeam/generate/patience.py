"""Waiting that ends at once when the batch one waits for is given up."""

import threading
import time
from contextvars import ContextVar

from triplebeam.errors import EndpointError

_stop_signal: ContextVar[threading.Event | None] = ContextVar("stop_signal", default=None)


class GivenUpError(EndpointError):
    """The batch was given up (Ctrl-C, or its endpoint is gone), so this prompt is not asked."""


def heed(stop: threading.Event) -> None:
    """Let this thread's pauses end when ``stop`` is set. A thread starts with a context of its own."""
    _stop_signal.set(stop)


def pause(seconds: float) -> None:
    """Sleep; raises GivenUpError as soon as the batch is given up."""
    stop = _stop_signal.get()
    if stop is None:
        time.sleep(seconds)
    elif stop.wait(seconds):
        raise GivenUpError("The batch was given up before this prompt was asked: ask it again.")
