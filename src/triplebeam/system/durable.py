"""Files that a power cut does not undo: what the disk has not been asked to write may be gone, whatever its name.

SQLite files have write-ahead logging, a format number and transactions: what was committed is on the disk. Errors of
the disk, and the limit of open files, are told in words: no index is called damaged for them.
"""

import errno
import os
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from triplebeam.errors import (
    CannotWriteError,
    DiskFullError,
    IndexDamagedError,
    IndexFormatError,
    TooManyOpenFilesError,
    TriplebeamError,
)

_MAX_THREADS = 16
_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
#: By SQLite's own names. Where a disk is full it says so, unless there is a quota, a limit for files, a log to be
#: enlarged, or a file system that notices when it flushes.
_SQLITE_FULL = frozenset(
    f"SQLITE_{name}"
    for name in (
        "FULL",
        "IOERR_WRITE",
        "IOERR_FSYNC",
        "IOERR_DIR_FSYNC",
        "IOERR_TRUNCATE",
        "IOERR_SHMOPEN",
        "IOERR_SHMSIZE",
        "IOERR_SHMMAP",
    )
)
_SQLITE_READ_ONLY = ("SQLITE_READONLY", "SQLITE_CANTOPEN")
_SQLITE_DISK = "SQLITE_IOERR"
_SECONDS_TO_WAIT_FOR_A_WRITER = 60.0


@contextmanager
def explain_disk_errors(place: Path) -> Iterator[None]:
    """Report a full or read-only disk in one sentence. ``place`` is what is written to."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        raise_cannot_write(error, place)
        raise


def raise_cannot_write(error: OSError | sqlite3.Error, place: Path) -> None:
    """Raise CannotWriteError where nothing can be written, IndexDamagedError where the disk fails; else do nothing."""
    sqlite = getattr(error, "sqlite_errorname", "")
    number = error.errno if isinstance(error, OSError) else None
    # NumPy has no number for it: "262144 requested and 4096 written".
    if number in _FULL or sqlite in _SQLITE_FULL or str(error).endswith(" written"):
        kind: type[CannotWriteError] = DiskFullError
        advice = "free some space on its disk, then do the same again; what was there before is as it was."
    elif number in _READ_ONLY or sqlite.startswith(_SQLITE_READ_ONLY):
        kind = CannotWriteError
        advice = "check its permissions, and whether its disk is mounted read-only."
    elif sqlite.startswith(_SQLITE_DISK):
        raise IndexDamagedError(
            f"the disk of {place} reports an error ({error}, {sqlite}): look into the system's log, and copy the folder"
            " to another disk as long as it can be read."
        ) from error
    else:
        return
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    raise kind(f"{place} cannot be written to ({reason}): {advice}") from error


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot open a folder, and need not
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows flushes only what it may write
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_tree(folder: Path) -> None:
    """Flush everything in a folder, and the folder's own name, to disk: all at once, since a disk that is asked
    for one file after the other takes several times as long.
    """
    with ThreadPoolExecutor(_MAX_THREADS) as pool:
        for done in [pool.submit(flush, path) for path in (*folder.rglob("*"), folder, folder.parent)]:
            done.result()


def stat_of(path: Path) -> os.stat_result | None:
    """Stat a path; None where nothing is there, or a link to nothing; raises where that cannot be found out."""
    try:
        return path.stat()
    except ValueError:  # a null character is in no name
        return None
    except OSError as error:
        if error.errno in _NOTHING_THERE:
            return None
        raise


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, whose names are on the disk when this returns."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(new):
        flush(each.parent)


def replace_file(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write a file, or replace it in one step: after a power cut it is the old one or the new one, whole."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(draft, flags, mode), "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    flush(draft)
    draft.replace(path)
    flush(path.parent)


@contextmanager
def explain_open_files() -> Iterator[None]:
    """Raise TooManyOpenFilesError where a file could not be opened because too many are, whatever was made of it."""
    try:
        yield
    except (OSError, TriplebeamError) as error:
        if is_out_of_files(error):
            raise TooManyOpenFilesError(f"no more files can be opened: {_advise_on_open_files()}") from error
        raise


def is_out_of_files(error: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised for, comes from the limit of open files."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OUT_OF_FILES:
            return True
        error = error.__cause__ or error.__context__
    return False


def _advise_on_open_files() -> str:
    if sys.platform == "win32":
        return "close other programs, or raise the limit of the system."
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return f"the limit of this process is {most:,}: raise it (`ulimit -n {max(4096, 4 * most)}`) and start again."


def open_database(path: Path, schema: str, *upgrades: str) -> sqlite3.Connection:
    """Open a connection for any thread, one at a time; a new file gets the tables of ``schema``, an older one those of
    the upgrades it has not had. Each of them raises the format, which begins at 1, by one.

    Raises sqlite3.Error for a file that cannot be used, IndexFormatError for one of a format that is not known.
    """
    with ExitStack() as on_error:
        db = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT_FOR_A_WRITER, isolation_level=None, check_same_thread=False)
        on_error.callback(db.close)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
            db.execute(f"PRAGMA {pragma}")
        newest = 1 + len(upgrades)
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > newest:
            raise IndexFormatError(
                f"{path} has format {version}, this Triplebeam reads format {newest}: upgrade Triplebeam."
            )
        if version < newest:
            change = " ".join(upgrades[version - 1 :]) if version else schema
            db.executescript(f"BEGIN; {change} PRAGMA user_version = {newest}; COMMIT;")
        on_error.pop_all()
        return db


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a connection for reading, whoever else is writing; in a folder that cannot be written to, too."""
    db = _connect(path, "rw")  # not "ro", which leaves a log behind
    try:
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT 1 FROM sqlite_schema")
    except sqlite3.OperationalError:  # there is no log, and none can be made: nobody is writing
        db.close()
        return _connect(path, "ro&immutable=1")
    return db


def has_tables(db: sqlite3.Connection) -> bool:
    """Return False for a file whose making was interrupted: by a kill, or because the disk was full."""
    return db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False)


def rewrite(db: sqlite3.Connection) -> None:
    """Write the file anew: without the space, and without a byte, of what was removed."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def remove_database(path: Path) -> None:
    """Remove a file that no connection has open, with its log."""
    for ending in ("-wal", "-shm", ""):
        path.with_name(path.name + ending).unlink(missing_ok=True)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Begin a transaction: all of what is written inside, or none of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.execute("COMMIT")
    finally:
        if db.in_transaction:  # neither committed, nor ended already by a full disk
            db.execute("ROLLBACK")
