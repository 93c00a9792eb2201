"""Stretches of unequal length in one array: a passage's tokens, a centroid's passages."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def lengths_of(starts: Places, rows: Places) -> Places:
    """How long the stretches are."""
    lengths: Places = starts[rows + 1] - starts[rows]
    return lengths


def places_of(starts: Places, rows: Places) -> Places:
    """Where everything in these stretches lies, one stretch after the other."""
    lengths = lengths_of(starts, rows)
    return np.repeat(starts[rows] - offsets_of(lengths)[:-1], lengths) + np.arange(lengths.sum())


def offsets_of(lengths: Places) -> Places:
    """Where stretches begin when they are laid end to end; the last entry is where all of them end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def blocks_of(starts: Places, rows: Places, most: int) -> Iterator[Places]:
    """The rows in runs that together hold about ``most`` or fewer."""
    filled = np.cumsum(lengths_of(starts, rows)) // most
    yield from np.split(rows, np.flatnonzero(np.diff(filled)) + 1)
