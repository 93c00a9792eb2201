"""The embedder behind an endpoint, against a server on the loopback."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from generate.loopback_endpoint import Endpoint, serve
from triplebeam.embed import load_embedder
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
    assert (short.dimension, short.fingerprint, endpoint.requests) == (2, "small/2", [])
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
    with pytest.raises(EndpointError, match=said) as caught:
        embedder(endpoint, dimensions=2).embed(["a"])
    assert KEY not in str(caught.value)
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


def test_an_endpoint_that_is_not_there_is_named() -> None:
    absent = OpenAICompatibleEmbedder("small", base_url="http://user:pw@127.0.0.1:9/v1", api_key=KEY, max_retries=0)
    with pytest.raises(EndpointError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached"):
        absent.embed(["a"])
    assert KEY not in repr(absent)


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(EndpointError, match="OPENAI_API_KEY"):
        OpenAICompatibleEmbedder("small").embed(["a"])


@pytest.mark.parametrize("settings", [{"base_url": "localhost:1"}, {"base_url": "http://localhost", "batch": 0}])
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInputError):
        OpenAICompatibleEmbedder("small", **settings)


def test_the_door_knows_endpoints(endpoint: Endpoint, tmp_path: Any) -> None:
    loaded = load_embedder("openai:small", tmp_path, base_url=endpoint.base_url, api_key=KEY)
    assert loaded.name == "openai:small"
    assert loaded.embed(["a"]).shape == (1, 2)
