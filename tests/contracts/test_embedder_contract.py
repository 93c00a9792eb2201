"""Every embedder there is, held against the contract."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from embed.tiny_model import CONFIG, random_weights, tokenizer
from triplebeam.embed import load_embedder
from triplebeam.embed.cached import CachedEmbedder
from triplebeam.embed.embedder import Embedder
from triplebeam.embed.openai_compatible import OpenAICompatibleEmbedder
from triplebeam.testing.contracts import EmbedderContract


class TestWords(EmbedderContract):
    """The tests' own: what the other tests build on keeps the contract too."""

    @pytest.fixture
    def embedder(self, words: Embedder) -> Embedder:
        return words


class TestCachedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, words: Embedder) -> Embedder:
        return CachedEmbedder(words, size=2)


class TestTinyOnnx(EmbedderContract):
    """A model small enough for every run; it knows the words of ``texts`` and no others."""

    texts = ("the river flows", "north", "the river flows north " * 40, "north")

    @pytest.fixture
    def embedder(self, tmp_path: Path) -> Embedder:
        from safetensors.numpy import save_file

        save_file(random_weights(), tmp_path / "model.safetensors")
        tokenizer().save(str(tmp_path / "tokenizer.json"))
        (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
        return load_embedder(str(tmp_path), tmp_path)


@pytest.mark.slow
class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, minilm: Embedder) -> Embedder:
        return minilm


class TestEndpoint(EmbedderContract):
    """An endpoint on loopback that encodes as the tests' own embedder does, at twice the length."""

    @pytest.fixture
    def embedder(self, words: Embedder) -> Iterator[Embedder]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
                rows = [{"index": place, "embedding": row.tolist()} for place, row in enumerate(2 * words.embed(texts))]
                body = json.dumps({"object": "list", "model": "words", "data": rows}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            url = f"http://127.0.0.1:{server.server_port}/v1"
            yield OpenAICompatibleEmbedder("words", base_url=url, api_key="key", batch=3)
            server.shutdown()
            thread.join()
