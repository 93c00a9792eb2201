"""Vectors of texts, by what was encoded, so that no text is encoded twice.

A vector is stored once: in the published generation. Encoding is the expensive part of indexing, so what is encoded for
the next generation is kept in ``encoded.sqlite`` until that is published; a build that was killed continues from there.
It is kept as a generation stores it: two bytes per dimension for a passage, and one for triples, entities and passages
whose text may be theirs, too. Rows are written and read in the order in which they were encoded, so that memory does
not limit how many there may be.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import IndexDamagedError
from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.rows import (
    INT8,
    INT16,
    Keys,
    find_distinct_rows,
    find_rows,
    hash_texts,
    pack_keys,
    quantize,
    read_keys,
)
from triplebeam.system.durable import open_database, raise_cannot_write, remove_database, rewrite, transaction

_FILE = "encoded.sqlite"
_SCHEMA = "CREATE TABLE encoded (number INTEGER PRIMARY KEY, key BLOB NOT NULL, vector BLOB NOT NULL);"
#: How the vectors of each kind are stored.
STORED_AS: "dict[str, np.dtype[Any]]" = {"passage": INT16, "triple": INT8, "entity": INT8}
_BATCH_ROWS = 4096


class VectorCache:
    """The vectors there are: those of the previous generation, and those encoded since."""

    def __init__(self, folder: Path, fingerprint: str, dimension: int, previous: ArraySet) -> None:
        self._fingerprint, self._dimension = fingerprint, dimension
        self._path = folder / _FILE
        try:
            self._db = open_database(self._path, _SCHEMA)
        except sqlite3.DatabaseError as error:
            raise_cannot_write(error, folder)
            raise IndexDamagedError(
                f"{self._path} is not a usable SQLite file ({error}): delete it; what it held is encoded again."
            ) from error
        self._written: list[tuple[str, NDArray[Any], Keys]] = []
        for kind in STORED_AS:
            vectors, keys = f"{kind}_vectors", f"{kind}_keys"
            if vectors in previous and keys in previous:
                self._written.append((kind, previous.array(vectors), read_keys(previous, keys)))

    def close(self) -> None:
        """Let the file go."""
        self._db.close()

    def find_missing(self, texts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Find texts, by kind, that have no vector yet: each once, passages before the others."""
        missing: dict[str, list[str]] = {}
        seen = pack_keys([])
        for kind in [kind for kind in STORED_AS if kind in texts]:
            keys = self.keys(texts[kind])
            left = find_distinct_rows(keys)
            written = (known for _, known in self._list_written(kind))
            for known in (*written, self._read_pending_keys(kind), seen):
                left = left[find_rows(keys[left], known) < 0]
            missing[kind] = [texts[kind][place] for place in left.tolist()]
            seen = np.append(seen, keys[left])
        return missing

    def put(self, texts: Mapping[str, Sequence[str]], vectors: NDArray[np.float32]) -> None:
        """Keep what was just encoded: a vector for each text of each kind, one kind after the other."""
        start = 0
        with transaction(self._db):
            for kind, of_kind in texts.items():
                # A passage may have the text of an entity: what is kept of it will do for both.
                for precision in {STORED_AS[kind], INT8}:
                    stored = quantize(vectors[start : start + len(of_kind)], precision)
                    rows = zip(map(self._make_key, of_kind), map(bytes, stored), strict=True)
                    self._db.executemany("INSERT INTO encoded (key, vector) VALUES (?, ?)", rows)
                start += len(of_kind)

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return the vectors of texts of one kind, as they are stored."""
        keys = self.keys(texts)
        stored: NDArray[Any] = np.zeros((len(keys), self._dimension), STORED_AS[kind])
        waiting = np.arange(len(keys))
        for vectors, known in self._list_written(kind):
            rows = find_rows(keys[waiting], known)
            stored[waiting[rows >= 0]] = vectors[rows[rows >= 0]]
            waiting = waiting[rows < 0]
        self._fill(stored, waiting, find_rows(keys[waiting], self._read_pending_keys(kind)))
        return stored

    def _fill(self, stored: NDArray[Any], places: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Put what was encoded since, by the order in which it was, into its places."""
        if rows.min(initial=0) < 0:
            raise IndexDamagedError("a vector is missing from the index: run `triplebeam index` again.")
        order = np.argsort(rows, kind="stable")
        places, rows, begin = places[order], rows[order], 0
        pending = self._rows("vector", stored.dtype)
        while len(rows) and (batch := pending.fetchmany(_BATCH_ROWS)):
            window = np.frombuffer(b"".join(vector for (vector,) in batch), stored.dtype).reshape(-1, self._dimension)
            here = slice(*np.searchsorted(rows, [begin, begin + len(window)]))
            stored[places[here]] = window[rows[here] - begin]
            begin += len(window)

    def keep_only(self, texts: Mapping[str, Sequence[str]]) -> None:
        """Remove, to the last byte, what was encoded for texts that are no longer there, or are published by now."""
        needed = pack_keys([])
        for kind, of_kind in texts.items():
            keys = self.keys(of_kind)
            for _, known in self._list_written(kind):
                keys = keys[find_rows(keys, known) < 0]
            needed = np.append(needed, keys)
        pending = self._db.execute("SELECT number, key FROM encoded").fetchall()
        kept = find_rows(pack_keys(key for _, key in pending), needed) >= 0
        if not kept.any():
            self.remove()
            return
        with transaction(self._db) as db:
            db.executemany(
                "DELETE FROM encoded WHERE number = ?",
                [(number,) for (number, _), keep in zip(pending, kept, strict=True) if not keep],
            )
        rewrite(self._db)

    def remove(self) -> None:
        """Remove what was kept until now: it is published."""
        self._db.close()
        remove_encoded(self._path.parent)

    def keys(self, texts: Iterable[str]) -> Keys:
        """Return what vectors of these texts are found by."""
        return pack_keys(map(self._make_key, texts))

    def _make_key(self, text: str) -> bytes:
        return hash_texts(self._fingerprint, text)

    def _read_pending_keys(self, kind: str) -> Keys:
        """Read the keys of vectors encoded since the last generation in the precision of a kind, by row."""
        return pack_keys(key for (key,) in self._rows("key", STORED_AS[kind]))

    def _rows(self, column: str, precision: "np.dtype[Any]") -> sqlite3.Cursor:
        """Select rows of one precision: the length of a stored vector tells its type."""
        size = self._dimension * precision.itemsize
        return self._db.execute(f"SELECT {column} FROM encoded WHERE length(vector) = ? ORDER BY number", (size,))

    def _list_written(self, kind: str) -> list[tuple[NDArray[Any], Keys]]:
        """List written vectors that can be reused: they have the precision of the kind."""
        return [(vectors, keys) for other, vectors, keys in self._written if STORED_AS[other] == STORED_AS[kind]]


def remove_encoded(folder: Path) -> None:
    """Remove what was encoded for an index and not published."""
    remove_database(folder / _FILE)
