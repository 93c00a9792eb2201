"""Prompts as requests of an OpenAI-compatible endpoint, and its replies as completions."""

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from loopback_endpoint import Endpoint, chat_completion

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Prompt, TokenLogProbability, Usage
from triplebeam.generate.openai_compatible import OpenAICompatible, completion_from, request_for
from triplebeam.generate.parse import strip_thoughts

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt(system="Be brief.", user="Who?", template="gear/read", max_tokens=50)
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def model_at(endpoint: Endpoint, **settings: Any) -> OpenAICompatible:
    return OpenAICompatible("m", endpoint.base_url, **{"api_key": KEY, **settings})


def test_a_prompt_becomes_a_request_and_the_reply_a_completion(endpoint: Endpoint) -> None:
    endpoint.says("Thor Heyerdahl")
    [completion] = model_at(endpoint).complete([PROMPT])
    assert completion.text == "Thor Heyerdahl"
    assert completion.usage == Usage(calls=1, tokens_in=11, tokens_out=7)
    assert (completion.finish_reason, completion.log_probabilities) == ("stop", None)
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert endpoint.requests == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
            "temperature": 0.0,
            "max_tokens": 50,
        }
    ]


def test_what_a_prompt_leaves_open_is_not_sent(endpoint: Endpoint) -> None:
    endpoint.says("x")
    model_at(endpoint).complete([Prompt(system="s", user="u", temperature=None)])
    assert sorted(endpoint.requests[0]) == ["messages", "model"]


def test_seeds_share_no_samples() -> None:
    """Self-consistency under four seeds, and GE-Reasoning's samples of ten attempts."""
    sent = [
        request_for("m", replace(PROMPT, seed=seed, sample=sample))["seed"] for seed in range(4) for sample in range(50)
    ]
    assert len(set(sent)) == len(sent)
    assert all(0 <= seed < 2**31 for seed in sent)
    assert request_for("m", replace(PROMPT, seed=40))["seed"] == 40


def test_a_schema_is_sent_as_a_strict_response_format(endpoint: Endpoint) -> None:
    endpoint.says("{}")
    model_at(endpoint).complete([replace(PROMPT, schema=SCHEMA)])
    json_schema = {"name": "gear_read", "schema": SCHEMA, "strict": True}
    assert endpoint.requests[0]["response_format"] == {"type": "json_schema", "json_schema": json_schema}


@pytest.mark.parametrize(
    "body",
    ["<html>hello</html>", "{}", '{"choices": []}', '{"error": "upstream", "choices": null}', "[" * 200_000],
    ids=lambda body: body[:30],
)
def test_a_reply_that_is_no_chat_completion_is_shown(endpoint: Endpoint, body: str) -> None:
    endpoint.answer = lambda request: (200, body)
    with pytest.raises(EndpointError, match="is no chat completion; it begins with") as caught:
        model_at(endpoint).complete([PROMPT])
    assert body[:200] in str(caught.value)


@pytest.mark.parametrize("status", [200, 401, 500])
def test_the_key_is_never_shown(endpoint: Endpoint, status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.answer = lambda request: (status, {"error": f"bad key {KEY}"})
    model = model_at(endpoint)
    with pytest.raises(EndpointError) as caught:
        model.complete([PROMPT])
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert caught.value.__suppress_context__
    for text in (str(caught.value), repr(model), caplog.text):
        assert KEY not in text


def test_an_endpoint_of_ones_own_needs_no_key_and_openai_does(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.says("fine")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)  # read by the settings, and by nothing below them
    with pytest.raises(EndpointError, match=r"no API key for https://api\.openai\.com/v1: set OPENAI_API_KEY"):
        OpenAICompatible("m").complete([PROMPT])
    assert OpenAICompatible("m", endpoint.base_url).complete([PROMPT])[0].text == "fine"
    assert KEY not in str(endpoint.keys)


def test_usages_add_up() -> None:
    counted, guessed = Usage(calls=1, tokens_in=2, tokens_out=3), Usage(calls=1, tokens_in=4, estimated=True)
    assert sum([counted, guessed], Usage()) == Usage(calls=2, tokens_in=6, tokens_out=3, estimated=True)
    assert not (counted + counted).estimated
    cached = Usage(cached_calls=1, cached_tokens_in=2, cached_tokens_out=3)
    assert (counted + counted.mark_cached()).all_calls == 2
    assert counted.mark_cached().mark_cached() == cached


SCORED = Prompt(system="abcd", user="ef", log_probabilities=True)


@pytest.mark.parametrize(
    ("text", "said", "thought"),
    [
        ("plain", "plain", False),
        ("<think>a</think>\n\nplain", "plain", True),
        ("the template opened it</think> plain", "plain", True),
        ("<think>a</think><think>b</think>plain", "plain", True),
        (" <think>cut", "", True),
        ("say <think> aloud", "say <think> aloud", False),
    ],
)
def test_thoughts_are_left_out(text: str, said: str, thought: bool) -> None:
    assert strip_thoughts(text) == (said, thought)
    completion = completion_from(json.dumps(chat_completion(text)), SCORED)
    assert (completion.text, completion.thought) == (said, thought)


@pytest.mark.parametrize("thought", [[], ["<thi", "nk>", "hm", "</think>"]])
def test_log_probabilities_are_those_of_the_reply(thought: list[str]) -> None:
    content = [{"token": token, "logprob": -0.5} for token in [*thought, "Os", "lo"]]
    body = json.dumps(chat_completion("".join([*thought, "Oslo"]), logprobs={"content": content}))
    expected = tuple(TokenLogProbability(token, -0.5) for token in ("Os", "lo"))
    assert completion_from(body, SCORED).log_probabilities == expected


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}])
def test_log_probabilities_that_are_not_given_are_none(logprobs: Any) -> None:
    assert completion_from(json.dumps(chat_completion("x", logprobs=logprobs)), SCORED).log_probabilities is None


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": None, "completion_tokens": 3}, {"prompt_tokens": -1, "completion_tokens": "x"}],
)
def test_tokens_that_are_not_counted_are_guessed_and_marked(usage: Any) -> None:
    body = json.dumps({**chat_completion("<think>12345</think>6"), "usage": usage})
    assert completion_from(body, SCORED).usage == Usage(calls=1, tokens_in=2, tokens_out=6, estimated=True)


@pytest.mark.parametrize(("content", "text"), [("", ""), (None, ""), ("cut \ud83d", "cut \ufffd")])
def test_an_empty_reply_is_the_readers_to_judge_and_half_a_character_is_replaced(content: Any, text: str) -> None:
    completion = completion_from(json.dumps(chat_completion(content, finish_reason="content_filter")), SCORED)
    assert (completion.text, completion.finish_reason) == (text, "content_filter")


def test_a_reply_in_pieces_is_put_together() -> None:
    pieces = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Oslo"}]
    body = chat_completion("")
    body["choices"][0]["message"]["content"] = pieces
    assert completion_from(json.dumps(body), SCORED).text == "Oslo"
