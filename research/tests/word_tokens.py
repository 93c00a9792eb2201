"""A token encoder that needs no weights: a word has a fixed random vector, moved a little by the word before it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from small_world import WordEmbedder
from triplebeam.embed.embedder import Kind
from triplebeam_research.late_interaction import TokenVectors


class WordTokens(WordEmbedder):
    """One vector a word; a text without words has one all the same. Remembers the texts it was given."""

    dimension = 16

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> TokenVectors:
        self.encoded += texts
        rows = [self._rows(text.casefold().split() or [""]) for text in texts]
        starts = np.cumsum([0] + [len(each) for each in rows]).astype(np.int64)
        vectors = np.concatenate([np.zeros((0, self.dimension)), *rows]).astype(np.float32)
        return TokenVectors(vectors, starts)

    def _rows(self, words: list[str]) -> NDArray[np.float64]:
        own = np.array([self._word(word.encode("utf-8", "replace").decode()) for word in words])
        rows = own + 0.3 * np.roll(own, 1, axis=0)
        unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit
