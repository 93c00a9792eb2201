"""Vectors that cost nearly nothing, so that what is measured is the index and not the encoder."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind

_WORD = re.compile(r"\w+")
#: Dimensions that a word counts in.
_PLACES = 8
#: Words of up to three letters are mostly function words, and count for less.
_SHORT, _WEIGHT_OF_SHORT = 3, 0.25


class HashedDimensions:
    """Each word counts in eight of 384 dimensions, by its hash: texts are as similar as the words they share."""

    name, dimension, fingerprint = "hashed-dimensions", 384, "hashed-dimensions-384"

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._places: NDArray[np.int64] = np.zeros((0, _PLACES), np.int64)
        self._values: NDArray[np.float32] = np.zeros((0, _PLACES), np.float32)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return unit rows."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        words = [_WORD.findall(text.casefold()) or [""] for text in texts]
        self._learn(dict.fromkeys(chain.from_iterable(words)))
        said = np.array([self._numbers[word] for word in chain.from_iterable(words)], np.int64)
        texts_of = np.repeat(np.arange(len(texts)) * self.dimension, [len(each) for each in words])
        cells = (texts_of[:, None] + self._places[said]).ravel()
        rows = np.bincount(cells, self._values[said].ravel(), len(texts) * self.dimension).reshape(-1, self.dimension)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows[lengths[:, 0] == 0, 0] = 1
        return np.asarray(rows / np.where(lengths, lengths, 1), np.float32)

    def _learn(self, words: Iterable[str]) -> None:
        """Where words count, and how much, in tables that hold twice as many as there are."""
        for word in words:
            if word not in self._numbers:
                number = self._numbers[word] = len(self._numbers)
                if number == len(self._places):
                    self._places, self._values = (
                        np.concatenate([table, np.zeros((max(number, 1024), _PLACES), table.dtype)])
                        for table in (self._places, self._values)
                    )
                self._places[number], self._values[number] = self._hashed(word)

    def _hashed(self, word: str) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=2 * _PLACES).digest()
        numbers = np.frombuffer(digest, np.uint16)
        signs = np.where(numbers & 1, 1, -1) * (_WEIGHT_OF_SHORT if len(word) <= _SHORT else 1.0)
        return (numbers >> 1) % self.dimension, signs
