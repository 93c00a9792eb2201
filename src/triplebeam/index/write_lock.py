"""One writer at a time in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from triplebeam.errors import BadInputError, IndexBusyError

LOCK = "write.lock"


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other writers out of an existing folder; readers are not affected."""
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise IndexBusyError(
            f"another process is writing to {folder}: wait until it is done, then try again."
        ) from None
    except OSError as error:
        raise BadInputError(
            f"{folder} cannot be written to ({error.strerror}): check its permissions, or index into another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()
