"""Writing a term index. The words of a text that the last generation had are taken over, since making them takes far
longer than counting them; what is written depends on the texts alone, and not on what was taken over.
"""

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays
from triplebeam.index.arrays.keys import Keys, find_rows, pack_keys, read_keys, write_keys
from triplebeam.index.folder.terms import TermIndex
from triplebeam.text.terms import text_words

_NAMES = ("words", "stemmer_names", "stemmers", "starts", "rows", "counts", "lengths", "keys")
_MAX_COUNT = np.iinfo(np.uint16).max


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


class _Known:
    """The words that the last generation counted, by row."""

    def __init__(self, keys: Keys, words: list[str], counts: "csr_array[np.uint16]", stemmers: list[str]):
        self.keys, self.words, self.counts, self.stemmers = keys, words, counts, stemmers

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
