"""Token vectors in a few bits per dimension, as in ColBERTv2 (Santhanam et al., 2022, section 3.3).

A vector is the nearest of k centroids and, for each dimension, which of 2^nbits buckets its difference from the
centroid falls into. Buckets hold equally many of the differences seen in training and are decompressed to the median of
what they hold. Centroids and decompressed vectors are of unit length. Ours: there are also no more centroids than a
quarter of the tokens trained on, which only affects small indexes.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.columns import loaded

NBITS = (2, 4, 8)
#: Rounds of k-means, as in ColBERTv2.
_ROUNDS = 4
_SEED = 1234
#: Vectors of 384 dimensions then take 0.8 GB.
_MOST_TRAINED_ON = 1 << 19
#: Vectors compared with all centroids at a time: the table of cosines stays at some tens of megabytes.
_COSINES_AT_A_TIME = 1 << 24
#: Of the training vectors, the share that is kept out of k-means, to measure differences by; its least and its most.
_HELD_OUT = 0.05
_LEAST_HELD_OUT = 1_000
_MOST_HELD_OUT = 50_000


def sample_size(tokens: int) -> int:
    """How many vectors of a collection's ``tokens`` are enough to train on: 32 per centroid, within memory."""
    return min(32 * centroids_for(tokens, tokens), _MOST_TRAINED_ON)


def centroids_for(tokens: int, trained_on: int) -> int:
    """2^⌊log2(16 √tokens)⌋ as in ColBERTv2, but at most a quarter of the tokens that are trained on."""
    wanted = min(16 * tokens**0.5, trained_on / 4)
    return int(2 ** np.floor(np.log2(max(wanted, 1))))


@dataclass(frozen=True)
class ResidualCodec:
    """Vectors to codes and residuals, and back."""

    centroids: NDArray[np.float32]
    cutoffs: NDArray[np.float32]
    """Between the buckets, rising: 2^nbits − 1."""
    weights: NDArray[np.float32]
    """The value of each bucket: 2^nbits."""

    @classmethod
    def train(cls, sample: NDArray[np.float32], nbits: int, tokens: int) -> Self:
        """From a sample of the unit vectors of a collection that has ``tokens`` of them."""
        check_nbits(nbits, sample.shape[1])
        order = np.random.default_rng(_SEED).permutation(len(sample))
        # Half of a small sample: a handful of vectors would say little about the differences of the others.
        least = min(_LEAST_HELD_OUT, len(sample) // 2)
        held_out, trained_on = np.split(order, [min(max(int(len(sample) * _HELD_OUT), least), _MOST_HELD_OUT)])
        held_out = held_out if len(held_out) else order
        centroids = _k_means(sample[np.sort(trained_on)], centroids_for(tokens, len(trained_on)))
        unit = sample[np.sort(held_out)]
        differences = unit - centroids[_nearest(unit, centroids)]
        shares = np.arange(2**nbits, dtype=np.float64) / 2**nbits
        return cls(
            centroids,
            np.quantile(differences, shares[1:]).astype(np.float32),
            np.quantile(differences, shares + 0.5 / 2**nbits).astype(np.float32),
        )

    @property
    def nbits(self) -> int:
        """Bits per dimension."""
        return len(self.weights).bit_length() - 1

    def compress(self, vectors: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The nearest centroid of each vector, and its packed residual."""
        codes = _nearest(vectors, self.centroids)
        buckets = np.searchsorted(self.cutoffs, vectors - self.centroids[codes]).astype(np.uint8)
        shifts = np.arange(0, 8, self.nbits, dtype=np.uint8)
        return codes, np.bitwise_or.reduce(buckets.reshape(len(vectors), -1, len(shifts)) << shifts, axis=2)

    def decompress(self, codes: NDArray[np.int32], residuals: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Unit vectors near to those that were compressed."""
        # `take` is ten times faster here than indexing is.
        vectors = np.take(self._of_byte, residuals, axis=0).reshape(len(codes), -1)
        vectors += np.take(self.centroids, codes, axis=0)
        vectors /= np.maximum(np.sqrt(np.einsum("td,td->t", vectors, vectors)), 1e-12)[:, None]
        return vectors

    @cached_property
    def _of_byte(self) -> NDArray[np.float32]:
        """The weights that each of the 256 bytes encodes."""
        shifts = np.arange(0, 8, self.nbits)
        weights: NDArray[np.float32] = self.weights[np.arange(256)[:, None] >> shifts & (2**self.nbits - 1)]
        return weights

    def save(self, folder: Path) -> None:
        """Write the codec into a folder."""
        np.save(folder / "centroids.npy", self.centroids)
        np.save(folder / "cutoffs.npy", self.cutoffs)
        np.save(folder / "weights.npy", self.weights)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read it back."""
        return cls(*(loaded(folder / f"{name}.npy") for name in ("centroids", "cutoffs", "weights")))


def check_nbits(nbits: int, dimension: int) -> None:
    """Raise where vectors cannot be compressed to that many bits."""
    if nbits not in NBITS:
        raise BadInputError(f"{nbits} bits per dimension is not a choice: give {', '.join(map(str, NBITS))}.")
    if dimension * nbits % 8:
        raise BadInputError(f"{dimension} dimensions of {nbits} bits do not fill whole bytes: give 8 bits.")


def _k_means(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    import faiss

    # Stated here, since faiss warns on stderr of few vectors and silently samples many: the sample is bounded already.
    clustering = faiss.Kmeans(
        vectors.shape[1],
        count,
        niter=_ROUNDS,
        seed=_SEED,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=1 << 30,
    )
    clustering.train(np.ascontiguousarray(vectors, np.float32))
    return np.asarray(clustering.centroids, np.float32).reshape(count, -1)


def _nearest(vectors: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.int32]:
    """The centroid of highest cosine for each vector; the first of equals."""
    at_a_time = max(1, _COSINES_AT_A_TIME // len(centroids))
    codes = np.empty(len(vectors), np.int32)
    for start in range(0, len(vectors), at_a_time):
        codes[start : start + at_a_time] = np.argmax(vectors[start : start + at_a_time] @ centroids.T, axis=1)
    return codes
