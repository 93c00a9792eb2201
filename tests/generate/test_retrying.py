"""Faults that pass, and faults that do not."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from dependable import KEY, retrying
from loopback_endpoint import BROKEN_OFF, DROPPED, Endpoint, chat_completion

from triplebeam.errors import EndpointError
from triplebeam.generate.connect import Retrying, connect
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.system.endpoint import TransientError, parse_retry_after

PROMPT = Prompt(system="s", user="u")
NOW = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, DROPPED, BROKEN_OFF])
def test_a_passing_fault_passes(endpoint: Endpoint, status: int) -> None:
    endpoint.says_in_turn(status, status, "at last")
    assert retrying(endpoint).complete([PROMPT])[0].text == "at last"
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("body", ['{"id": "1", "choices": [{"mess', '{"error": "upstream", "choices": null}'])
def test_half_a_reply_is_asked_for_again(endpoint: Endpoint, body: str) -> None:
    endpoint.answer = lambda request: (200, body) if len(endpoint.requests) == 1 else (200, chat_completion("at last"))
    assert retrying(endpoint).complete([PROMPT])[0].text == "at last"


@pytest.mark.parametrize(
    ("status", "words"),
    [(429, "HTTP 429.*quota"), (500, "HTTP 500"), (DROPPED, "broke off"), (BROKEN_OFF, "broke off")],
)
def test_a_fault_that_stays_is_reported_with_its_account(endpoint: Endpoint, status: int, words: str) -> None:
    endpoint.says_in_turn(status)
    with pytest.raises(EndpointError, match=rf"{words}.*\(Tried 3 times in \d+ seconds\.\)") as caught:
        retrying(endpoint).complete([PROMPT])
    assert not isinstance(caught.value, TransientError)
    assert KEY not in str(caught.value)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({}, 0.0005, 0.001),
        ({"Retry-After": "7"}, 7, 7.001),
        ({"Retry-After": "0.25"}, 0.25, 0.251),
        ({"retry-after-ms": "90"}, 0.09, 0.091),
        ({"Retry-After": "soon"}, 0.0005, 0.001),
    ],
)
def test_a_pause_that_is_asked_for_is_kept(
    endpoint: Endpoint, headers: dict[str, str], least: float, most: float
) -> None:
    endpoint.headers |= headers
    endpoint.says_in_turn(429, "at last")
    pauses: list[float] = []
    retrying(endpoint, sleep=pauses.append).complete([PROMPT])
    assert len(pauses) == 1
    assert least <= pauses[0] <= most


def test_a_date_is_a_pause_too() -> None:
    later = format_datetime(NOW + timedelta(seconds=90), usegmt=True)
    assert parse_retry_after({"retry-after": later}, NOW) == 90
    assert parse_retry_after({"retry-after": format_datetime(NOW - timedelta(hours=1), usegmt=True)}, NOW) == 0
    assert parse_retry_after({"retry-after": "Sat, 01 Mar 2025 12:00:30"}, NOW) == 30
    assert parse_retry_after({"retry-after": "-3"}, NOW) is None
    assert parse_retry_after({"retry-after": "inf"}, NOW) is None


class Down:
    """A model that never gets through."""

    name = "down"

    def __init__(self, retry_after: float | None = None) -> None:
        self.calls = 0
        self.retry_after = retry_after

    def complete(self, prompts: object) -> list[Completion]:
        self.calls += 1
        raise TransientError("It is down.", self.retry_after)


def test_pauses_double_up_to_the_longest_differ_and_are_reported() -> None:
    pauses, heard = list[float](), list[str]()
    patient = {"attempts": 8, "first_pause": 1, "longest_pause": 16}
    with pytest.raises(EndpointError, match="Tried 8 times"):
        Retrying(model=Down(), sleep=pauses.append, notify=heard.append, **patient).complete([PROMPT])
    for seconds, said, longest in zip(pauses, heard, [1, 2, 4, 8, 16, 16, 16], strict=True):
        assert longest / 2 <= seconds <= longest
        assert said.startswith(f"It is down. Retrying in {seconds:.0f} s")
    assert len(set(pauses)) == 7


def test_a_pause_beyond_the_longest_time_is_not_waited_for() -> None:
    model, pauses = Down(retry_after=3600), list[float]()
    with pytest.raises(EndpointError, match="it asks to wait 3600 seconds more"):
        Retrying(model=model, sleep=pauses.append).complete([PROMPT])
    assert (model.calls, pauses) == (1, [])


@pytest.mark.parametrize(("timeout", "tries"), [(600, 1), (449, 2), (100, 6), (2000, 1)])
def test_a_try_that_could_end_after_the_longest_time_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, timeout: float, tries: int
) -> None:
    now = 0.0

    def complete(self: OpenAICompatible, prompts: object) -> list[Completion]:
        nonlocal now
        now += timeout
        raise TransientError("It took too long.")

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(OpenAICompatible, "complete", complete)
    layer: Any = connect("m", base_url="http://127.0.0.1:9", timeout=timeout)
    while not isinstance(layer, Retrying):
        layer = layer.model
    with pytest.raises(EndpointError, match=rf"\(Tried {tries} time"):
        replace(layer, clock=lambda: now, sleep=sleep, first_pause=0.001).complete([PROMPT])
    assert now <= max(900, 1.5 * timeout)


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (400, "", "HTTP 400"),
        (401, "", "check the API key"),
        (402, "", "HTTP 402"),
        (403, "", "HTTP 403"),
        (404, "", "model's name and the base URL"),
        (429, "insufficient_quota", "check the account's quota"),
    ],
)
def test_a_refusal_says_what_to_check_and_is_not_retried(
    endpoint: Endpoint, status: int, code: str, advice: str
) -> None:
    endpoint.answer = lambda request: (status, {"error": {"message": "no", "code": code}})
    with pytest.raises(EndpointError, match=f"^http://127.*HTTP {status}.*") as caught:
        retrying(endpoint).complete([PROMPT])
    assert advice in str(caught.value)
    assert isinstance(caught.value, PromptRefusedError) == (status == 400)
    assert len(endpoint.requests) == 1


def test_a_server_that_was_never_there_is_reported_at_once(unused_port: int) -> None:
    pauses: list[float] = []
    away = Endpoint(f"http://user:password@127.0.0.1:{unused_port}/v1?token=t")
    with pytest.raises(EndpointError, match=rf"^http://127.0.0.1:{unused_port}/v1 cannot be reached \(.+\)"):
        retrying(away, sleep=pauses.append).complete([PROMPT])
    assert pauses == []


def test_a_server_that_was_there_may_come_back(unused_port: int) -> None:
    away = OpenAICompatible("m", f"http://127.0.0.1:{unused_port}/v1")
    away._dialect.learn(frozenset())  # it has answered once
    with pytest.raises(EndpointError, match=r"cannot be reached .*Tried 3 times"):
        Retrying(model=away, attempts=3, sleep=lambda _: None).complete([PROMPT])
