"""Vectors of texts, by what was encoded, so that no text is encoded twice.

A vector is stored once: in the published generation. Encoding is the expensive part of indexing, so what is encoded for
the next generation is kept in ``encoded.sqlite`` until that is published; a build that was killed continues from there.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.database import open_database, remove_database, rewrite, transaction
from triplebeam.durable import raise_cannot_write
from triplebeam.errors import IndexDamagedError
from triplebeam.index.columns import mapped
from triplebeam.index.keys import key_of, read_keys, rows_of, write_keys
from triplebeam.index.manifest import LastGeneration
from triplebeam.index.store import Store
from triplebeam.index.vectors import COARSE, FINE, quantized, write_vectors

_FILE = "encoded.sqlite"
_SCHEMA = "CREATE TABLE vector (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);"
_STORED_AS: "dict[str, np.dtype[Any]]" = {"passage": FINE, "triple": COARSE, "entity": COARSE}
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
            raise_cannot_write(error, folder)
            raise IndexDamagedError(
                f"{self._path} is not a usable SQLite file ({error}): delete it; what it held is encoded again."
            ) from error
        self._published: dict[str, tuple[NDArray[Any], dict[bytes, int]]] = {}
        for kind in _STORED_AS:
            vectors, keys = f"{kind}_vectors.npy", f"{kind}_keys.npy"
            if last.has(vectors, keys):
                self._published[kind] = mapped(last.folder / vectors), read_keys(last.folder / keys)

    def __enter__(self) -> "EncodedTexts":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def missing(self, texts: Mapping[str, Iterable[str]]) -> list[str]:
        """Those of the texts, by kind, that have no vector yet, each once."""
        pending = self._pending()
        return [text for key, text in self._unpublished(texts).items() if key not in pending]

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep what was just encoded."""
        self.put_by_key({self._key(text): row.tobytes() for text, row in zip(texts, vectors, strict=True)})

    def put_by_key(self, rows: Mapping[bytes, bytes]) -> None:
        """Keep vectors in single precision."""
        with transaction(self._db) as db:
            db.executemany("INSERT OR IGNORE INTO vector (key, vector) VALUES (?, ?)", rows.items())

    def write(self, generation: Path, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Write the vectors of texts of one kind into a new generation; returns them as they are stored."""
        stored = self.stored(kind, texts)
        write_vectors(generation / f"{kind}_vectors.npy", stored)
        write_keys(generation / f"{kind}_keys.npy", [self._key(text) for text in texts])
        return stored

    def stored(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """The vectors of texts of one kind, as they are stored."""
        keys = [self._key(text) for text in texts]
        stored: NDArray[Any] = np.zeros((len(keys), self._dimension), _STORED_AS[kind])
        waiting = np.ones(len(keys), bool)
        for vectors, known in self._as_precise_as(kind):
            rows = rows_of(keys, known)
            taken = waiting & (rows >= 0)
            stored[taken] = vectors[rows[taken]]
            waiting &= ~taken
        places = np.flatnonzero(waiting)
        for start in range(0, len(places), _MOVED_AT_A_TIME):
            window = places[start : start + _MOVED_AT_A_TIME]
            stored[window] = quantized(self._encoded_since([keys[place] for place in window]), stored.dtype)
        return stored

    def keep_only(self, texts: Mapping[str, Iterable[str]]) -> None:
        """Remove, to the last byte, what was encoded for texts that are no longer there, or are published by now."""
        needed, pending = self._unpublished(texts).keys(), self._pending()
        if not needed & pending:
            self.remove()
            return
        with transaction(self._db) as db:
            db.executemany("DELETE FROM vector WHERE key = ?", [(key,) for key in pending - needed])
        rewrite(self._db)

    def remove(self) -> None:
        """Remove what was kept until now: it is published."""
        self._db.close()
        remove_encoded(self._path.parent)

    def _pending(self) -> set[bytes]:
        return {key for (key,) in self._db.execute("SELECT key FROM vector")}

    def _unpublished(self, texts: Mapping[str, Iterable[str]]) -> dict[bytes, str]:
        """Texts whose vectors are not in the last generation, by key."""
        unpublished: dict[bytes, str] = {}
        for kind, of_kind in texts.items():
            new = {self._key(text): text for text in of_kind}
            for _, known in self._as_precise_as(kind):
                new = {key: text for key, text in new.items() if key not in known}
            unpublished |= new
        return unpublished

    def _as_precise_as(self, kind: str) -> list[tuple[NDArray[Any], dict[bytes, int]]]:
        """Published vectors that may be taken over: their precision is that of the kind."""
        return [there for other, there in self._published.items() if _STORED_AS[other] == _STORED_AS[kind]]

    def _encoded_since(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        find = "SELECT vector FROM vector WHERE key = ?"
        rows = [self._db.execute(find, (key,)).fetchone() for key in keys]
        if None in rows:
            raise IndexDamagedError("a vector is missing from the index: run `triplebeam index` again.")
        return np.frombuffer(b"".join(vector for (vector,) in rows), np.float32).reshape(len(keys), self._dimension)


def remove_encoded(folder: Path) -> None:
    """Remove what was encoded for an index and not published."""
    remove_database(folder / _FILE)


def take_over(store: Store, encoded: EncodedTexts) -> None:
    """Move the vectors of an older format, which are in single precision, out of the store."""
    if not store.db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector'").fetchone():
        return
    rows = store.db.execute("SELECT key, vector FROM vector")
    while window := rows.fetchmany(_MOVED_AT_A_TIME):
        encoded.put_by_key(dict(window))
    store.db.execute("DROP TABLE vector")
    rewrite(store.db)
