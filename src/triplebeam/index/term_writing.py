"""Writing a term index. The words of a text that the last generation had are taken over, since making them takes far
longer than counting them; what is written depends on the texts alone, and not on what was taken over.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from triplebeam.index.columns import write_strings
from triplebeam.index.keys import read_keys, rows_of, write_keys
from triplebeam.index.manifest import LastGeneration
from triplebeam.index.terms import TermIndex
from triplebeam.index.words import text_words

_FILES = (
    *("words.utf8", "words.offsets.npy", "stemmer_names.utf8", "stemmer_names.offsets.npy", "stemmers.npy"),
    *("starts.npy", "rows.npy", "counts.npy", "lengths.npy", "keys.npy"),
)
_MOST_COUNTED = np.iinfo(np.uint16).max


def write_terms(
    folder: Path,
    texts: Sequence[str],
    keys: Sequence[bytes],
    stemmer_of: Callable[[int], str],
    last: LastGeneration | None = None,
) -> list[str]:
    """Index texts under their row numbers; returns the stemmer of each.

    A key stands for a text with its stemmer, and ``stemmer_of`` returns the stemmer of a row whose key is new.
    """
    folder.mkdir()
    known = _Known.of(last or LastGeneration(folder), folder.name)
    before = rows_of(keys, known.keys)
    fresh = np.flatnonzero(before < 0)
    stemmers = [known.stemmers[row] if row >= 0 else "" for row in before]
    counted = []
    for row in fresh.tolist():
        stemmers[row] = stemmer_of(row)
        counted.append(Counter(text_words(texts[row], stemmers[row])))
    words, counts = _merged(known, before, fresh, counted)
    lengths = np.array(counts.sum(axis=1)).astype(np.int32)
    _write(folder, words, counts, lengths, stemmers)
    write_keys(folder / "keys.npy", keys)
    return stemmers


class _Known:
    """The words that the last generation counted, by row."""

    def __init__(self, keys: dict[bytes, int], words: list[str], counts: "csr_array[np.int64]", stemmers: list[str]):
        self.keys, self.words, self.counts, self.stemmers = keys, words, counts, stemmers

    @classmethod
    def of(cls, last: LastGeneration, name: str) -> "_Known":
        if not last.has(*(f"{name}/{file}" for file in _FILES)):
            return cls({}, [], csr_array((0, 0), dtype=np.int64), [])
        index = TermIndex(last.folder / name)
        shape = (len(index.words), len(index))
        by_word = csr_array((index.counts.astype(np.int64), index.rows, index.starts), shape=shape)
        names = [index.stemmer_names[place] for place in index.stemmers]
        return cls(read_keys(last.folder / name / "keys.npy"), list(index.words), csr_array(by_word.T), names)


def _merged(
    known: _Known, before: NDArray[np.int64], fresh: NDArray[np.int64], counted: Sequence[Counter[str]]
) -> "tuple[list[str], csr_array[np.int64]]":
    """The words in use, sorted, and how often each row has each of them."""
    kept = np.flatnonzero(before >= 0)
    old = known.counts[before[kept]].tocoo()
    used = np.zeros(len(known.words), bool)
    used[old.col] = True
    words = sorted({known.words[place] for place in np.flatnonzero(used)}.union(*counted))
    numbers = {word: number for number, word in enumerate(words)}
    renumbered = np.array([numbers.get(word, -1) for word in known.words], np.int64)
    new = [
        (row, numbers[word], count)
        for row, counts in zip(fresh, counted, strict=True)
        for word, count in counts.items()
    ]
    rows, columns, counts = np.array(new, np.int64).reshape(-1, 3).T
    data = np.append(old.data, np.minimum(counts, _MOST_COUNTED))
    places = np.append(kept[old.row], rows), np.append(renumbered[old.col], columns)
    return words, csr_array(coo_array((data, places), shape=(len(before), len(words))))


def _write(
    folder: Path,
    words: Sequence[str],
    counts: "csr_array[np.int64]",
    lengths: NDArray[np.int32],
    stemmers: Sequence[str],
) -> None:
    by_word = csr_array(counts.T)
    by_word.sort_indices()
    names = sorted(set(stemmers))
    write_strings(folder / "words", words)
    write_strings(folder / "stemmer_names", names)
    np.save(folder / "starts.npy", by_word.indptr.astype(np.int64))
    np.save(folder / "rows.npy", by_word.indices.astype(np.int32))
    np.save(folder / "counts.npy", by_word.data.astype(np.uint16))
    np.save(folder / "lengths.npy", lengths)
    np.save(folder / "stemmers.npy", np.array([names.index(stemmer) for stemmer in stemmers], np.uint8))
