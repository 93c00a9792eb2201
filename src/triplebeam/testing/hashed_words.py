"""An embedder that needs no weights: two texts are as similar as the words they share."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind


class HashedWords:
    """The vector of a text is the sum of its words' fixed random vectors. Fast, and the same on every machine."""

    name = "hashed-words"

    def __init__(self, dimension: int = 32) -> None:
        self.dimension = dimension
        self.fingerprint = f"hashed-words-{dimension}"
        self._word = cache(self._direction)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return unit vectors; a query's are those of the same text as a passage."""
        rows = np.zeros((len(texts), self.dimension))
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split() or [""]:
                row += self._word(word)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def _direction(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        return np.random.default_rng(seed).standard_normal(self.dimension)
