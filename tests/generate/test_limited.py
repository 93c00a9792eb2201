from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.errors import EndpointError
from triplebeam.generate.connect import Bucket, Limited
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.testing.scripted import Scripted

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
    class Down(Scripted):
        def complete(self, prompts: object) -> list[Completion]:
            raise EndpointError("down")

    time = Time()
    model = Limited(Down([]), tokens=Bucket(200, time), sleep=time.sleep)
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
