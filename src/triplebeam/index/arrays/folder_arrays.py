"""Arrays in the files of a folder: written once, memory-mapped by readers.

Opening costs nothing however large the files are, and a read-only folder will do.
"""

import mmap
import zlib
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import REPAIR, IndexDamagedError
from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.system.durable import flush_tree

#: The header of an array is a Python literal, and CPython 3.11 cannot always parse two at once: "SystemError: AST
#: constructor recursion depth mismatch".
_READING_HEADERS = Lock()
_CHUNK_BYTES = 1 << 20


class FolderArrays(ArraySet):
    """An array is the file ``name.npy``, a column ``name.utf8`` and ``name.offsets.npy``; a set within is a folder.

    ``whole`` are the files that may be read, by their paths in the folder; None: all. ``checksums`` are those that
    files were written with, where they are known.
    """

    def __init__(
        self,
        folder: Path,
        checksums: Mapping[str, int] | None = None,
        whole: Container[str] | None = None,
        *,
        prefix: str = "",
    ) -> None:
        self.folder = folder
        self._checksums, self._whole, self._prefix = checksums or {}, whole, prefix

    def __contains__(self, name: object) -> bool:
        """Return whether the files of an array or a string column of this name exist."""
        return self._has(f"{name}.npy") or (self._has(f"{name}.utf8") and self._has(f"{name}.offsets.npy"))

    def _has(self, file: str) -> bool:
        return (self.folder / file).is_file() if self._whole is None else self._prefix + file in self._whole

    def array(self, name: str) -> NDArray[Any]:
        """Map an array. A plain view, since slicing a `memmap` costs more than the reading; NumPy resolves a `Path`."""
        with _READING_HEADERS:
            return np.asarray(np.load(self.locate(f"{name}.npy"), mmap_mode="r"))

    def read_bytes(self, name: str) -> NDArray[np.uint8]:
        """Map a file of bytes."""
        path = self.folder / name
        # An empty file cannot be memory-mapped.
        return np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.zeros(0, np.uint8)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write a file."""
        self.folder.mkdir(exist_ok=True)
        np.save(self.folder / f"{name}.npy", array)

    def add_bytes(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write a file."""
        self.folder.mkdir(exist_ok=True)
        with (self.folder / name).open("wb") as file:
            for part in parts:
                file.write(part)

    def open_subset(self, name: str) -> "FolderArrays":
        """Return the set in a folder below."""
        return FolderArrays(self.folder / name, self._checksums, self._whole, prefix=f"{self._prefix}{name}/")

    def locate(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder / name)

    def verify(self, name: str, array: NDArray[Any]) -> None:
        """Raise IndexDamagedError where a mapped file does not have the checksum that it was written with."""
        content = _find_mmap(array)
        for file in (f"{name}.npy", name):
            expected = self._checksums.get(self._prefix + file)
            if expected is not None and content is not None and zlib.crc32(content) != expected:
                raise IndexDamagedError(f"{self.locate(file)} is corrupted: {REPAIR}")

    def flush(self) -> None:
        """Flush everything to disk."""
        flush_tree(self.folder)

    def sizes(self) -> dict[str, int]:
        """Return the size of every file, by its path in the folder."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.stat().st_size for path in files}

    def checksums(self) -> dict[str, int]:
        """Return the CRC-32 of every file, as it is now."""
        return {name: compute_checksum(self.folder / name) for name in self.sizes()}


def compute_checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    total = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            total = zlib.crc32(chunk, total)
    return total


def release_pages(array: NDArray[Any]) -> None:
    """Release the pages of a mapped array: they stay in the system's cache, and no longer count as our memory."""
    file = _find_mmap(array)
    if file is not None and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        file.madvise(mmap.MADV_DONTNEED)


def _find_mmap(array: NDArray[Any]) -> mmap.mmap | None:
    """Return the file that an array is mapped from, with its header; None where it is in memory."""
    owner: Any = array
    while not (owner is None or isinstance(owner, mmap.mmap)):
        owner = getattr(owner, "base", None)
    return owner
