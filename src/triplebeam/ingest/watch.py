"""Noticing changes by looking again and again: it works on every file system, and for folders of any size."""

from collections.abc import Callable, Iterator


def settled(look: Callable[[], object], wait: Callable[[], None]) -> Iterator[None]:
    """Yields at once, and then whenever what ``look`` returns has changed and was the same twice.

    So a file that is still being written is left alone until the next look.
    """
    done = before = look()
    yield
    while True:
        wait()
        now = look()
        if now == before and now != done:
            done = now
            yield
        before = now
