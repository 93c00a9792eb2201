"""Vectors that cost nearly nothing, so that what is measured is the index and not the encoder."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache
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
        self._places = cache(self._hashed)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Unit rows."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        words = [_WORD.findall(text.casefold()) or [""] for text in texts]
        distinct = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
        hashed = [self._places(word) for word in distinct]
        places, values = np.stack([where for where, _ in hashed]), np.stack([value for _, value in hashed])
        said = np.array([distinct[word] for word in chain.from_iterable(words)], np.int64)
        texts_of = np.repeat(np.arange(len(texts)), [len(each) for each in words])
        cells = (texts_of[:, None] * self.dimension + places[said]).ravel().astype(np.int64)
        rows = np.bincount(cells, values[said].ravel(), len(texts) * self.dimension).reshape(-1, self.dimension)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows[lengths[:, 0] == 0, 0] = 1
        return np.asarray(rows / np.where(lengths, lengths, 1), np.float32)

    def _hashed(self, word: str) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=2 * _PLACES).digest()
        numbers = np.frombuffer(digest, np.uint16)
        signs = np.where(numbers & 1, 1, -1) * (_WEIGHT_OF_SHORT if len(word) <= _SHORT else 1.0)
        return ((numbers >> 1) % self.dimension).astype(np.int16), signs.astype(np.float32)
