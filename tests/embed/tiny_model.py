"""A BERT of eight dimensions and ten words: small enough to check by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "the", "river", "flows", "north", "query", ":")
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "max_position_embeddings": 12,
    "layer_norm_eps": 1e-12,
}


def random_weights() -> dict[str, NDArray[np.float32]]:
    """Random weights under the names BERT checkpoints use."""
    random = np.random.default_rng(7)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), 8),
        "embeddings.position_embeddings.weight": (12, 8),
        "embeddings.token_type_embeddings.weight": (2, 8),
        "embeddings.LayerNorm.weight": (8,),
        "embeddings.LayerNorm.bias": (8,),
    }
    for layer in (f"encoder.layer.{number}." for number in range(2)):
        dense = {f"attention.self.{part}": (8, 8) for part in ("query", "key", "value")}
        dense |= {"attention.output.dense": (8, 8), "intermediate.dense": (16, 8), "output.dense": (8, 16)}
        for name, shape in dense.items():
            shapes[f"{layer}{name}.weight"], shapes[f"{layer}{name}.bias"] = shape, shape[:1]
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{layer}{norm}.weight"] = shapes[f"{layer}{norm}.bias"] = (8,)
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write_model(
    folder: Path, weights: Mapping[str, NDArray[np.float32]] | None = None, words: Sequence[str] = WORDS, **files: Any
) -> Path:
    """Write a model's folder; ``files`` are JSON files in it, by name, which may replace ``config.json``.

    Its tokenizer has words by spaces, between BERT's marks; it is padded and cut as a published file may ask for,
    which is not obeyed.
    """
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(exist_ok=True)
    save_file(dict(weights or random_weights()), folder / "model.safetensors")
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer.enable_padding(length=32)
    tokenizer.enable_truncation(4)
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, content in {"config.json": CONFIG, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder
