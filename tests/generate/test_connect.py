"""All parts in their places."""

from pathlib import Path
from typing import Any

import pytest
from dependable import KEY
from loopback_endpoint import Endpoint, chat_completion

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.connect import Retrying, connect
from triplebeam.generate.language_model import Prompt, Usage, Wrapper

PROMPTS = [Prompt(system="s", user=str(number), max_tokens=50) for number in range(4)]


def test_a_connection_retries_limits_counts_and_remembers(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.headers["Retry-After"] = "0"
    endpoint.answer = lambda request: (
        (429, {}) if len(endpoint.requests) == 1 else (200, chat_completion(request["messages"][1]["content"]))
    )
    heard = list[str]()
    with CompletionStore(tmp_path / "completions.sqlite") as cache:
        model = connect(
            "m",
            base_url=endpoint.base_url,
            api_key=KEY,
            requests_per_minute=1000,
            tokens_per_minute=100_000,
            cache=cache,
            notify=heard.append,
        )
        first, again = model.complete(PROMPTS), model.complete(PROMPTS)
    assert [completion.text for completion in first] == [completion.text for completion in again] == list("0123")
    assert len(endpoint.requests) == 5
    assert len(heard) == 1
    assert sum((each.usage for each in first + again), Usage()) == Usage(
        calls=4, tokens_in=44, tokens_out=28, cached_calls=4, cached_tokens_in=44, cached_tokens_out=28
    )
    assert KEY not in repr(model)


def test_another_endpoint_is_asked_and_another_key_is_not(endpoint: Endpoint, tmp_path: Path) -> None:
    """Credentials in an address may change; they are no part of it, and are not kept."""
    endpoint.says("x")
    host = endpoint.base_url.removeprefix("http://")
    addresses = [f"http://{host}", f"http://ann:pass1@{host}/", f"http://{host}?key=pass2"]
    with CompletionStore(tmp_path / "completions.sqlite") as cache:
        for address in addresses:
            assert connect("m", base_url=address, cache=cache).complete(PROMPTS[:1])[0].text == "x"
        assert len(endpoint.requests) == 1
        with pytest.raises(EndpointError, match="cannot be reached"):
            connect("m", base_url="http://127.0.0.1:1/v1", cache=cache).complete(PROMPTS[:1])
    assert not any(b"pass" in file.read_bytes() for file in tmp_path.iterdir())


def test_a_thinking_model_is_given_room_and_parameters(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.says("x")
    settings: dict[str, Any] = {"base_url": endpoint.base_url, "parameters": {"reasoning_effort": "low"}}
    with CompletionStore(tmp_path / "completions.sqlite") as cache:
        for limit in (None, 20, 4000):
            connect("m", cache=cache, max_tokens=limit, **settings).complete(PROMPTS[:1])
        assert [request["max_tokens"] for request in endpoint.requests] == [50, 4000]
        assert endpoint.requests[0]["reasoning_effort"] == "low"
        connect("m", cache=cache, max_tokens=4000, **settings).complete([Prompt(system="s", user="u")])
        assert "max_tokens" not in endpoint.requests[-1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"timeout": 0}, "timeout must be above 0 seconds, got 0"),
        ({"concurrency": 0}, "concurrency must be at least 1, got 0"),
        *(({"requests_per_minute": limit}, "must be above 0") for limit in (0, -1, float("nan"))),
        ({"tokens_per_minute": 0}, "must be above 0"),
        ({"base_url": "localhost:8000"}, "begins with 'http://'"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_asked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        connect("m", **settings)


def test_every_part_has_the_name_of_the_model_within() -> None:
    layer: Any = connect("toy", base_url="http://127.0.0.1:9")
    while isinstance(layer, Wrapper):
        assert layer.name == "toy"
        layer = layer.model
    with pytest.raises(BadInputError, match="attempts must be at least 1, got 0"):
        Retrying(model=layer, attempts=0)
