"""Compressed sparse rows: ``starts[row]`` and ``starts[row + 1]`` are where the entries of a row begin and end."""

import numpy as np
from numpy.typing import NDArray


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
