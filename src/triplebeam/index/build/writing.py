"""Writing to an index folder: one writer at a time, and only into a folder that is an index or may become one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from triplebeam.errors import BadInputError, IndexBusyError, IndexDamagedError, IndexMissingError
from triplebeam.index.folder.manifest import (
    MANIFEST,
    WRITE_LOCK,
    find_manifest,
    is_index,
    publish_manifest,
    read_manifest,
    remove_generations,
)
from triplebeam.index.store.store import Store
from triplebeam.index.store.tables import STORE, has_store
from triplebeam.system.database import remove_database
from triplebeam.system.durable import explain_disk_errors, make_folder


@contextmanager
def open_for_write(folder: Path) -> Iterator[Store]:
    """Open the store of an index, for one writer at a time; a new folder is made."""
    with explain_disk_errors(folder):
        try:
            make_folder(folder)
        except (FileExistsError, NotADirectoryError) as error:
            raise BadInputError(
                f"there can be no index at {folder} ({error.strerror}): name a folder that is new or an index already."
            ) from error
        _check_is_ours(folder)
        with write_lock(folder):
            # What a process did not get to publish, or to remove, before it was killed. A manifest that cannot be read
            # names no generation: all are kept.
            manifest = find_manifest(folder, whole=False)
            if manifest or not is_index(folder):
                remove_generations(folder / "generations", keep=manifest.generation if manifest else "")
            with closing(Store(folder / STORE)) as store:
                yield store


@contextmanager
def open_store_copy(folder: Path) -> Iterator[Store]:
    """Open a copy of the store of an index as it is now, without waiting for a writer. Nothing of it is kept."""
    with TemporaryDirectory(prefix="triplebeam-") as elsewhere:
        there = folder / STORE if has_store(folder) else None
        with closing(Store(Path(elsewhere) / STORE, copy_of=there)) as store:
            yield store


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other writers out of an existing folder; readers are not affected."""
    lock = FileLock(folder / WRITE_LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise IndexBusyError(
            f"another process is writing to {folder}: wait until it is done, then try again."
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def remove_failed_index(folder: Path) -> Iterator[None]:
    """Remove the half of a new index that cannot be made, because there is nothing to read."""
    new, made = not has_store(folder), not folder.exists()
    try:
        yield
    except BadInputError:
        if new and has_store(folder):
            with write_lock(folder), open_store_copy(folder) as store:
                if not store.statistics.counts()["documents"]:
                    remove_database(folder / STORE)
                    with suppress(OSError):  # Windows keeps what is open
                        (folder / WRITE_LOCK).unlink()
        if made:
            with suppress(OSError):  # something is in it
                folder.rmdir()
        raise


def require_index(folder: Path, therefore: str) -> None:
    """Raise where there is no index; ``therefore`` says what cannot be done."""
    if not has_store(folder):
        raise IndexMissingError(
            f"there is no index at {folder}, so {therefore}: make one with `triplebeam index {folder} SOURCE…`."
        )


def set_share(folder: Path, share: float | None) -> None:
    """Set how much walks count in the default search, for this generation and those to come; None: as measured."""
    with open_for_write(folder) as store:
        with store.transaction():
            store.meta.set("tuned_share", "" if share is None else str(share))
        publish_manifest(folder, read_manifest(folder).model_copy(update={"tuned_share": share}))


def _check_is_ours(folder: Path) -> None:
    """Refuse to write into a folder of something else, to start a new index under the manifest of another, and to
    replace what has another format.
    """
    find_manifest(folder)
    there = (folder / STORE).exists()
    # A killed process may have left everything in the log beside the file.
    written = any(path.exists() and path.stat().st_size for path in (folder / STORE, folder / f"{STORE}-wal"))
    if (folder / MANIFEST).exists() and (folder / "generations").is_dir() and not written:
        raise IndexDamagedError(
            f"{folder / STORE} is {'empty' if there else 'missing'}, so the index can be searched but not added to:"
            " restore the file from a copy, or index into a new folder."
        )
    if there:
        return
    others = sorted(path.name for path in folder.iterdir() if path.name != WRITE_LOCK and path.name[0] != ".")
    if others:
        raise BadInputError(
            f"{folder} is no index and holds other files, such as {others[0]!r}: name a folder that is new, or empty."
        )
