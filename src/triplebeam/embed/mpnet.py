"""MPNet in BERT's terms: the same layers under other names, no segments, and a bias for how far apart two tokens are.

The bias is one number per head and bucket of distances, shared by all layers (T5's scheme): half of the buckets are for
tokens to the left, half for those to the right, the first eight of each for single distances, the others ever wider.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MPNET = "mpnet"
BIAS = "encoder.relative_attention_bias.weight"
_MAX_DISTANCE = 128
_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}


def rename_to_bert(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Rename the weights to BERT's names, with a segment of zeros."""
    named = {_rename_weight(name.removeprefix(f"{MPNET}.")): tensor for name, tensor in tensors.items()}
    width = named["embeddings.word_embeddings.weight"].shape[1]
    return {**named, "embeddings.token_type_embeddings.weight": np.zeros((1, width), np.float32)}


def _rename_weight(name: str) -> str:
    for theirs, berts in _NAMES.items():
        name = name.replace(theirs, berts)
    return name


def position_bias(table: NDArray[Any], length: int) -> NDArray[Any]:
    """Return what is added to the attention of each pair of a text's tokens: texts (one), heads, from, to."""
    places = np.arange(length)
    buckets = _buckets(places[None, :] - places[:, None], len(table) // 2)
    return np.moveaxis(table[buckets], -1, 0)[None]


def _buckets(steps_right: NDArray[np.int64], of_each_side: int) -> NDArray[np.int64]:
    single = of_each_side // 2
    distance = np.abs(steps_right)
    wider = np.log(np.maximum(distance, single) / single) / math.log(_MAX_DISTANCE / single) * (of_each_side - single)
    wide = np.minimum(single + wider.astype(np.int64), of_each_side - 1)
    on_its_side = np.where(distance < single, distance, wide)
    return np.where(steps_right > 0, of_each_side, 0) + on_its_side
