"""Do the words of a claim state its fact? A small model decides: the default embedder with an adapter.

``adapter.safetensors`` turns granite-embedding-30m-english into a reader of two texts. For each linear layer it has two
thin matrices, whose product is added to the layer's weights when the model is loaded (LoRA), and a new bias; a last
vector makes one number of the first token. ``benchmarks/support_adapter.py`` trains it: see ``docs/evidence.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from triplebeam.embed.model_folder import ModelFolder
from triplebeam.embed.onnx_embedder import assembled_session, load_tensors, open_tokenizer
from triplebeam.support.claim import Claim
from triplebeam.weights import GRANITE, ensure

_ADAPTER = Path(__file__).with_name("adapter.safetensors")
_DOWN, _UP, _HEAD = ".A", ".B", "head"
#: In tokens; what is longer is cut.
_LONGEST = 224


@dataclass
class _Weights:
    """Where the embedder's weights are, and whether they may be downloaded."""

    home: Path = field(default_factory=lambda: platformdirs.user_cache_path("triplebeam"))
    offline: bool = False


_weights = _Weights()


def use_weights(home: Path, *, offline: bool) -> None:
    """Take the embedder's weights from this folder at first use, and download them there unless ``offline``."""
    _weights.home, _weights.offline = home, offline


@lru_cache(maxsize=4096)
def states(claim: Claim) -> bool:
    """The words state the fact, more likely than not; the last few claims are kept, since a fact is often read twice."""
    return _reader(_weights.home, _weights.offline).score(claim) > 0


@cache
def _reader(home: Path, offline: bool) -> "Reader":
    return Reader(ensure(GRANITE, home, offline=offline), _ADAPTER)


class Reader:
    """The model in a folder with an adapter. Safe to use from several threads at once."""

    def __init__(self, folder: Path, adapter: Path) -> None:
        model, adapted = ModelFolder(folder), load_tensors(adapter)
        self._head = adapted[f"{_HEAD}.weight"][0], float(adapted[f"{_HEAD}.bias"][0])
        self._session = assembled_session(model, merged(load_tensors(model.weights_file), adapted))
        self._tokenizer = open_tokenizer(model)
        self._tokenizer.enable_truncation(_LONGEST)

    def score(self, claim: Claim) -> float:
        """How much speaks for the claim: the logarithm of the odds."""
        ids = np.array([self._tokenizer.encode(claim.fact, claim.context).ids])
        hidden = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        weight, bias = self._head
        return float(hidden[0, 0] @ weight) + bias


def merged(tensors: Mapping[str, NDArray[Any]], adapted: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A model's tensors with those of an adapter: products added to weights, biases replaced."""
    products = {
        name.removesuffix(_UP): up @ adapted[name.removesuffix(_UP) + _DOWN]
        for name, up in adapted.items()
        if name.endswith(_UP)
    }
    added = {name: tensors[name] + product for name, product in products.items()}
    return {**tensors, **{name: tensor for name, tensor in adapted.items() if name in tensors}, **added}
