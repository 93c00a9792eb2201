"""Rows by their keys, by their places in compressed sparse rows, and of quantized vectors.

A key is a hash of what a row was made from, beside the row, so that the next generation takes over every row whose key
it needs, whatever its number. Millions of keys are an array, not a dictionary: sixteen bytes each instead of some
hundred and fifty. In compressed sparse rows the entries of a row are those from ``starts[row]`` to ``starts[row + 1]``.

Rows of unit vectors are stored as whole numbers from -127 to 127, or from -32,767 to 32,767 for passages, scaled so
that the largest dimension is the largest number. The length was 1, so the scale need not be kept: dividing by the
length of the stored numbers restores it. What that costs in recall is in docs/benchmarks.md. Products of single bytes
are exact, so the cosine of two such vectors is the same in whatever order and however many at a time they are compared.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet

_KEY_BYTES = 16
#: One key per row, as strings of sixteen bytes.
Keys: TypeAlias = NDArray[np.bytes_]
#: Of passages, whose similarity to a question decides alone, and of triples and entities, which are many more.
INT16, INT8 = np.dtype(np.int16), np.dtype(np.int8)


def renumber(rows: NDArray[np.int64], count: int) -> NDArray[np.int32]:
    """Return the number of each row among the selected ones, or -1."""
    numbers = np.full(count, -1, np.int32)
    numbers[rows] = np.arange(len(rows), dtype=np.int32)
    return numbers


def expand_rows(starts: NDArray[np.integer], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the entries of some rows of a sparse matrix: the position in ``rows`` of each, and its place."""
    begins = starts[rows].astype(np.int64)
    counts = starts[rows + 1] - begins
    before = np.cumsum(counts) - counts
    return np.repeat(np.arange(len(rows)), counts), np.repeat(begins - before, counts) + np.arange(counts.sum())


def list_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """List numbers in ascending order, each once."""
    return np.unique(numbers, return_counts=True)[0]  # without counts NumPy loads masked arrays: a fortieth of a search


def hash_texts(*parts: str) -> bytes:
    """Hash these texts into one key."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def pack_keys(keys: Iterable[bytes]) -> Keys:
    """Pack keys into an array."""
    return np.frombuffer(b"".join(keys), f"S{_KEY_BYTES}")


def write_keys(arrays: ArraySet, name: str, keys: Keys) -> None:
    """Write the keys of rows, in their order."""
    arrays.add(name, keys.view(np.uint8).reshape(-1, _KEY_BYTES))


def read_keys(arrays: ArraySet, name: str) -> Keys:
    """Read the key of each row."""
    return pack_keys([arrays.array(name).tobytes()])


def find_rows(keys: Keys, known: Keys) -> NDArray[np.int64]:
    """Find the row of each key among the known ones, the last where there are several; -1 where there is none.

    Sorted by their first halves alone, which hardly ever are the same in two keys; where they are, all are looked at.
    """
    if not len(known):
        return np.full(len(keys), -1)
    heads, known_heads = (some.view(np.uint64)[::2] for some in (keys, known))
    order, asking = np.argsort(known_heads, kind="stable"), np.argsort(heads)
    places = np.searchsorted(known_heads[order], heads[asking], side="right") - 1
    rows = np.empty(len(keys), np.int64)
    rows[asking] = order[places]
    wrong = np.flatnonzero(known[rows] != keys)
    doubtful = wrong[known_heads[rows[wrong]] == heads[wrong]]
    rows[wrong] = -1
    for place in doubtful:
        rows[place] = max(np.flatnonzero(known == keys[place]), default=-1)
    return rows


def find_distinct_rows(keys: Keys) -> NDArray[np.int64]:
    """Find one row per distinct key, in ascending order."""
    return np.flatnonzero(find_rows(keys, keys) == np.arange(len(keys)))


def quantize(vectors: NDArray[np.float32], stored_as: "np.dtype[Any]" = INT8) -> NDArray[Any]:
    """Quantize unit vectors to the type that they are stored as."""
    return scale_to_integers(vectors, np.iinfo(stored_as).max)[0].astype(stored_as)


def scale_to_integers(vectors: NDArray[np.floating], to: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Scale each vector to integers with the maximum ``to``; returns the factors, too."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    factors = to / np.where(largest, largest, 1)
    return np.rint(vectors * factors), factors


def dequantize(stored: NDArray[np.integer]) -> NDArray[np.float32]:
    """Restore unit vectors from quantized ones."""
    rows = stored.astype(np.float32)
    rows /= compute_norms(rows)[:, None]
    return rows


def compute_norms(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Compute the norms of stored rows, which were widened; 1 for a row of zeros, which stays one."""
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.sqrt(np.where(squares, squares, 1), dtype=np.float32)
