"""All parts of a connection in their places; requests and tokens per minute."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from dependable import KEY
from hypothesis import given
from hypothesis import strategies as st
from loopback_endpoint import Endpoint, chat_completion

from scripted_loops import Gone
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.connect import Bucket, Limited, Retrying, connect
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.testing.scripted import Scripted

PROMPTS = [Prompt(system="s", user=str(number), max_tokens=50) for number in range(4)]


def test_a_connection_retries_limits_counts_and_remembers(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.headers["Retry-After"] = "0"
    endpoint.answer = lambda request: (
        (429, {}) if len(endpoint.requests) == 1 else (200, chat_completion(request["messages"][1]["content"]))
    )
    heard = list[str]()
    with CompletionStore(tmp_path / "completions.sqlite") as cache:
        limits = {"requests_per_minute": 1000, "tokens_per_minute": 100_000}
        settings: dict[str, Any] = {"base_url": endpoint.base_url, "api_key": KEY, "cache": cache, **limits}
        model = connect("m", notify=heard.append, **settings)
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
    with pytest.raises(BadInputError, match="attempts must be at least 1, got 0"):
        Retrying(model=Scripted([]), attempts=0)


PROMPT = Prompt(system="", user="x" * 400, max_tokens=100)  # 200 tokens at the most


class Time:
    """Time that passes when one sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def reply(tokens_in: int, tokens_out: int) -> Completion:
    return Completion(text="", usage=Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out))


@pytest.mark.parametrize(
    ("limit", "amount", "replies", "slept"),
    [
        pytest.param("requests", 3, [reply(0, 0)] * 5, [20, 20], id="requests wait for their minute"),
        # 200, of which 80 come back; 180 are there for the second: 20 too few
        pytest.param("tokens", 300, [reply(100, 20)] * 2, [4], id="what a request did not cost comes back"),
        pytest.param("tokens", 600, [reply(500, 100), reply(0, 0)], [20], id="a longer reply is paid for afterwards"),
        pytest.param("tokens", 50, [reply(0, 0)] * 2, [], id="a request larger than the limit goes all the same"),
    ],
)
def test_how_long_requests_wait(limit: str, amount: int, replies: list[Completion], slept: list[float]) -> None:
    time = Time()
    model = Limited(Scripted(replies), **{limit: Bucket(amount, time)}, sleep=time.sleep)  # type: ignore[arg-type]
    model.complete([PROMPT] * len(replies))
    assert time.slept == pytest.approx(slept)


def test_a_request_that_fails_gives_its_tokens_back() -> None:
    time = Time()
    model = Limited(Gone(), tokens=Bucket(200, time), sleep=time.sleep)
    for _ in range(5):
        with pytest.raises(EndpointError):
            model.complete([PROMPT])
    assert time.slept == []


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 40)), max_size=30))
def test_no_minute_sees_more_than_a_full_bucket_and_what_flows_in(steps: list[tuple[float, int]]) -> None:
    time = Time()
    bucket = Bucket(60, time)
    granted: list[tuple[float, int]] = []
    for seconds, amount in steps:
        time.now += seconds
        time.now += bucket.take(amount)
        granted.append((time.now, amount))
    for start, _ in granted:
        taken = sum(amount for moment, amount in granted if start <= moment < start + 60)
        assert taken <= 60 + 60 + 1e-6


def test_threads_share_a_limit() -> None:
    bucket = Bucket(1000, lambda: 0.0)
    with ThreadPoolExecutor(30) as threads:
        waits = [
            wait for taken in threads.map(lambda _: [bucket.take(1) for _ in range(50)], range(30)) for wait in taken
        ]
    assert sum(seconds > 0 for seconds in waits) == 500
