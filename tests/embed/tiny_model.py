"""A BERT of eight dimensions and ten words: small enough to check by hand."""

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


def tokenizer() -> Any:
    """Words by spaces, between BERT's marks; padded and cut as a published file may ask for, which is not obeyed."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    made.enable_padding(length=32)
    made.enable_truncation(4)
    return made
