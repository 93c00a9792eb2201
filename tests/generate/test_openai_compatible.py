import logging
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from loopback_endpoint import Endpoint, chat_completion

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.language_model import Prompt, PromptRefusedError, TokenLogProbability, Usage
from triplebeam.generate.openai_compatible import OpenAICompatible

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt(system="Be brief.", user="Who?", template="gear/read", max_tokens=50)
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def model_at(endpoint: Endpoint, **settings: Any) -> OpenAICompatible:
    return OpenAICompatible("m", endpoint.base_url, **{"api_key": KEY, "max_retries": 0, **settings})


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


def test_samples_have_seeds_of_their_own(endpoint: Endpoint) -> None:
    endpoint.says("x")
    model_at(endpoint, concurrency=1).complete([replace(PROMPT, seed=40, sample=sample) for sample in range(3)])
    assert [request["seed"] for request in endpoint.requests] == [40, 41, 42]


def test_log_probabilities_are_asked_for_and_read(endpoint: Endpoint) -> None:
    endpoint.says("Oslo", logprobs={"content": [{"token": "Oslo", "logprob": -0.25, "bytes": None}]})
    [completion] = model_at(endpoint).complete([replace(PROMPT, log_probabilities=True)])
    assert endpoint.requests[0]["logprobs"] is True
    assert completion.log_probabilities == (TokenLogProbability("Oslo", -0.25),)


def test_a_batch_comes_back_in_order_within_its_concurrency(endpoint: Endpoint) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        number = int(request["messages"][1]["content"])
        time.sleep(0.02 if number % 3 == 0 else 0.002)
        with lock:
            running -= 1
        return 200, chat_completion(f"reply {number}")

    endpoint.answer = answer
    completions = model_at(endpoint, concurrency=3).complete([replace(PROMPT, user=str(n)) for n in range(12)])
    assert [completion.text for completion in completions] == [f"reply {n}" for n in range(12)]
    assert most <= 3


def test_no_prompts_need_no_endpoint() -> None:
    assert OpenAICompatible("m", "http://127.0.0.1:9").complete([]) == []


def test_a_schema_is_sent_as_a_strict_response_format(endpoint: Endpoint) -> None:
    endpoint.says("{}")
    model_at(endpoint).complete([replace(PROMPT, schema=SCHEMA)])
    json_schema = {"name": "gear_read", "schema": SCHEMA, "strict": True}
    assert endpoint.requests[0]["response_format"] == {"type": "json_schema", "json_schema": json_schema}


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_that_refuses_schemas_is_asked_in_words(endpoint: Endpoint, status: int) -> None:
    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "response_format" in request:
            return status, {"error": {"message": "unknown field response_format"}}
        return 200, chat_completion("{}")

    endpoint.answer = answer
    [completion] = model_at(endpoint).complete([replace(PROMPT, schema=SCHEMA)])
    assert completion.text == "{}"
    assert ["response_format" in request for request in endpoint.requests] == [True, False]


@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_a_prompt_refused_for_another_reason_is_an_error_of_its_own(endpoint: Endpoint, schema: Any) -> None:
    endpoint.refuses(400, "maximum context length is 4096 tokens")
    with pytest.raises(PromptRefusedError, match=r"HTTP 400 for model 'm'.*context length"):
        model_at(endpoint).complete([replace(PROMPT, schema=schema)])
    assert len(endpoint.requests) == (1 if schema is None else 2)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "check the API key"), (404, "model's name and the base URL"), (429, "quota")]
)
def test_a_refusal_says_what_to_check_and_is_not_repeated(endpoint: Endpoint, status: int, advice: str) -> None:
    endpoint.refuses(status)
    with pytest.raises(EndpointError, match=f"^http://127.*HTTP {status} .*{advice}") as caught:
        model_at(endpoint).complete([PROMPT])
    assert not isinstance(caught.value, PromptRefusedError)
    assert len(endpoint.requests) == 1


def test_a_server_error_is_tried_again_as_often_as_told(endpoint: Endpoint) -> None:
    endpoint.refuses(500, "out of memory")
    endpoint.headers["retry-after-ms"] = "1"
    with pytest.raises(EndpointError, match=r"HTTP 500 .*out of memory"):
        model_at(endpoint, max_retries=2).complete([PROMPT])
    assert len(endpoint.requests) == 3


def test_a_passing_error_passes(endpoint: Endpoint) -> None:
    endpoint.headers["retry-after-ms"] = "1"
    endpoint.answer = lambda request: (
        (503, {"error": "busy"}) if len(endpoint.requests) == 1 else (200, chat_completion("at last"))
    )
    assert model_at(endpoint, max_retries=1).complete([PROMPT])[0].text == "at last"


def test_a_slow_endpoint_is_a_timeout(endpoint: Endpoint) -> None:
    enough = threading.Event()

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        enough.wait(5)
        return 200, chat_completion("too late")

    endpoint.answer = answer
    with pytest.raises(EndpointError, match=r"did not answer for model 'm' within 0.1 seconds"):
        model_at(endpoint, timeout=0.1).complete([PROMPT])
    enough.set()


def test_an_endpoint_that_is_not_there(endpoint: Endpoint, unused_port: int) -> None:
    model = OpenAICompatible("m", f"http://user:password@127.0.0.1:{unused_port}/v1?token=t", max_retries=0)
    with pytest.raises(EndpointError, match=rf"^http://127.0.0.1:{unused_port}/v1 cannot be reached \(.+\)"):
        model.complete([PROMPT])


@pytest.mark.parametrize(
    "body", ["<html>hello</html>", "{}", '{"choices": []}', '{"error": "upstream", "choices": null}']
)
def test_a_reply_that_is_no_chat_completion_is_shown(endpoint: Endpoint, body: str) -> None:
    endpoint.answer = lambda request: (200, body)
    with pytest.raises(EndpointError, match="is no chat completion; it begins with") as caught:
        model_at(endpoint).complete([PROMPT])
    assert body in str(caught.value)


@pytest.mark.parametrize("content", ["", None])
def test_an_empty_reply_is_the_readers_to_judge(endpoint: Endpoint, content: str | None) -> None:
    endpoint.says(content, finish_reason="content_filter")
    [completion] = model_at(endpoint).complete([PROMPT])
    assert (completion.text, completion.finish_reason) == ("", "content_filter")


def test_half_a_surrogate_pair_does_not_reach_the_text(endpoint: Endpoint) -> None:
    endpoint.says("cut \ud83d")
    assert model_at(endpoint).complete([PROMPT])[0].text == "cut ?"


def test_tokens_are_estimated_when_the_endpoint_does_not_count(endpoint: Endpoint) -> None:
    endpoint.answer = lambda request: (200, {**chat_completion("12345"), "usage": None})
    usage = model_at(endpoint).complete([PROMPT])[0].usage
    assert usage == Usage(calls=1, tokens_in=4, tokens_out=2, estimated=True)


@pytest.mark.parametrize("status", [200, 401, 500])
def test_the_key_is_never_shown(
    endpoint: Endpoint, status: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint.answer = lambda request: (status, {"error": f"bad key {KEY}"})
    model = OpenAICompatible("m", endpoint.base_url, max_retries=0)
    with pytest.raises(EndpointError) as caught:
        model.complete([PROMPT])
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert caught.value.__suppress_context__
    for text in (str(caught.value), repr(model), repr(model_at(endpoint)), caplog.text):
        assert KEY not in text


def test_an_endpoint_of_ones_own_needs_no_key_and_openai_does(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.says("fine")
    with pytest.raises(EndpointError, match=r"no API key for https://api\.openai\.com/v1: set OPENAI_API_KEY"):
        OpenAICompatible("m").complete([PROMPT])
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    assert OpenAICompatible("m", max_retries=0).complete([PROMPT])[0].text == "fine"


@pytest.mark.parametrize("settings", [{"base_url": "localhost:8000"}, {"concurrency": 0}])
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInputError):
        OpenAICompatible("m", **settings)


def test_usages_add_up() -> None:
    counted, guessed = Usage(calls=1, tokens_in=2, tokens_out=3), Usage(calls=1, tokens_in=4, estimated=True)
    assert sum([counted, guessed], Usage()) == Usage(calls=2, tokens_in=6, tokens_out=3, estimated=True)
    assert not (counted + counted).estimated
