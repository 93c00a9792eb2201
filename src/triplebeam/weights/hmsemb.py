"""An embedding model out of its ``.hmsemb`` container, into the folder layout of model hubs.

The container holds a JSON header, ``tokenizer.json`` and the tensors in the header's order. Large tensors are int8 in
groups: first all values, then one scale per group. What is written is the same to the byte on every machine, so one
SHA-256 tells the model wherever it was unpacked; hence the safetensors file is laid out here and not by a library.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import ModelMissingError

_MAGIC = b"HMSEMB01"
_LAYER = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "word_emb": "embeddings.word_embeddings.weight",
    "pos_emb": "embeddings.position_embeddings.weight",
    "type_emb": "embeddings.token_type_embeddings.weight",
    "emb_ln.w": "embeddings.LayerNorm.weight",
    "emb_ln.b": "embeddings.LayerNorm.bias",
}


def unpack(container: Path, into: Path) -> None:
    """Write ``model.safetensors``, ``tokenizer.json`` and the small files that say how to run the model."""
    data = container.read_bytes()
    if data[:8] != _MAGIC:
        raise ModelMissingError(f"{container.name} is not a model container: it does not begin with {_MAGIC.decode()}")
    (length,) = struct.unpack("<Q", data[8:16])
    header = json.loads(data[16 : 16 + length])
    at = 16 + length
    (into / "tokenizer.json").write_bytes(data[at : at + header["tokenizer_len"]])
    tensors: dict[str, NDArray[np.float32]] = {}
    at += header["tokenizer_len"]
    for entry in header["tensors"]:
        tensors.update(_rename_tensor(entry["name"], _tensor(entry, data[at : at + entry["len"]])))
        at += entry["len"]
    (into / "model.safetensors").write_bytes(_safetensors(tensors))
    for name, content in _make_config_files(header).items():
        (into / name).parent.mkdir(exist_ok=True)
        (into / name).write_text(json.dumps(content, indent=1), encoding="utf-8")


def _tensor(entry: dict[str, Any], raw: bytes) -> NDArray[np.float32]:
    if entry["dtype"] == "f32":
        return np.frombuffer(raw, "<f4").reshape(entry["shape"])
    values = int(np.prod(entry["shape"]))
    scales = np.frombuffer(raw[values:], "<f4")
    grouped = np.frombuffer(raw[:values], np.int8).reshape(len(scales), entry["group"])
    tensor: NDArray[np.float32] = (grouped.astype(np.float32) * scales[:, None]).reshape(entry["shape"])
    return tensor


def _rename_tensor(name: str, tensor: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return the tensor under the names BERT checkpoints use; queries, keys and values are stored as one."""
    if name in _EMBEDDINGS:
        return {_EMBEDDINGS[name]: tensor}
    layer, part, kind = name.split(".")
    at, kind = f"encoder.layer.{layer[1:]}.", {"w": "weight", "b": "bias"}[kind]
    if part == "qkv":
        thirds = zip(("query", "key", "value"), np.split(tensor, 3), strict=True)
        return {f"{at}attention.self.{which}.{kind}": third for which, third in thirds}
    return {f"{at}{_LAYER[part]}.{kind}": tensor}


def _safetensors(tensors: dict[str, NDArray[np.float32]]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body, at = [], 0
    for name, tensor in sorted(tensors.items()):
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        body.append(np.ascontiguousarray(tensor, "<f4").tobytes())
        at += tensor.nbytes
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    return b"".join([struct.pack("<Q", len(written)), written, *body])


def _make_config_files(header: dict[str, Any]) -> dict[str, dict[str, object]]:
    shape, meta = header["arch"], header["meta"]
    return {
        "config.json": {
            "model_type": "roberta",
            "vocab_size": shape["vocab"],
            "hidden_size": shape["hidden"],
            "num_hidden_layers": shape["layers"],
            "num_attention_heads": shape["heads"],
            "intermediate_size": shape["intermediate"],
            "max_position_embeddings": shape["max_positions"],
            "type_vocab_size": shape["type_vocab"],
            "layer_norm_eps": shape["layer_norm_eps"],
            "hidden_act": "gelu",
            "pad_token_id": shape["position_offset"] - 1,
        },
        "1_Pooling/config.json": {f"pooling_mode_{meta['pooling']}_token": True},
        "sentence_bert_config.json": {"max_seq_length": meta["max_length"]},
    }
