"""The term index: BM25 over texts (k1 1.2, b 0.75).

`triplebeam.text.terms` makes words of a text; here they are counted and searched. Each text has a stemmer, that of its
language. A query is in no language: each of its words is searched for under its stem by every stemmer that the index
has used, in the texts of that stemmer. In an index of English alone that is plain BM25. As in Lucene, the length of a
text counts in about 8 % steps from 40 words on, so that texts of nearly the same length are not ranked by it.

The words of a text that the last generation had are taken over, since making them takes far longer than counting them;
what is written depends on the texts alone, and not on what was taken over.
"""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays, SortedNames
from triplebeam.index.arrays.rows import Keys, find_rows, pack_keys, read_keys, renumber, write_keys
from triplebeam.index.folder.vectors import select_top
from triplebeam.text.terms import ENGLISH, query_stems, text_words

_K1, _B = 1.2, 0.75
_NAMES = ("words", "stemmer_names", "stemmers", "starts", "rows", "counts", "lengths", "keys")
_MAX_COUNT = np.iinfo(np.uint16).max
#: Texts that a rare word has at most.
MAX_RARE_TEXTS = 10


class Postings(NamedTuple):
    """The texts that have a word, and how often."""

    rows: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def take(self, where: NDArray[np.bool_]) -> "Postings":
        """Take some of the postings."""
        return Postings(self.rows[where], self.counts[where])


class TermIndex:
    """Finds the rows whose texts match a query's terms best. `triplebeam.index.folder.terms` builds it."""

    def __init__(self, arrays: ArraySet) -> None:
        self.words = arrays.strings("words")
        self._places = SortedNames(self.words, int)
        self.starts: NDArray[np.int64] = arrays.array("starts")
        self.rows: NDArray[np.int32] = arrays.array("rows")
        self.counts: NDArray[np.uint16] = arrays.array("counts")
        self.lengths: NDArray[np.int32] = arrays.array("lengths")
        self.stemmers: NDArray[np.uint8] = arrays.array("stemmers")
        """The stemmer of each text, as a place in their names."""
        self.stemmer_names = list(arrays.strings("stemmer_names"))
        if int(self.starts[-1]) != len(self.rows) or len(self.starts) != len(self.words) + 1:
            raise ValueError("the postings of a term index are not as many as their starts say")

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, arrays: ArraySet, rows: NDArray[np.int64]) -> None:
        """Write the texts at these rows, which are in rising order, as an index of their own."""
        places = renumber(rows, len(self))[self.rows]
        there = places >= 0
        starts = np.append(0, np.cumsum(there))[self.starts]
        words = np.flatnonzero(np.diff(starts))
        names, stemmers = np.unique(self.stemmers[rows], return_inverse=True)
        arrays.add_strings("words", self.words.take(words))
        arrays.add_strings("stemmer_names", (self.stemmer_names[name] for name in names))
        arrays.add("starts", np.append(starts[words], starts[-1]))
        arrays.add("rows", places[there])
        arrays.add("counts", self.counts[there])
        arrays.add("lengths", self.lengths[rows])
        arrays.add("stemmers", stemmers.astype(np.uint8))

    @cached_property
    def _damping(self) -> NDArray[np.float32]:
        """What is added to a word's count in the denominator of BM25: the longer the text, the more."""
        # The lengths that are told apart: Lucene's byte-sized floats, 3 bits of mantissa from 40 on.
        long = [24 + (8 + place << shift) for shift in range(1, 28) for place in range(8)]
        steps = np.array([*range(40), *long], np.int64)
        counted = steps[np.searchsorted(steps, self.lengths, side="right") - 1]
        return np.asarray(_K1 * (1 - _B + _B * counted / max(self.lengths.mean(), 1e-9)), np.float32)

    def search(self, query: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the best k rows and their scores; rows that share no word with the query are not among them."""
        words = query_stems(query, self.stemmer_names)
        if not words or k <= 0 or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        scores = np.zeros(len(self), np.float32)
        for stems in words:
            self._add(stems, scores)
        found = np.flatnonzero(scores)
        best = found[select_top(scores[found], k)]
        return best, scores[best]

    def stemmers_of(self, rows: Sequence[int]) -> list[str]:
        """Return the stemmers of the texts at these rows."""
        return [self.stemmer_names[self.stemmers[row]] for row in rows]

    def _add(self, stems: Mapping[str, str], scores: NDArray[np.float32]) -> None:
        """Add a word's weight to the rows that have it: the English stem in any text, another stem in texts of that
        stemmer; the best of them counts.

        All are as rare as the word: the few texts of another language would be ranked first for every name otherwise.
        """
        english = self._postings(stems[ENGLISH])
        others = [
            postings.take(self.stemmers[postings.rows] == self.stemmer_names.index(name))
            for name, postings in (
                (name, self._postings(stem)) for name, stem in stems.items() if stem != stems[ENGLISH]
            )
        ]
        others = [postings for postings in others if len(postings.rows)]
        rarity = self.rarity(len(english.rows) + sum(len(postings.rows) for postings in others))
        if not others:
            scores[english.rows] += self._weights(english, rarity)
            return
        best = np.zeros_like(scores)
        for postings in (english, *others):
            best[postings.rows] = np.maximum(best[postings.rows], self._weights(postings, rarity))
        scores += best

    def _postings(self, word: str) -> Postings:
        place = self._places.get(word)
        between = slice(0) if place is None else slice(self.starts[place], self.starts[place + 1])
        return Postings(self.rows[between], self.counts[between])

    def count_texts(self, word: str) -> int:
        """Count the texts that have a word, as it is indexed."""
        return len(self._postings(word).rows)

    def find_rare(self, max_texts: int = MAX_RARE_TEXTS) -> NDArray[np.bool_]:
        """Find the words that several texts have, but no more than this."""
        counts = np.diff(self.starts)
        return (counts >= 2) & (counts <= max_texts)

    def count_rare(self, documents: Sequence[str]) -> dict[str, int]:
        """Count the rare words in texts of several documents, without bare numbers, and the texts that have one."""
        rare = self.find_rare() & np.fromiter((not word.isdigit() for word in self.words), bool, len(self.words))
        counts, numbers = np.diff(self.starts), dict[str, int]()
        rows, sizes = self.rows[np.repeat(rare, counts)], counts[rare]
        labels = np.array([numbers.setdefault(document, len(numbers)) for document in documents], np.int64)[rows]
        starts = np.cumsum(sizes) - sizes
        joins = np.minimum.reduceat(labels, starts) != np.maximum.reduceat(labels, starts)
        return {"rare_terms": int(joins.sum()), "nodes_with_rare_terms": len(np.unique(rows[np.repeat(joins, sizes)]))}

    def _weights(self, postings: Postings, rarity: float) -> NDArray[np.float32]:
        counts = postings.counts.astype(np.float32)
        weights: NDArray[np.float32] = np.float32(rarity * (1 + _K1)) * (
            counts / (counts + self._damping[postings.rows])
        )
        return weights

    def rarity(self, texts: int) -> float:
        """Return BM25's inverse document frequency of a word that ``texts`` texts have."""
        found = min(texts, len(self))
        return math.log1p((len(self) - found + 0.5) / (found + 0.5))


def write_terms(
    arrays: ArraySet,
    texts: Iterable[str],
    keys: Keys,
    stemmer_of: Callable[[int], str],
    previous: ArraySet | None = None,
) -> list[str]:
    """Index texts under their row numbers; returns the stemmer of each.

    A key stands for a text with its stemmer, and ``stemmer_of`` returns the stemmer of a row whose key is new.
    """
    known = _Known.of(previous or MemoryArrays())
    before = find_rows(keys, known.keys)
    stemmers = [known.stemmers[row] if row >= 0 else "" for row in before.tolist()]
    fresh = _Counts()
    for row, text in enumerate(texts):
        if before[row] < 0:
            stemmers[row] = sys.intern(stemmer_of(row))
            fresh.add(text_words(text, stemmers[row]))
    words, counts = _merge_counts(known, before, fresh)
    _write(arrays, words, counts, stemmers)
    write_keys(arrays, "keys", keys)
    return stemmers


class _Counts:
    """How often each text has each of its words: sparse rows, whose columns are numbered as words are first seen."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._starts, self._columns, self._counts = array("q", [0]), array("i"), array("H")

    def add(self, words: Sequence[str]) -> None:
        """Add another text."""
        counts = Counter(words)
        numbers = self.numbers
        self._columns.extend([numbers.setdefault(word, len(numbers)) for word in counts])
        self._counts.extend([min(count, _MAX_COUNT) for count in counts.values()])
        self._starts.append(len(self._columns))

    def matrix(self, renumbered: NDArray[np.int32], words: int) -> "csr_array[np.uint16]":
        """Return the matrix of texts by words, whose columns are renumbered."""
        columns = renumbered[np.frombuffer(self._columns, np.int32)]
        rows = np.frombuffer(self._starts, np.int64)
        return csr_array((np.frombuffer(self._counts, np.uint16), columns, rows), shape=(len(rows) - 1, words))


class _Known(NamedTuple):
    """The words that the last generation counted, by row."""

    keys: Keys
    words: list[str]
    counts: "csr_array[np.uint16]"
    stemmers: list[str]

    @classmethod
    def of(cls, previous: ArraySet) -> "_Known":
        if not all(name in previous for name in _NAMES):
            return cls(pack_keys([]), [], csr_array(np.zeros((0, 0), np.uint16)), [])
        index = TermIndex(previous)
        stemmers = index.stemmers_of(range(len(index)))
        by_word = csr_array((index.counts, index.rows, index.starts), shape=(len(index.words), len(index)))
        return cls(read_keys(previous, "keys"), list(index.words), csr_array(by_word.T), stemmers)


def _merge_counts(known: _Known, before: NDArray[np.int64], fresh: _Counts) -> "tuple[list[str], csr_array[np.uint16]]":
    """Merge the words in use, sorted, and how often each row has each of them."""
    kept, new = np.flatnonzero(before >= 0), np.flatnonzero(before < 0)
    old = csr_array(known.counts[before[kept]])
    used = [known.words[place] for place in np.unique(old.indices)]
    words = sorted(fresh.numbers.keys() | used)
    numbers = {word: number for number, word in enumerate(words)}
    renumbered = np.array([numbers.get(word, -1) for word in known.words], np.int32)
    old = csr_array((old.data, renumbered[old.indices], old.indptr), shape=(len(kept), len(words)))
    counts = fresh.matrix(np.array([numbers[word] for word in fresh.numbers], np.int32), len(words))
    if not len(kept):
        return words, counts
    return words, csr_array(vstack([old, counts], format="csr")[np.argsort(np.append(kept, new))])


def _write(arrays: ArraySet, words: Sequence[str], counts: "csr_array[np.uint16]", stemmers: Sequence[str]) -> None:
    by_word = csr_array(counts.T)
    by_word.sort_indices()
    names = sorted(set(stemmers))
    arrays.add_strings("words", words)
    arrays.add_strings("stemmer_names", names)
    arrays.add("starts", by_word.indptr.astype(np.int64))
    arrays.add("rows", by_word.indices.astype(np.int32))
    arrays.add("counts", by_word.data)
    arrays.add("lengths", np.asarray(counts.sum(axis=1, dtype=np.int64)).astype(np.int32))
    places = {name: place for place, name in enumerate(names)}
    arrays.add("stemmers", np.array([places[stemmer] for stemmer in stemmers], np.uint8))
