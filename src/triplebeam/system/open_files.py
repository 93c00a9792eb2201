"""The limit of open files: a process that has reached it is told so, and no index is called damaged for it."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from triplebeam.errors import TooManyOpenFilesError, TriplebeamError

_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)


@contextmanager
def explain_open_files() -> Iterator[None]:
    """Raise TooManyOpenFilesError where a file could not be opened because too many are, whatever was made of it."""
    try:
        yield
    except (OSError, TriplebeamError) as error:
        if is_out_of_files(error):
            raise TooManyOpenFilesError(_sentence()) from error
        raise


def is_out_of_files(error: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised for, comes from the limit of open files."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OUT_OF_FILES:
            return True
        error = error.__cause__ or error.__context__
    return False


def _sentence() -> str:
    fix = "close other programs, or raise the limit of the system."
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        fix = f"the limit of this process is {most:,}: raise it (`ulimit -n {max(4096, 4 * most)}`) and start again."
    return f"no more files can be opened: {fix}"
