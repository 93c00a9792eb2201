"""Every embedder there is, held against the contract."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from embed.tiny_model import write_model
from generate.loopback_endpoint import serve
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
        return load_embedder(str(write_model(tmp_path)), tmp_path)


@pytest.mark.slow
class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, minilm: Embedder) -> Embedder:
        return minilm


class TestEndpoint(EmbedderContract):
    """An endpoint on loopback that encodes as the tests' own embedder does, at twice the length."""

    @pytest.fixture
    def embedder(self, words: Embedder) -> Iterator[Embedder]:
        def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            rows = 2 * words.embed(request["input"])
            data = [{"index": place, "embedding": row.tolist()} for place, row in enumerate(rows)]
            return 200, {"object": "list", "model": "words", "data": data}

        with serve() as endpoint:
            endpoint.answer = answer
            yield OpenAICompatibleEmbedder("words", base_url=endpoint.base_url, api_key="key", batch=3)
