"""The manifest: which generation of an index is published, and what is in it.

A generation is a numbered folder of files written once. Publishing is one atomic rename of ``manifest.json``, so a
reader sees the old generation or the new one, whole. The next one takes over what of its files is whole.
"""

import glob
import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from triplebeam.errors import REPAIR, IndexDamagedError, IndexFormatError, IndexMissingError
from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays
from triplebeam.index.arrays.folder_arrays import FolderArrays, compute_checksum
from triplebeam.index.source import Manifest, check_format
from triplebeam.index.store.tables import STORE
from triplebeam.system.durable import open_to_read, replace_file

MANIFEST = "manifest.json"
WRITE_LOCK = "write.lock"

T = TypeVar("T")
_VECTORS = ("_vectors.npy", "_vectors.codes")
#: Bytes whose checksums are computed when an index is opened: a few tenths of a second.
_MAX_BYTES_CHECKED = 256_000_000
#: The last field of a manifest: the CRC-32 of what it would be without it.
_SEAL = ',\n  "checksum": '


def is_index(folder: Path) -> bool:
    """Return whether there is a published index in this folder."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of an index, and that the files it names are there."""
    try:
        manifest = _load_manifest(folder / MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise _make_missing_error(folder) from None
    check_files(generation_folder(folder, manifest.generation), manifest.files)
    return manifest


def find_manifest(folder: Path, *, whole: bool = True) -> Manifest | None:
    """Return the manifest, or None where there is none or it cannot be read, since it can be derived again.

    Only where it is ``whole`` do the files it names have to be there. Then an index of another format is an error: this
    Triplebeam would replace what it does not know.
    """
    try:
        return read_manifest(folder) if whole else _load_manifest(folder / MANIFEST)
    except IndexFormatError:
        if whole:
            raise
    except (IndexMissingError, IndexDamagedError, FileNotFoundError, NotADirectoryError):
        pass
    return None


def check_files(generation: Path, files: Mapping[str, int]) -> None:
    """Raise where a file is missing or has another size than when it was written."""
    for name, size in files.items():
        path = generation / name
        try:
            found = path.stat().st_size
        except OSError:
            raise IndexDamagedError(f"{path} is missing: {REPAIR}") from None
        if found != size:
            raise IndexDamagedError(f"{path} has {found} bytes where {size} were written: {REPAIR}")


def make_empty_error(folder: Path) -> IndexMissingError:
    """Return the error where an index has no documents, or no longer any."""
    return IndexMissingError(f"the index at {folder} is empty: add documents with `triplebeam index {folder} SOURCE…`.")


def _make_missing_error(folder: Path) -> IndexMissingError:
    store, hint = folder / STORE, "make one with"
    if store.exists():
        if _is_being_written(folder):
            return IndexMissingError(
                f"the index at {folder} is being written for the first time: wait until it is done."
            )
        if _has_no_passages(store):
            return make_empty_error(folder)
        hint = "its first indexing did not finish: run the same"
    named = next(filter(is_index, folder.parent.glob(f"{glob.escape(folder.stem)}.*")), None)
    if folder.name and not store.exists() and named:
        return IndexMissingError(f"there is no index at {folder}: did you mean {named}?")
    return IndexMissingError(f"there is no index at {folder}: {hint} `triplebeam index {folder} SOURCE…`.")


def _is_being_written(folder: Path) -> bool:
    """Return whether a writer holds the lock of the folder."""
    from filelock import FileLock, Timeout  # needed only where there is no index to read

    lock = FileLock(folder / WRITE_LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:  # a folder that only allows reading has no writer
        return False
    lock.release()
    return False


def _has_no_passages(store: Path) -> bool:
    """Return whether the store is intact and has no passages."""
    try:
        with closing(open_to_read(store)) as db:
            return db.execute("SELECT 1 FROM passage LIMIT 1").fetchone() is None
    except sqlite3.DatabaseError:
        return False


def retry_on_publish(folder: Path, read: Callable[[], T]) -> T:
    """Read something of an index, and again where a writer publishes the next generation, and removes this one, under
    one's hands.
    """
    while True:
        version = read_version(folder)
        try:
            return read()
        except IndexDamagedError:
            if read_version(folder) == version:
                raise


def read_version(folder: Path) -> tuple[int, int, int] | None:
    """Return what changes with every generation: the manifest is a new file each time. None where there is none."""
    try:
        stat = (folder / MANIFEST).stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def check_contents(folder: Path, manifest: Manifest) -> None:
    """Raise if a file of a generation is not what was written, by a quick check.

    Vectors are left out, which are most of the bytes: up to 300,000 of a kind are checked when they are first used. So
    are the largest files, where all together have more than ``_MAX_BYTES_CHECKED`` bytes. `PreviousGeneration` checks
    everything.
    """
    generation, left = generation_folder(folder, manifest.generation), _MAX_BYTES_CHECKED
    for name in sorted(manifest.checksums, key=lambda name: manifest.files[name]):
        if name.endswith(_VECTORS):
            continue
        left -= manifest.files[name]
        if left < 0:
            break
        if compute_checksum(generation / name) != manifest.checksums[name]:
            raise IndexDamagedError(f"{generation / name} is corrupted: {REPAIR}")


def generation_folder(folder: Path, generation: str) -> Path:
    """Return the folder of an index's generation."""
    return folder / "generations" / generation


def _load_manifest(path: Path) -> Manifest:
    """Load a manifest from its file; FileNotFoundError where there is none."""
    try:
        text = path.read_text(encoding="utf-8")
        sealed, seal, rest = text.rpartition(_SEAL)
        if seal and rest.strip("\n}") != str(zlib.crc32(f"{sealed}\n}}".encode())):
            raise ValueError("its checksum is another")
        content = json.loads(text)
        check_format(path, content["format"])
        return Manifest.model_validate(content)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise IndexDamagedError(f"{path} cannot be read ({error}): check its permissions, or {REPAIR}") from error
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise IndexDamagedError(f"{path} cannot be read ({type(error).__name__}): {REPAIR}") from error


def publish_manifest(folder: Path, manifest: Manifest) -> None:
    """Make this the manifest that readers see, in one step. What it names must be on the disk already."""
    text = manifest.model_dump_json(indent=2)
    replace_file(folder / MANIFEST, f"{text[:-2]}{_SEAL}{zlib.crc32(text.encode())}\n}}\n")


def remove_unless_published(folder: Path, generation: Path) -> None:
    """Remove a generation that could not be finished or published: it would fill a disk that is full already."""
    manifest = find_manifest(folder, whole=False)
    if manifest is None or manifest.generation != generation.name:
        shutil.rmtree(generation, ignore_errors=True)


def create_generation(parent: Path) -> Path:
    """Create a new folder, numbered above every generation there is, published or not."""
    folder = parent / f"{max((int(path.name) for path in _list_generations(parent)), default=0) + 1:06d}"
    folder.mkdir(parents=True)
    return folder


def remove_generations(parent: Path, keep: str = "") -> None:
    """Remove all generations but one. Where the system refuses (a reader has it open), the next run retries."""
    for path in _list_generations(parent):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def _list_generations(parent: Path) -> list[Path]:
    return [path for path in parent.glob("*") if path.name.isdigit()]


@dataclass(frozen=True)
class PreviousGeneration:
    """Arrays that are whole, and the names of files that are not."""

    arrays: ArraySet = field(default_factory=MemoryArrays)
    damaged: frozenset[str] = frozenset()

    @classmethod
    def of(cls, folder: Path) -> "PreviousGeneration":
        """Open the previous generation of an index; it is empty where there is none, or one of another format."""
        manifest = find_manifest(folder, whole=False)
        if manifest is None:
            return cls()
        generation = generation_folder(folder, manifest.generation)
        found = FolderArrays(generation).checksums()
        whole = frozenset(name for name, expected in manifest.checksums.items() if found.get(name) == expected)
        return cls(FolderArrays(generation, whole=whole), frozenset(manifest.files) - whole)


def find_damaged_files(folder: Path) -> list[str]:
    """Find all files of the published generation that have changed since they were written."""
    return sorted(PreviousGeneration.of(folder).damaged)
