"""Endpoints that do not take all of a request, and how they are asked then."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from loopback_endpoint import Endpoint, chat_completion

from triplebeam.generate.language_model import Prompt, PromptRefusedError
from triplebeam.generate.openai_compatible import OpenAICompatible, part_to_blame

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
PROMPT = Prompt(system="Be brief.", user="Who?", max_tokens=50)
STRUCTURED = replace(PROMPT, schema=SCHEMA)
UNSUPPORTED = "Unsupported parameter: use 'max_completion_tokens' not 'max_tokens'."


def takes_only(
    endpoint: Endpoint, *formats: str | None, status: int = 400, message: str = "bad response_format"
) -> None:
    def answer(request: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        kind = request.get("response_format", {}).get("type")
        return (200, chat_completion("{}")) if kind in formats else (status, {"error": {"message": message}})

    endpoint.answer = answer


def formats_asked(endpoint: Endpoint) -> list[str | None]:
    return [request.get("response_format", {}).get("type") for request in endpoint.requests]


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("message", ["unknown field response_format", "bad request"])
def test_structured_output_goes_down_the_ladder_and_remembers(endpoint: Endpoint, status: int, message: str) -> None:
    takes_only(endpoint, None, status=status, message=message)
    model = OpenAICompatible("m", endpoint.base_url)
    assert [completion.text for completion in model.complete([STRUCTURED, STRUCTURED])] == ["{}", "{}"]
    assert formats_asked(endpoint) == ["json_schema", "json_object", None, None]
    assert model.refused == ["json_object", "json_schema"]
    model.complete([PROMPT])
    assert endpoint.requests[-1]["messages"][0]["content"] == "Be brief.", "no schema, no words about one"


def test_json_mode_is_kept_where_it_works_and_shows_the_schema_in_words(endpoint: Endpoint) -> None:
    takes_only(endpoint, "json_object")
    model = OpenAICompatible("m", endpoint.base_url)
    model.complete([STRUCTURED, STRUCTURED])
    assert formats_asked(endpoint) == ["json_schema", "json_object", "json_object"]
    assert json.dumps(SCHEMA) in endpoint.requests[1]["messages"][0]["content"]
    assert endpoint.requests[0]["messages"][0]["content"] == "Be brief."


@pytest.mark.parametrize(
    ("message", "requests"),
    [("This model's maximum context length is 4096 tokens; lower max_tokens", 1), ("filtered by our policy", 3)],
)
def test_a_refusal_of_the_prompt_itself_teaches_nothing(endpoint: Endpoint, message: str, requests: int) -> None:
    endpoint.refuses(400, message)
    model = OpenAICompatible("m", endpoint.base_url)
    with pytest.raises(PromptRefusedError, match=r"HTTP 400 for model 'm'"):
        model.complete([STRUCTURED])
    assert len(endpoint.requests) == requests
    assert model.refused == []


@pytest.mark.parametrize(
    ("prompt", "refused", "error", "instead"),
    [
        (PROMPT, "max_tokens", {"message": UNSUPPORTED, "param": "max_tokens"}, ("max_completion_tokens", 50)),
        (PROMPT, "max_tokens", {"message": "'max_tokens' is not supported here"}, ("max_completion_tokens", 50)),
        (PROMPT, "temperature", {"message": "'temperature' does not support 0.0, only 1"}, None),
        (replace(PROMPT, seed=7), "seed", {"message": "Extra inputs: seed"}, None),
        (replace(PROMPT, log_probabilities=True), "logprobs", {"message": "logprobs are not supported"}, None),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_from_then_on(
    endpoint: Endpoint, prompt: Prompt, refused: str, error: dict[str, str], instead: tuple[str, int] | None
) -> None:
    endpoint.answer = lambda request: (400, {"error": error}) if refused in request else (200, chat_completion("fine"))
    model = OpenAICompatible("m", endpoint.base_url)
    completions = model.complete([prompt, prompt])
    assert [completion.text for completion in completions] == ["fine", "fine"]
    assert [refused in request for request in endpoint.requests] == [True, False, False]
    assert model.refused == [refused]
    assert completions[0].log_probabilities is None
    if instead:
        assert endpoint.requests[2][instead[0]] == instead[1]


def test_an_endpoint_that_refuses_several_parts_is_asked_without_all_of_them(endpoint: Endpoint) -> None:
    def answer(request: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        for part in ("temperature", "response_format", "max_tokens", "max_completion_tokens"):
            if part in request:
                return 400, {"error": {"message": f"unknown: {part}"}}
        return 200, chat_completion("{}")

    endpoint.answer = answer
    OpenAICompatible("m", endpoint.base_url).complete([STRUCTURED])
    assert sorted(endpoint.requests[-1]) == ["messages", "model"]
    assert len(endpoint.requests) == 6


def test_only_what_was_sent_can_be_to_blame() -> None:
    assert part_to_blame({"max_tokens": 5}, "proceed with temperature 1") is None
    assert part_to_blame({"temperature": 0, "seed": 1}, "we proceed: Temperature is fixed") == "temperature"
