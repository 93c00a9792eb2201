"""How unit vectors are stored: as whole numbers from -127 to 127, or from -32,767 to 32,767 for passages, scaled so
that the largest dimension is the largest number.

The length was 1, so the scale need not be kept: dividing by the length of the stored numbers restores it. What that
costs in recall is in docs/benchmarks.md. Products of single bytes are exact, so the cosine of two such vectors is the
same in whatever order and however many at a time they are compared.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Of passages, whose similarity to a question decides alone, and of triples and entities, which are many more.
INT16, INT8 = np.dtype(np.int16), np.dtype(np.int8)


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
