"""The embedder behind an endpoint, and the cache of query vectors, which saves work and changes nothing else."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from generate.loopback_endpoint import Endpoint, serve
from triplebeam.embed.embedder import CachedEmbedder, Kind
from triplebeam.embed.openai_compatible import OpenAICompatibleEmbedder
from triplebeam.errors import BadInputError, EndpointError

KEY = "sk-very-secret"


def vectors(request: dict[str, Any]) -> tuple[int, Any]:
    """Vectors (length of the text, 2), of no unit length, sent last first."""
    data = [{"index": number, "embedding": [len(text), 2.0]} for number, text in enumerate(request["input"])]
    return 200, {"data": data[::-1], "model": request["model"], "object": "list"}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as endpoint:
        endpoint.answer = vectors
        yield endpoint


def embedder(endpoint: Endpoint, **settings: Any) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder("small", base_url=endpoint.base_url, api_key=KEY, max_retries=0, **settings)


def test_rows_are_of_unit_length_and_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    texts = ["a", "four", "", "seven!!", "xy"]
    rows = embedder(endpoint, batch=2).embed(texts)
    expected = np.array([[max(len(text), 1), 2.0] for text in texts], dtype=np.float32)
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert [len(request["input"]) for request in endpoint.requests] == [1, 2, 2, 1]  # the first asks the dimension
    assert endpoint.keys[0] == f"Bearer {KEY}"


def test_dimensions_are_asked_for_and_need_no_request_to_be_known(endpoint: Endpoint) -> None:
    short = embedder(endpoint, dimensions=2)
    assert (short.name, short.dimension, short.fingerprint) == ("openai:small", 2, "small/2")
    assert endpoint.requests == []
    short.embed(["a"])
    assert endpoint.requests[0]["dimensions"] == 2
    assert short.embed([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((401, {"error": f"bad key {KEY}"}), "HTTP 401.*check the API key"),
        ((404, {"error": "no such model"}), "HTTP 404 for model 'small'.*no such model.*check the model's name"),
        ((500, "oh"), "HTTP 500"),
        ((200, "<html>hello"), "holds no embeddings.*<html>hello"),
        ((200, {"data": [{"index": 0}]}), "holds no embeddings"),
        ((200, "[" * 200_000), r"holds no embeddings; it begins with '\[\["),
        ((200, {"data": []}), "0 vectors for 1 texts"),
        ((200, {"data": [{"index": 1, "embedding": [1.0, 2.0]}]}), "1 vectors for 1 texts"),
        ((200, {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}), "without a direction"),
        ((200, {"data": [{"index": 0, "embedding": [1.0, math.nan]}]}), "without a direction.*check that it is an emb"),
        ((200, {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]}), "3 numbers.*2 were expected"),
    ],
)
def test_a_bad_reply_is_one_clear_sentence(endpoint: Endpoint, reply: tuple[int, Any], said: str) -> None:
    endpoint.answer = lambda _: reply
    short = embedder(endpoint, dimensions=2)
    with pytest.raises(EndpointError, match=said) as caught:
        short.embed(["a"])
    assert KEY not in f"{caught.value} {short!r}"
    assert caught.value.__cause__ is None


def test_a_fault_that_may_pass_is_tried_again_and_reported(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.answer = lambda request: vectors(request) if len(endpoint.requests) > 1 else (503, "busy")
    assert OpenAICompatibleEmbedder("small", endpoint.base_url, dimensions=2).embed(["a"]).shape == (1, 2)
    assert [record.message.partition("Retrying")[0] for record in caplog.records] == [
        f"{endpoint.base_url} answered HTTP 503 for model 'small', saying 'busy': "
        "see the endpoint's log or try again later. "
    ]


@pytest.mark.parametrize("settings", [{"base_url": "localhost:1"}, {"base_url": "http://localhost", "batch": 0}])
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInputError):
        OpenAICompatibleEmbedder("small", **settings)


class Counting:
    """Vectors that tell texts and kinds apart, and a record of what was asked for."""

    name = "counting"
    fingerprint = "1"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[tuple[str, Kind]] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.asked += [(text, kind) for text in texts]
        angles = np.array([sum(map(ord, text)) + (kind == "query") for text in texts], dtype=np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_a_query_is_encoded_once_and_a_passage_each_time() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner)
    first = embedder.embed(["who?", "when?", "who?"], "query")
    assert np.array_equal(first[1:2], embedder.embed(["when?"], "query"))
    assert (embedder.name, embedder.fingerprint) == ("counting", "1")
    for _ in range(2):
        embedder.embed(["who?"])
    assert inner.asked == [("who?", "query"), ("when?", "query"), ("who?", "passage"), ("who?", "passage")]


def test_the_oldest_query_is_forgotten_first() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embedder.embed([text], "query")
    assert [text for text, _ in inner.asked] == ["a", "b", "c", "b"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=8), st.integers(1, 4))
def test_vectors_are_those_of_the_embedder_within(asked: list[list[str]], size: int) -> None:
    embedder = CachedEmbedder(Counting(), size=size)
    for texts in asked:
        vectors = embedder.embed(texts, "query")
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(texts), 2)
        assert not texts or np.array_equal(vectors, Counting().embed(texts, "query"))


def test_what_a_caller_does_to_its_rows_is_not_remembered() -> None:
    embedder = CachedEmbedder(Counting())
    embedder.embed(["a"], "query")[:] = 0
    assert np.array_equal(embedder.embed(["a"], "query"), Counting().embed(["a"], "query"))


def test_several_threads_may_ask_at_once() -> None:
    embedder = CachedEmbedder(Counting(), size=3)
    texts = [chr(97 + number % 7) for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(lambda text: embedder.embed([text], "query")[0], texts))
    assert np.array_equal(np.array(vectors), Counting().embed(texts, "query"))


@pytest.mark.parametrize("kind", ["query", "passage"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(kind: Kind, number: float) -> None:
    class Broken(Counting):
        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
            return np.full((len(texts), self.dimension), number, np.float32)

    with pytest.raises(BadInputError, match="numbers that are not finite"):
        CachedEmbedder(Broken()).embed(["a"], kind)


def test_a_memory_of_nothing_is_refused() -> None:
    with pytest.raises(BadInputError, match="query cache must be at least 1, got 0"):
        CachedEmbedder(Counting(), size=0)
