"""The container of int8 weights, written here as its format says and read back."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from triplebeam.embed.model_folder import ModelFolder
from triplebeam.errors import ModelMissingError
from triplebeam.weights.sources import unpack_container

TOKENIZER = b'{"version": "1.0"}'
META = {"pooling": "cls", "max_length": 10}
SHAPE = {
    "vocab": 4,
    "hidden": 4,
    "layers": 1,
    "heads": 2,
    "intermediate": 8,
    "max_positions": 12,
    "type_vocab": 1,
    "layer_norm_eps": 1e-12,
    "position_offset": 2,
}


def write(path: Path, tensors: list[tuple[dict[str, object], bytes]]) -> Path:
    entries = [{**entry, "len": len(raw)} for entry, raw in tensors]
    header = {"arch": SHAPE, "meta": META, "tokenizer_len": len(TOKENIZER), "tensors": entries}
    written = json.dumps(header).encode()
    body = TOKENIZER + b"".join(raw for _, raw in tensors)
    path.write_bytes(b"HMSEMB01" + struct.pack("<Q", len(written)) + written + body)
    return path


def test_groups_of_integers_become_floats_under_the_names_of_checkpoints(tmp_path: Path) -> None:
    values = np.arange(-8, 8, dtype=np.int8)
    scales = np.array([0.5, 2.0], "<f4")
    joined = np.arange(12, dtype="<f4")
    tensors = [
        ({"name": "word_emb", "dtype": "i8", "shape": [4, 4], "group": 8}, values.tobytes() + scales.tobytes()),
        ({"name": "l0.qkv.b", "dtype": "f32", "shape": [12], "group": 0}, joined.tobytes()),
    ]
    unpack_container(write(tmp_path / "model.hmsemb", tensors), tmp_path)
    read = load_file(tmp_path / "model.safetensors")
    expected = np.concatenate([values[:8] * 0.5, values[8:] * 2.0]).reshape(4, 4)
    assert np.array_equal(read["embeddings.word_embeddings.weight"], expected)
    assert read["encoder.layer.0.attention.self.key.bias"].tolist() == [4.0, 5.0, 6.0, 7.0]
    assert (tmp_path / "tokenizer.json").read_bytes() == TOKENIZER
    folder = ModelFolder(tmp_path)
    assert (folder.pooling, folder.longest, folder.config["pad_token_id"]) == ("cls", 10, 1)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.hmsemb").write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(ModelMissingError, match="does not begin with HMSEMB01"):
        unpack_container(tmp_path / "model.hmsemb", tmp_path)
