"""Replies as data: read, corrected once, or failed by name."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from dependable import dependable
from loopback_endpoint import Endpoint, chat_completion
from pydantic import BaseModel, Field

from scripted_loops import Gone
from tables import read_table
from triplebeam.errors import EndpointError
from triplebeam.generate.ask import Failed, Parsed, ask, ask_many, make_strict_schema
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.connect import Concurrent, WithParameters
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.generate.parse import UnusableReplyError
from triplebeam.testing.scripted import Scripted


class City(BaseModel):
    title: str
    people: int


GOOD, GOOD_TOO = '{"people": 700000, "title": "Oslo"}', '{"title": "Lima", "people": 1}'
WRONG = '{"title": "Oslo", "people": "many"}'
PROMPT = Prompt(system="s", user="Which city?", max_tokens=50)
OSLO = City(title="Oslo", people=700_000)


def test_a_good_reply_takes_one_request(endpoint: Endpoint) -> None:
    endpoint.says(GOOD)
    assert ask(dependable(endpoint), PROMPT, City) == OSLO
    [request] = endpoint.requests
    assert request["response_format"]["json_schema"]["schema"] == make_strict_schema(City)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (WRONG, "people: Input should be a valid integer"),
        ("I think it is Oslo.", "holds no JSON object"),
        ("[[[", "holds no JSON object"),
        ("", "is empty"),
    ],
)
def test_a_reply_that_is_wrong_is_corrected_once(endpoint: Endpoint, bad: str, problem: str) -> None:
    endpoint.says_in_turn(bad, GOOD)
    assert ask(dependable(endpoint), PROMPT, City) == OSLO
    assert len(endpoint.requests) == 2
    first, second = (request["messages"] for request in endpoint.requests)
    assert second[:2] == first
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == (bad or "(nothing)")
    assert problem in second[3]["content"]


@pytest.mark.parametrize("bad", [WRONG, "I am a helpful assistant.", ""])
def test_replies_that_cannot_be_used_are_not_kept(store: CompletionStore, bad: str) -> None:
    with Scripted([bad, bad, GOOD]) as scripted:
        # As `connect` puts it together: the reply is kept under the prompt with its parameters.
        model = Concurrent(WithParameters(Cached(scripted, store=store), seed=7), 2)
        with pytest.raises(UnusableReplyError):
            ask(model, PROMPT, City)
        assert store.count() == 0, "neither the reply nor that to its correction"
        assert ask(model, PROMPT, City) == ask(model, PROMPT, City) == OSLO, "the model is asked again, once"


def test_a_reply_that_was_corrected_is_kept_with_its_correction(store: CompletionStore) -> None:
    with Scripted([WRONG, GOOD]) as scripted:
        model = Cached(scripted, store=store)
        assert ask(model, PROMPT, City) == ask(model, PROMPT, City) == OSLO


def test_a_reply_that_was_cut_off_is_kept_where_its_beginning_is_used(store: CompletionStore) -> None:
    cut = Completion(text=GOOD + ' {"peo', finish_reason="length")
    model = Cached(Scripted([cut]), store=store)
    [reply] = ask_many(model, [PROMPT], City, accept_cut_off=True)
    assert isinstance(reply, Parsed)
    assert reply.value == OSLO
    assert "cut off" in str(reply.cut_off)
    assert store.count() == 1
    [reply] = ask_many(model, [PROMPT], City)
    assert isinstance(reply, Failed)
    assert store.count() == 0, "where the whole reply is needed, it is of no use"


def test_what_was_not_asked_keeps_its_reply(endpoint: Endpoint, store: CompletionStore) -> None:
    """With the endpoint gone, the cache is not looked at for the rest of a batch."""
    prompts = [replace(PROMPT, user=str(number)) for number in range(8)]
    endpoint.says(GOOD)
    ask_many(dependable(endpoint, store), prompts[1:], City)
    endpoint.refuses(401)
    replies = ask_many(dependable(endpoint, store, concurrency=1), prompts, City)
    assert all(isinstance(reply, Failed) for reply in replies)
    assert store.count() == 7


def test_a_reply_that_stays_wrong_is_a_failure_with_its_reason(endpoint: Endpoint) -> None:
    endpoint.says_in_turn(WRONG, '{"title": 1}')
    with pytest.raises(UnusableReplyError, match=r"not what was asked for \(title: .*people: Field required") as caught:
        ask(dependable(endpoint), PROMPT, City)
    assert caught.value.reply == '{"title": 1}'
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    ("choice", "message"), read_table(__file__, "test_what_a_correction_would_not_help_is_named_at_once")
)
def test_what_a_correction_would_not_help_is_named_at_once(
    endpoint: Endpoint, choice: dict[str, Any], message: str
) -> None:
    finish_reason, said = choice["finish_reason"], {"content": GOOD[:-5], **choice}
    endpoint.says("", finish_reason=finish_reason, message={"role": "assistant", **said})
    with pytest.raises(UnusableReplyError, match=message):
        ask(dependable(endpoint), PROMPT, City)
    assert len(endpoint.requests) == 1


def test_thinking_tokens_that_are_only_counted_are_noticed(endpoint: Endpoint) -> None:
    body = chat_completion("", finish_reason="length")
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 50}
    endpoint.says_in_turn(body)
    with pytest.raises(UnusableReplyError, match="spent on thinking"):
        ask(dependable(endpoint), PROMPT, City)


def test_a_bad_reply_does_not_sink_a_batch(endpoint: Endpoint) -> None:
    def answer(request: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        user, is_corrected = request["messages"][1]["content"], len(request["messages"]) > 2
        if user == "refused":
            return 400, {"error": {"message": "the context length is exceeded"}}
        said = {"repaired": GOOD_TOO if is_corrected else WRONG, "hopeless": WRONG}
        return 200, chat_completion(said.get(user, GOOD))

    endpoint.answer = answer
    users = ["fine", "repaired", "refused", "hopeless", "fine too"]
    replies = ask_many(dependable(endpoint), [Prompt(system="s", user=user) for user in users], City)
    titles = [isinstance(reply, Parsed) and reply.value.title for reply in replies]
    assert titles == ["Oslo", "Lima", False, False, "Oslo"]
    assert len(endpoint.requests) == 7
    assert not any(reply.endpoint_gone for reply in replies if isinstance(reply, Failed))


@pytest.mark.parametrize(
    "gone", [[True, False], [True, False, True]], ids=["the correction fails", "none is asked for"]
)
def test_an_endpoint_that_goes(endpoint: Endpoint, gone: list[bool]) -> None:
    endpoint.says_in_turn(WRONG, GOOD, 500)
    replies = ask_many(dependable(endpoint, concurrency=1), [PROMPT] * len(gone), City)
    assert [isinstance(reply, Failed) and reply.endpoint_gone for reply in replies] == gone
    assert len(endpoint.requests) == 2 + 3


def test_any_model_will_do() -> None:
    with Scripted([WRONG, GOOD, GOOD_TOO]) as model:
        replies = ask_many(model, [PROMPT, PROMPT], City)
    assert [isinstance(reply, Parsed) and reply.value.title for reply in replies] == ["Lima", "Oslo"]
    with pytest.raises(EndpointError, match="does not answer"):
        ask(Gone(), PROMPT, City)


def test_a_schema_requires_every_field_and_takes_no_other() -> None:
    class Country(BaseModel):
        default: str = "x"
        cities: list[City] = Field(default_factory=list, description="the largest first")

    schema: Any = make_strict_schema(Country)
    assert schema["required"] == ["default", "cities"]
    assert schema["properties"]["default"] == {"type": "string"}
    assert schema["properties"]["cities"]["description"] == "the largest first"
    city = schema["$defs"]["City"]
    assert sorted(city["properties"]) == city["required"][::-1] == ["people", "title"]
    assert schema["additionalProperties"] is city["additionalProperties"] is False
    assert '"title": "' not in json.dumps(schema)
