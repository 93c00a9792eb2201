"""Every extractor and language model there is, held against its contract."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from generate.loopback_endpoint import chat_completion, serve
from triplebeam.extract.extractor import Extractor
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.generate.connect import connect
from triplebeam.generate.language_model import LanguageModel
from triplebeam.testing.contracts import ExtractorContract, LanguageModelContract
from triplebeam.testing.scripted import Scripted

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
