"""The model hub, against a server on the loopback that answers as one does."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from loopback_server import run
from triplebeam.errors import ModelMissingError
from triplebeam.weights import sources

REPOSITORY = "someone/toy"
FILES = {"config.json": b"{}", "onnx/model.onnx": b"graph" * 1000}


class Handler(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
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
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def address() -> Iterator[str]:
    with run(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}"


def point_at(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")


def test_files_are_listed_and_brought(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    point_at(address, monkeypatch)
    sources.check_reachable(REPOSITORY)
    assert sources.sizes(REPOSITORY) == {name: len(data) for name, data in FILES.items()}
    sources.download(REPOSITORY, "onnx/model.onnx", tmp_path)
    assert (tmp_path / "onnx" / "model.onnx").read_bytes() == FILES["onnx/model.onnx"]


def test_a_repository_that_is_not_there_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(address, monkeypatch)
    with pytest.raises(ModelMissingError, match="someone/else"):
        sources.check_reachable("someone/else")


def test_no_hub_is_found_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    point_at("http://127.0.0.1:9", monkeypatch)
    with pytest.raises(ModelMissingError, match="the model hub did not return someone/toy"):
        sources.check_reachable(REPOSITORY)
