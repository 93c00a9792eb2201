"""Vectors of texts, by what was encoded, so that no text is encoded twice.

A vector is stored once: in the published generation. Encoding is the expensive part of indexing, so what is encoded for
the next generation is kept in ``encoded.sqlite`` until that is published; a build that was killed continues from there.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from triplebeam.database import open_database, remove_database, rewrite, transaction
from triplebeam.errors import IndexDamagedError
from triplebeam.index.keys import key_of, read_keys, rows_of, write_keys
from triplebeam.index.manifest import LastGeneration
from triplebeam.index.store import Store
from triplebeam.index.vectors import quantized, write_vectors

_FILE = "encoded.sqlite"
_SCHEMA = "CREATE TABLE vector (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);"
_KINDS = ("passage", "triple", "entity")
_MOVED_AT_A_TIME = 4096


class EncodedTexts:
    """The vectors there are: those of the last generation, and those encoded since."""

    def __init__(self, folder: Path, fingerprint: str, dimension: int, last: LastGeneration) -> None:
        self._dimension = dimension
        self._key = cache(partial(key_of, fingerprint))
        self._path = folder / _FILE
        try:
            self._db = open_database(self._path, _SCHEMA)
        except sqlite3.DatabaseError as error:
            raise IndexDamagedError(
                f"{self._path} is not a usable SQLite file ({error}): delete it; what it held is encoded again."
            ) from error
        self._published: list[tuple[NDArray[np.int8], dict[bytes, int]]] = []
        for kind in _KINDS:
            vectors, keys = f"{kind}_vectors.npy", f"{kind}_keys.npy"
            if last.has(vectors, keys):
                self._published.append((np.load(last.folder / vectors, mmap_mode="r"), read_keys(last.folder / keys)))

    def __enter__(self) -> "EncodedTexts":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Those of the texts that have no vector yet, each once."""
        unique = {self._key(text): text for text in texts}
        for known in (self._pending(), *(keys for _, keys in self._published)):
            unique = {key: text for key, text in unique.items() if key not in known}
        return list(unique.values())

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep what was just encoded."""
        self.put_stored({self._key(text): row.tobytes() for text, row in zip(texts, quantized(vectors), strict=True)})

    def put_stored(self, rows: Mapping[bytes, bytes]) -> None:
        """Keep vectors in their stored form, by key."""
        with transaction(self._db) as db:
            db.executemany("INSERT OR IGNORE INTO vector (key, vector) VALUES (?, ?)", rows.items())

    def write(self, generation: Path, kind: str, texts: Sequence[str]) -> NDArray[np.int8]:
        """Write the vectors of texts into a new generation; returns them."""
        keys = [self._key(text) for text in texts]
        stored = np.zeros((len(keys), self._dimension), np.int8)
        waiting = np.ones(len(keys), bool)
        for vectors, known in self._published:
            rows = rows_of(keys, known)
            taken = waiting & (rows >= 0)
            stored[taken] = vectors[rows[taken]]
            waiting &= ~taken
        for place in np.flatnonzero(waiting):
            stored[place] = self._encoded_since(keys[place])
        write_vectors(generation / f"{kind}_vectors.npy", stored)
        write_keys(generation / f"{kind}_keys.npy", keys)
        return stored

    def keep_only(self, texts: Iterable[str]) -> None:
        """Remove, to the last byte, what was encoded for texts that are no longer there, or are published by now."""
        needed = {self._key(text) for text in texts}.difference(*(keys for _, keys in self._published))
        if not needed & self._pending():
            self.remove()
            return
        with transaction(self._db) as db:
            db.executemany("DELETE FROM vector WHERE key = ?", [(key,) for key in self._pending() - needed])
        rewrite(self._db)

    def remove(self) -> None:
        """Remove what was kept until now: it is published."""
        self._db.close()
        remove_encoded(self._path.parent)

    def _pending(self) -> set[bytes]:
        return {key for (key,) in self._db.execute("SELECT key FROM vector")}

    def _encoded_since(self, key: bytes) -> NDArray[np.int8]:
        row = self._db.execute("SELECT vector FROM vector WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise IndexDamagedError("a vector is missing from the index: run `triplebeam index` again.")
        return np.frombuffer(row[0], np.int8)


def remove_encoded(folder: Path) -> None:
    """Remove what was encoded for an index and not published."""
    remove_database(folder / _FILE)


def take_over(store: Store, encoded: EncodedTexts) -> None:
    """Move the vectors of an older format, which are in single precision, out of the store."""
    if not store.db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector'").fetchone():
        return
    rows = store.db.execute("SELECT key, vector FROM vector")
    while window := rows.fetchmany(_MOVED_AT_A_TIME):
        stored = quantized(np.stack([np.frombuffer(vector, np.float32) for _, vector in window]))
        encoded.put_stored({key: row.tobytes() for (key, _), row in zip(window, stored, strict=True)})
    store.db.execute("DROP TABLE vector")
    rewrite(store.db)
