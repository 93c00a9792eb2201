"""Vectors of texts, by what was encoded, so that no text is encoded twice; and the encoding stage of a build.

A vector is stored once: in the published generation. Encoding is the expensive part of indexing, so what is encoded for
the next generation is kept in ``encoded.sqlite`` until that is published; a build that was killed continues from there.
It is kept as a generation stores it: two bytes per dimension for a passage, and one for triples, entities and passages
whose text may be theirs, too. Rows are written and read in the order in which they were encoded, so that memory does
not limit how many there may be.

Where the embedder has vectors of tokens, a passage is read once for its own vector and those of its triples
(`find_spans`): the mean of the vectors of a triple's words. In context a vague triple ("he moved to it") has a definite
meaning, and no text is read twice. Otherwise triples are texts like any other.
"""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, tee
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, EncodeWindows, Span, Window, encode_here, require_finite
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
from triplebeam.index.content.content import Content
from triplebeam.system.durable import open_database, raise_cannot_write, remove_database, rewrite, transaction
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.triple import Triple

_FILE = "encoded.sqlite"
_SCHEMA = "CREATE TABLE encoded (number INTEGER PRIMARY KEY, key BLOB NOT NULL, vector BLOB NOT NULL);"
#: How the vectors of each kind are stored.
STORED_AS: "dict[str, np.dtype[Any]]" = {"passage": INT16, "triple": INT8, "entity": INT8}
_BATCH_ROWS = 4096
T = TypeVar("T")
#: Texts encoded between two commits: few enough to lose little, many enough to sort by length.
ENCODING_WINDOW = 512
#: Little work is done in smaller windows, so that it can be said early how long it takes.
_MIN_WINDOW, _TARGET_WINDOWS = 64, 16
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


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


def encode_missing(
    contents: Content,
    encoded: VectorCache,
    embedder: Embedder,
    progress: Progress = ignore_progress,
    encode: EncodeWindows = encode_here,
) -> int:
    """Encode what is not encoded yet; returns how many texts that were.

    Each window has its share of long and short texts, so that the time left can be estimated from the number of texts.
    Names that are encoded after the passages take far less time each, and are a stage of their own.
    """
    rows = _find_unencoded_passages(contents, encoded) if contents.in_context else []
    texts = encoded.find_missing({"entity": contents.entity_names} if contents.in_context else contents.texts())
    total, done = len(rows) + sum(map(len, texts.values())), 0
    passages = len(rows) if contents.in_context else total
    progress("embed", 0, passages)
    size = min(ENCODING_WINDOW, max(_MIN_WINDOW, total // _TARGET_WINDOWS))
    readings = (_collect_texts(passages, contents) for passages in _draw_samples(rows, size))
    plain = ((window, Window([*chain(*window.values())])) for window in _draw_samples_by_kind(texts, size))
    kept, sent = tee(chain(readings, plain))
    for (sources, window), vectors in zip(kept, encode(embedder, (window for _, window in sent)), strict=True):
        encoded.put(sources, require_finite(vectors, embedder))
        done += len(window.texts)
        progress("embed", min(done, passages), passages)
        if passages <= done and passages < total:
            progress("embed names", done - passages, total - passages)
    return done


def _find_unencoded_passages(contents: Content, encoded: VectorCache) -> list[int]:
    """Find the rows of passages without a vector of their own, or of one of their triples."""
    missing = encoded.find_missing({"passage": contents.passage_texts, "triple": contents.triple_sources})
    passages, triples = set(missing["passage"]), set(missing["triple"])
    own = (row for row, text in enumerate(contents.passage_texts) if text in passages)
    sources = zip(contents.triple_sources, contents.triple_rows, strict=True)
    return sorted({*own, *(row for source, row in sources if source in triples)})


def _collect_texts(rows: Sequence[int], contents: Content) -> tuple[dict[str, Sequence[str]], Window]:
    """Collect passages to encode, with the spans of their triples, and the text that each vector is made from."""
    texts = [contents.passage_texts[row] for row in rows]
    triples = [contents.triples_at(row) for row in rows]
    spans = [
        find_spans((contents.triples[place] for place in places), text)
        for places, text in zip(triples, texts, strict=True)
    ]
    sources = [contents.triple_sources[place] for places in triples for place in places]
    return {"passage": texts, "triple": sources}, Window(texts, spans)


def _draw_samples(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield windows of about that size, each drawn evenly from the whole."""
    count = -(-len(items) // size)
    return (items[first::count] for first in range(count))


def _draw_samples_by_kind(texts: Mapping[str, Sequence[str]], size: int) -> Iterator[dict[str, Sequence[str]]]:
    """Draw samples of texts by kind, as if one kind followed the other in a single sequence."""
    begins = dict(zip(texts, accumulate(map(len, texts.values()), initial=0), strict=False))
    count = -(-sum(map(len, texts.values())) // size)
    for first in range(count):
        yield {kind: of_kind[(first - begins[kind]) % count :: count] for kind, of_kind in texts.items()}


def find_spans(triples: Iterable[Triple], text: str) -> list[list[Span]]:
    """Find the spans of each triple's words in the text; none where no word of it occurs there.

    A triple's sentence is the one with most of its words. All places of these words in it count; a word that is
    elsewhere alone, such as a name that a pronoun refers to, counts where it occurs first.
    """
    places = _locate_words(text)
    words = ({found.group().casefold() for found in _WORD.finditer(str(triple))} for triple in triples)
    return [[span for _, span in _choose_spans(each, places)] for each in words]


def _locate_words(text: str) -> dict[str, list[tuple[int, Span]]]:
    """Locate each word: the number of the sentence, and the span in the text."""
    places = defaultdict(list)
    start = 0
    for number, end in enumerate([*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]):
        for found in _WORD.finditer(text, start, end):
            places[found.group().casefold()].append((number, found.span()))
        start = end
    return places


def _choose_spans(words: set[str], places: dict[str, list[tuple[int, Span]]]) -> Iterator[tuple[int, Span]]:
    present = [places[word] for word in sorted(words) if word in places]
    votes = Counter(number for each in present for number in {number for number, _ in each})
    sentence = min(votes, key=lambda number: (-votes[number], number), default=None)
    for each in present:
        yield from [place for place in each if place[0] == sentence] or each[:1]
