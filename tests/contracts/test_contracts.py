"""Every embedder, extractor, language model, store of triples and scorer there is, held against its contract."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from embed.tiny_model import write_model
from generate.loopback_endpoint import chat_completion, serve
from triplebeam.embed import load_embedder
from triplebeam.embed.embedder import CachedEmbedder, Embedder
from triplebeam.embed.openai_compatible import OpenAICompatibleEmbedder
from triplebeam.extract.extractor import Extractor
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.generate.connect import connect
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import TripleStore
from triplebeam.methods.gear import Cascade, Exact, Pooled
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.passage import Document
from triplebeam.testing.contracts import (
    ChainScorerContract,
    EmbedderContract,
    ExtractorContract,
    LanguageModelContract,
    TripleStoreContract,
)
from triplebeam.testing.scripted import Scripted


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


FILM = [["Laughter in Hell", "directed by", "Edward Cahn"], ["Laughter in Hell", " is ", "drama film"]]
UNTIDY = [*FILM, FILM[0], ["", "is", "nothing"]]


class TestTriplesFile(ExtractorContract):
    @pytest.fixture
    def extractor(self, tmp_path: Path) -> Extractor:
        file = tmp_path / "triples.jsonl"
        file.write_text(json.dumps({"passage_id": "film", "triples": UNTIDY}) + "\n", encoding="utf-8")
        return TriplesFile(file)


class TestLLMExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        replies = {
            "drama film": json.dumps({"entities": ["Edward Cahn"], "triples": UNTIDY}),
            "died in 1963": "this is not JSON",
            "…": json.dumps({"entities": [], "triples": []}),
        }
        return LLMExtractor(Scripted(replies), batch_size=2)


@pytest.mark.slow
class TestLocalExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self, home: Path) -> Extractor:
        from triplebeam.extract.local import LocalExtractor
        from triplebeam.weights import ENGLISH_PARSER, ensure

        return LocalExtractor(ensure(ENGLISH_PARSER, home), processes=1)


class TestScripted(LanguageModelContract):
    @pytest.fixture
    def model(self) -> LanguageModel:
        return Scripted({word: word for word in ("one", "two", "three", "four", "five")})


class TestConnect(LanguageModelContract):
    @pytest.fixture
    def model(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModel]:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with serve() as endpoint:
            endpoint.answer = lambda request: (200, chat_completion(request["messages"][-1]["content"].upper()))
            yield connect("loud", base_url=endpoint.base_url, api_key="key", concurrency=3)


@pytest.fixture
def passage_ids(world: Snapshot) -> list[str]:
    return world.passages.ids(range(len(world.passages)))


@pytest.fixture
def store(world: Snapshot) -> TripleStore:
    return world.triples


@pytest.fixture
def embedder(words: Embedder) -> Embedder:
    return words


class TestTripleGraph(TripleStoreContract):
    """The index on disk."""


class TestEmptyTripleGraph(TripleStoreContract):
    """An index that was built without an extractor."""

    @pytest.fixture
    def store(self, tmp_path: Path, words: Embedder) -> TripleStore:
        IndexBuilder(folder=tmp_path, embedder=words).build(
            [Document(id="a", text="one"), Document(id="b", text="two")]
        )
        return Snapshot.open(tmp_path).triples

    @pytest.fixture
    def passage_ids(self) -> list[str]:
        return ["a#0", "b#0"]


class TestScorers(ChainScorerContract):
    @pytest.fixture(params=[Exact, Pooled, Cascade, partial(Cascade, shortlist=1)])
    def scorer(self, request: pytest.FixtureRequest, store: TripleStore, words: Embedder) -> ChainScorer:
        made: ChainScorer = request.param(triples=store, embedder=words)
        return made
