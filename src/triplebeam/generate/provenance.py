"""Where the words of a prompt may come from: the replies that came before it in the same run.

A later prompt of an agent may repeat what an earlier reply said of a document, in words that no document has. So a
reply is cached with the numbers of the earlier replies, and forgotten with any of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: The number of an earlier reply that nobody knows: one of a conversation, say. What follows it is forgotten whenever
#: anything is.
UNKNOWN_ORIGIN = 0

_SHOWN: ContextVar[set[int] | None] = ContextVar("replies_shown", default=None)


@contextmanager
def follow_run(shown: set[int]) -> Iterator[None]:
    """Note replies in ``shown``, and count these as shown to the prompts inside. A run within a run is a part of it."""
    token = _SHOWN.set(shown) if _SHOWN.get() is None else None
    try:
        yield
    finally:
        if token:
            _SHOWN.reset(token)


def replies_shown() -> frozenset[int]:
    """Return the numbers of the replies that a prompt may repeat now."""
    return frozenset(_SHOWN.get() or ())


def note_reply(number: int) -> None:
    """Note that later prompts of the run may repeat a reply."""
    shown = _SHOWN.get()
    if shown is not None and UNKNOWN_ORIGIN not in shown:
        shown.add(number)
