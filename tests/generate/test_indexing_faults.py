"""An indexing run through a faulty endpoint: no passage lost or doubled, nothing paid for twice."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dependable import dependable
from loopback_endpoint import Answer, Endpoint, chat_completion

from small_world import TRIPLES, WORLD, WordEmbedder, world_documents
from triplebeam.errors import EndpointError
from triplebeam.extract.llm import LLMExtractor
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.folder.snapshot import Snapshot


def passage_asked(request: dict[str, Any]) -> str:
    """Which passage of the small world a request is about."""
    [id_] = [id_ for id_, (_, text) in WORLD.items() if text in request["messages"][1]["content"]]
    return id_


def extraction_of(request: dict[str, Any]) -> dict[str, Any]:
    rows = [list(triple) for triple in TRIPLES.get(passage_asked(request), [])]
    return chat_completion(json.dumps({"entities": [], "triples": rows}))


class Till:
    """Counts which passages were answered, and so paid for."""

    def __init__(self, answer: Answer) -> None:
        self.paid: list[str] = []
        self._answer = answer
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> tuple[int, dict[str, Any] | str]:
        status, body = self._answer(request)
        if status == 200:
            with self._lock:
                self.paid.append(passage_asked(request))
        return status, body


@pytest.fixture
def build(endpoint: Endpoint, store: CompletionStore, tmp_path: Path) -> Callable[[], BuildReport]:
    """One run of `triplebeam index`, with an extractor as fresh as a new process has."""

    def run() -> BuildReport:
        extractor = LLMExtractor(dependable(endpoint, store, attempts=5), batch_size=3)
        builder = IndexBuilder(folder=tmp_path / "index", embedder=WordEmbedder(), extractor=extractor)
        return builder.build(world_documents())

    return run


def check_whole(folder: Path) -> None:
    index = Snapshot.open(folder / "index")
    assert index.manifest.counts["passages"] == len(WORLD)
    for id_ in WORLD:
        drawn = [index.triples.triple(number) for number in index.triples.triples_of([id_]).tolist()]
        assert drawn == TRIPLES.get(id_, [])


def test_an_endpoint_that_dies_halfway(endpoint: Endpoint, build: Callable[[], BuildReport], tmp_path: Path) -> None:
    alive = 4

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return (200, extraction_of(request)) if len(till.paid) < alive else (500, {})

    endpoint.answer = till = Till(answer)
    with pytest.raises(EndpointError, match=r"Tried 5 times"):
        build()
    assert 4 <= len(till.paid) < len(WORLD)
    alive = 100
    assert build().failures == []
    assert sorted(till.paid) == sorted(WORLD)
    check_whole(tmp_path)
    build()
    assert len(till.paid) == len(WORLD)


def test_a_passage_that_fails_is_recorded_and_the_others_are_indexed(
    endpoint: Endpoint, build: Callable[[], BuildReport], tmp_path: Path
) -> None:
    broken = True

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if broken and passage_asked(request) == "city":
            return 200, chat_completion('{"entities": []}')
        return 200, extraction_of(request)

    endpoint.answer = till = Till(answer)
    [(id_, reason)] = build().failures
    assert id_ == "city"
    assert "triples: Field required" in reason
    assert sorted(till.paid) == sorted([*WORLD, "city"])  # once more, for the correction
    broken = False
    assert build().failures == [], "a reply that could not be used is not replayed"
    assert till.paid[len(WORLD) + 1 :] == ["city"], "what was paid for and used is"
    check_whole(tmp_path)
