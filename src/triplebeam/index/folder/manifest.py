"""The manifest: which generation of an index is published, and what is in it.

A generation is a numbered folder of files written once. Publishing is one atomic rename of ``manifest.json``, so a
reader sees the old generation or the new one, whole.
"""

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from triplebeam.embed.embedder import Embedder, reads_tokens
from triplebeam.errors import (
    INDEX_AGAIN,
    REPAIR,
    EmbedderMismatchError,
    IndexDamagedError,
    IndexFormatError,
    IndexMissingError,
)
from triplebeam.index.arrays.folder_arrays import compute_checksum
from triplebeam.index.content.topics import Ownership
from triplebeam.index.folder.passage_graph import MAX_PASSAGES, GraphStatistics
from triplebeam.index.store.corrections import CorrectionCounts
from triplebeam.system.database import open_to_read
from triplebeam.system.durable import replace_file

FORMAT = 1
MANIFEST = "manifest.json"
STORE = "store.sqlite"
WRITE_LOCK = "write.lock"

T = TypeVar("T")
_VECTORS = ("_vectors.npy", "_vectors.codes")
#: Bytes whose checksums are computed when an index is opened: a few tenths of a second.
_CHECKED_WHEN_OPENED = 256_000_000
#: The last field of a manifest: the CRC-32 of what it would be without it.
_SEAL = ',\n  "checksum": '


class VectorSpace(BaseModel):
    """An embedder as the manifest names it."""

    model_config = ConfigDict(frozen=True)

    name: str
    fingerprint: str
    dimension: int
    triples_in_context: bool = False
    """Whether the vectors of triples come from the reading of their passages, as in indexes made since that is done."""

    @classmethod
    def of(cls, embedder: Embedder, *, triples_in_context: bool = True) -> "VectorSpace":
        """The space an embedder encodes into."""
        return cls(
            name=embedder.name,
            fingerprint=embedder.fingerprint,
            dimension=embedder.dimension,
            triples_in_context=triples_in_context and reads_tokens(embedder),
        )

    def check(self, embedder: Embedder) -> None:
        """Raise where an embedder encodes into another space than this one."""
        other = VectorSpace.of(embedder)
        if (self.fingerprint, self.dimension) != (other.fingerprint, other.dimension):
            raise EmbedderMismatchError(
                f"the index was built with the embedder {self}, not with {other}:"
                f" use `--embedder {self.name}`, or index into a new folder."
            )

    def __str__(self) -> str:
        return f"{self.name!r} ({self.dimension} dimensions, fingerprint {self.fingerprint[:12]})"


class Manifest(BaseModel):
    """What ``manifest.json`` holds."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    triplebeam: str
    created: str
    generation: str
    revision: int
    embedder: VectorSpace
    counts: dict[str, int]
    triples_by_extractor: dict[str, int]
    extractor: str | None = None
    """The extractor of new passages."""
    unread_languages: dict[str, int] = {}
    """Passages by the code of their language, where the extractor does not read it."""
    passage_graph: GraphStatistics
    keyword_passages: int = MAX_PASSAGES
    """A keyword of more passages makes no edges between them; 0: every keyword does."""
    ownership: Ownership
    tuned_share: float | None = None
    """How much walks count in the default search, where `triplebeam tune` chose it."""
    corrections: CorrectionCounts | None = None
    """What a person corrected."""
    files: dict[str, int]
    """Each file of the generation with its size, so that opening an index notices a missing or truncated file."""
    checksums: dict[str, int] = {}
    """And with its CRC-32, so that damage that leaves the size alone is noticed, too."""

    @property
    def share(self) -> float:
        """How much walks count in the default search: as it was tuned, else by the ownership."""
        return self.ownership.share if self.tuned_share is None else self.tuned_share


def is_index(folder: Path) -> bool:
    """Is there a published index in this folder?"""
    return (folder / MANIFEST).is_file()


def published(folder: Path) -> Manifest | None:
    """What is published now; what cannot be read counts as nothing, since it can be derived again. An
    index of another format is an error: this Triplebeam would replace what it does not know.
    """
    try:
        return read_manifest(folder)
    except (IndexMissingError, IndexDamagedError):
        return None


def recorded(folder: Path) -> Manifest | None:
    """What the manifest says, whether the files it names are whole or not; None where it cannot be read."""
    try:
        return _load_manifest(folder / MANIFEST)
    except (OSError, IndexDamagedError, IndexFormatError):
        return None


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of an index, and that the files it names are there."""
    try:
        manifest = _load_manifest(folder / MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise _not_published(folder) from None
    check_files(generation_folder(folder, manifest.generation), manifest.files)
    return manifest


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


def empty_index(folder: Path) -> IndexMissingError:
    """The error where an index has no documents, or no longer any."""
    return IndexMissingError(f"the index at {folder} is empty: add documents with `triplebeam index {folder} SOURCE…`.")


def _not_published(folder: Path) -> IndexMissingError:
    store, hint = folder / STORE, "make one with"
    if store.exists():
        if _is_being_written(folder):
            return IndexMissingError(
                f"the index at {folder} is being written for the first time: wait until it is done."
            )
        if _has_no_passages(store):
            return empty_index(folder)
        hint = "its first indexing did not finish: run the same"
    named = folder.with_name(f"{folder.name}.index")
    if folder.name and not store.exists() and is_index(named):
        return IndexMissingError(f"there is no index at {folder}: did you mean {named}?")
    return IndexMissingError(f"there is no index at {folder}: {hint} `triplebeam index {folder} SOURCE…`.")


def _is_being_written(folder: Path) -> bool:
    """Does a writer hold the lock of the folder?"""
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
    """Is the store sound, and without passages?"""
    try:
        with closing(open_to_read(store)) as db:
            return db.execute("SELECT 1 FROM passage LIMIT 1").fetchone() is None
    except sqlite3.DatabaseError:
        return False


def retried(folder: Path, read: Callable[[], T]) -> T:
    """Read something of an index, and again where a writer publishes the next generation, and removes this one, under
    one's hands.
    """
    while True:
        version = _version(folder)
        try:
            return read()
        except IndexDamagedError:
            if _version(folder) == version:
                raise


def _version(folder: Path) -> tuple[int, int] | None:
    try:
        stat = (folder / MANIFEST).stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns


def check_contents(folder: Path, manifest: Manifest) -> None:
    """Raise where a file of a generation is not what was written, as far as that can be known in little time.

    Vectors are left out, which are most of the bytes: up to 300,000 of a kind are checked when they are first used. So
    are the largest files, where all together have more than ``_CHECKED_WHEN_OPENED`` bytes. `PreviousGeneration` checks
    everything.
    """
    generation, left = generation_folder(folder, manifest.generation), _CHECKED_WHEN_OPENED
    for name in sorted(manifest.checksums, key=lambda name: manifest.files[name]):
        if name.endswith(_VECTORS):
            continue
        left -= manifest.files[name]
        if left < 0:
            break
        if compute_checksum(generation / name) != manifest.checksums[name]:
            raise IndexDamagedError(f"{generation / name} is not as it was written: {REPAIR}")


def generation_folder(folder: Path, generation: str) -> Path:
    """Where the files of an index's generation are."""
    return folder / "generations" / generation


def _load_manifest(path: Path) -> Manifest:
    """A manifest from its file; FileNotFoundError where there is none."""
    try:
        content = json.loads(_unsealed(path.read_text(encoding="utf-8")))
        check_format(path, content["format"])
        return Manifest.model_validate(content)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise IndexDamagedError(f"{path} cannot be read ({error}): check its permissions, or {REPAIR}") from error
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise IndexDamagedError(f"{path} cannot be read ({type(error).__name__}): {REPAIR}") from error


def check_format(place: Path | str, found: int) -> None:
    """Raise where an index has another format than this Triplebeam reads and writes."""
    if found != FORMAT:
        raise IndexFormatError(f"{place} has format {found}, this Triplebeam reads format {FORMAT}: {INDEX_AGAIN}")


def publish(folder: Path, manifest: Manifest) -> None:
    """Make this the manifest that readers see, in one step. What it names must be on the disk already."""
    text = manifest.model_dump_json(indent=2)
    replace_file(folder / MANIFEST, f"{text[:-2]}{_SEAL}{zlib.crc32(text.encode())}\n}}\n")


def _unsealed(text: str) -> str:
    """The JSON of a manifest; ValueError where it does not have the checksum that it ends with, if it has any."""
    content, seal, rest = text.rpartition(_SEAL)
    if seal and rest.strip("\n}") != str(zlib.crc32(f"{content}\n}}".encode())):
        raise ValueError("its checksum is another")
    return text


@contextmanager
def removed_on_error(folder: Path, generation: Path) -> Iterator[None]:
    """Remove a generation that cannot be finished or published: it would fill a disk that is full already."""
    try:
        yield
    except BaseException:
        manifest = recorded(folder)
        if manifest is None or manifest.generation != generation.name:
            shutil.rmtree(generation, ignore_errors=True)
        raise
