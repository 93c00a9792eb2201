"""Two encoders, one for questions and one for passages, compared by their dot product: DPR (Karpukhin et al., 2020).

An index compares unit vectors by their cosine. So a passage's vector is divided by a length that none exceeds, and what
is missing to length one goes into further dimensions, which are zero for a question: the cosine is then the dot product
with the question's direction, but for a constant, and orders passages alike. The further part points anywhere, by a
hash of the text: if it pointed the same way for all, any two passages would be alike.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed import find_model_folder
from triplebeam.embed.embedder import Kind
from triplebeam.embed.model_folder import ModelFolder
from triplebeam.embed.onnx_embedder import OnnxEmbedder, Precision, unit_rows
from triplebeam.errors import BadInputError
from triplebeam.system.work import Progress

_PAIR = "dpr:"
_EXTRA_DIMENSIONS = 256
#: Passages are hardly longer than this much more than the longest of the texts below; a longer one is cut to length.
_MARGIN = 1.25
_TEXTS = ("a", "The river flows north.", "Who wrote it, and when? " * 8, "1 2 3 4 5 6 7 8 9", "word " * 200)


@dataclass(frozen=True)
class TwoEncoders:
    """The pair as one embedder."""

    questions: OnnxEmbedder
    passages: OnnxEmbedder
    name: str

    @property
    def fingerprint(self) -> str:
        """Of both."""
        both = f"{self.questions.fingerprint} {self.passages.fingerprint}"
        return hashlib.sha256(both.encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """That of the encoders, and the further ones."""
        return self.passages.dimension + _EXTRA_DIMENSIONS

    @cached_property
    def longest(self) -> float:
        """The length that no passage's vector exceeds."""
        return _MARGIN * float(np.linalg.norm(self.passages.encode(_TEXTS), axis=1).max())

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return one unit row per text: a question's direction, or a passage's vector, padded to length one."""
        if kind == "query":
            directions = unit_rows(self.questions.encode(texts, kind))
            return np.hstack([directions, np.zeros((len(texts), _EXTRA_DIMENSIONS), np.float32)])
        vectors = self.passages.encode(texts) / np.float32(self.longest)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
        missing = np.sqrt(np.maximum(1 - np.sum(vectors**2, axis=1, keepdims=True), 0))
        anywhere = np.array([_direction(text) for text in texts], np.float32).reshape(-1, _EXTRA_DIMENSIONS)
        return unit_rows(np.hstack([vectors, missing * anywhere]).astype(np.float32))


def _direction(text: str) -> NDArray[np.float32]:
    """Return a unit vector with signs that the text decides."""
    bits = np.unpackbits(np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8))
    return (2 * bits.astype(np.float32) - 1) / np.float32(np.sqrt(_EXTRA_DIMENSIONS))


def load_pair(
    name: str, home: Path, *, offline: bool, progress: Progress, precision: Precision, on_gpu: bool
) -> TwoEncoders:
    """Load ``dpr:QUESTIONS,PASSAGES``, each a folder or on the model hub."""
    names = name.removeprefix(_PAIR).split(",")
    if len(names) != 2 or not all(names):
        raise BadInputError(f"{name!r} is no pair of encoders: write dpr:QUESTIONS,PASSAGES, two folders or hub names.")
    folders = [find_model_folder(each, home, offline=offline, progress=progress) for each in names]
    questions, passages = (
        OnnxEmbedder(
            folder := ModelFolder(path),
            name=known_as,
            precision=precision,
            on_gpu=on_gpu,
            pooling=None if folder.read_config("1_Pooling/config.json") else "cls",
        )
        for path, known_as in folders
    )
    if questions.dimension != passages.dimension:
        raise BadInputError(
            f"the encoders of {name!r} have {questions.dimension} and {passages.dimension} dimensions: name a pair that"
            " was trained together."
        )
    return TwoEncoders(questions, passages, f"{_PAIR}{questions.name},{passages.name}")
