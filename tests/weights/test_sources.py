"""Where weights come from: the model hub, against a server on the loopback, and the container of int8 weights."""

import json
import struct
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from loopback_server import run
from triplebeam.embed.model_folder import ModelFolder
from triplebeam.errors import ModelMissingError
from triplebeam.weights import sources
from triplebeam.weights.sources import unpack_container

REPOSITORY = "someone/toy"
FILES = {"config.json": b"{}", "onnx/model.onnx": b"graph" * 1000}


class Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith(f"/api/models/{REPOSITORY}"):
            siblings = [{"rfilename": name, "size": len(data)} for name, data in FILES.items()]
            content = json.dumps({"id": REPOSITORY, "sha": "0" * 40, "siblings": siblings}).encode()
        else:
            content = FILES.get(path.removeprefix(f"/{REPOSITORY}/resolve/main/"), b"")
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{len(content)}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_GET = do_HEAD = answer  # noqa: N815 - the names that the server calls

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


def point_at(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with run(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        point_at(f"http://127.0.0.1:{port}", monkeypatch)
        yield


def test_files_are_listed_and_brought(hub: None, tmp_path: Path) -> None:
    sources.check_reachable(REPOSITORY)
    assert sources.sizes(REPOSITORY) == {name: len(data) for name, data in FILES.items()}
    sources.download(REPOSITORY, "onnx/model.onnx", tmp_path)
    assert (tmp_path / "onnx" / "model.onnx").read_bytes() == FILES["onnx/model.onnx"]


def test_a_repository_that_is_not_there_is_named_and_no_hub_is_found_out_at_once(
    hub: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelMissingError, match="someone/else"):
        sources.check_reachable("someone/else")
    point_at("http://127.0.0.1:9", monkeypatch)
    with pytest.raises(ModelMissingError, match="the model hub did not return someone/toy"):
        sources.check_reachable(REPOSITORY)


TOKENIZER = b'{"version": "1.0"}'
META = {"pooling": "cls", "max_length": 10}
SHAPE = {"vocab": 4, "hidden": 4, "layers": 1, "heads": 2, "intermediate": 8, "max_positions": 12, "type_vocab": 1}
SHAPE |= {"layer_norm_eps": 1e-12, "position_offset": 2}


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
