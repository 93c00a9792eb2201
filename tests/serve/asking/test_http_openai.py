"""OpenAI's own client against our server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI

from patience import SECONDS
from scripted_loops import Gone
from serve.asking.served_world import QUESTION, MakeApp, Slow, on_loopback, one_reading, stands_still
from triplebeam.generate.language_model import LanguageModel
from triplebeam.testing.scripted import Scripted

Connect = Callable[..., OpenAI]


@pytest.fixture
def connect(make: MakeApp) -> Iterator[Connect]:
    with ExitStack() as open_things:

        def to_server(model: LanguageModel | None = None, **limits: Any) -> OpenAI:
            address = open_things.enter_context(on_loopback(make(model=model, **limits)))
            client = OpenAI(api_key="none", base_url=f"{address}/v1", max_retries=0)
            return open_things.enter_context(client)

        yield to_server


def asked(text: Any) -> list[Any]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def test_models_are_indexes_with_methods(connect: Connect) -> None:
    without, having = connect(), connect(Scripted([]))
    ids = [model.id for model in without.models.list()]
    assert ids[:2] == ["world", "world/blend"]
    assert "world/auto" not in ids
    assert "world/hybrid+sync_ge" not in ids
    assert "world/auto" in [model.id for model in having.models.list()]
    assert without.models.retrieve("world/hybrid+naive_ge").id == "world/hybrid+naive_ge"
    with pytest.raises(openai.NotFoundError):
        without.models.retrieve("none/blend")


def test_an_answer_with_citations(connect: Connect) -> None:
    with Scripted(one_reading()) as model:
        done = connect(model).chat.completions.create(model="world/auto", messages=asked(QUESTION), temperature=0.2)
    said = done.choices[0].message.content
    assert said is not None
    assert said.startswith("It is 25 August 1963. [1][2]\n\n[1] Laughter in Hell: ")
    assert done.choices[0].finish_reason == "stop"
    assert done.model == "world/auto"
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.total_tokens) == (20, 6, 26)
    message = done.choices[0].message.to_dict()
    first, second = message["annotations"]  # type: ignore[misc]
    assert (first["type"], first["index"], first["passage_id"], first["title"]) == (  # type: ignore[index]
        "file_citation",
        1,
        "film",
        "Laughter in Hell",
    )
    assert "25 August 1963" in second["quote"]  # type: ignore[index]
    details: Any = done.to_dict()["triplebeam"]
    assert details["answer"] == "25 August 1963"
    assert len(details["steps"]) == 1


def test_an_answer_in_pieces(connect: Connect) -> None:
    with Scripted(one_reading()) as model:
        chunks = list(
            connect(model).chat.completions.create(
                model="world", messages=asked(QUESTION), stream=True, stream_options={"include_usage": True}
            )
        )
    *_, last, with_usage = chunks
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith("It is 25 August 1963. [1][2]")
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len(chunks) > 4
    assert last.choices[0].finish_reason == "stop"
    final: Any = last.to_dict()
    assert [note["index"] for note in final["choices"][0]["delta"]["annotations"]] == [1, 2]
    assert final["triplebeam"]["supported"] is True
    assert with_usage.usage is not None
    assert with_usage.usage.total_tokens == 26
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize("model", ["world", "world/bm25"])
def test_a_search_lists_passages(connect: Connect, model: str) -> None:
    client = connect()
    parts = [{"type": "text", "text": "Where does Milwaukee"}, {"type": "text", "text": "lie?"}]
    done = client.chat.completions.create(model=model, messages=asked(parts))
    said = done.choices[0].message.content
    assert said is not None
    assert "] Milwaukee\nMilwaukee lies in Wisconsin on Lake Michigan." in said
    details: Any = done.to_dict()["triplebeam"]
    assert 1 <= len(details["passages"]) <= 5
    chunks = client.chat.completions.create(model=model, messages=asked(parts), stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == said


@pytest.mark.parametrize(
    ("request_", "status", "said"),
    [
        ({"model": "none/blend"}, 404, "there is no index 'none'"),
        ({"model": "world/auto"}, 503, "no language model is configured"),
        ({"n": 2}, 400, "n is not supported"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "tools is not supported"),
        ({"response_format": {"type": "json_object"}}, 400, "response_format is not supported"),
        ({"logprobs": True}, 400, "logprobs is not supported"),
        ({"messages": []}, 400, "no message with the role 'user'"),
        ({"messages": [{"role": "system", "content": "a"}]}, 400, "no message with the role 'user'"),
        ({"messages": asked("x" * 1_000_000)}, 413, "ask in fewer words"),
        ({"messages": asked([{"type": "image_url", "image_url": {"url": "x"}}])}, 400, "only text can be asked"),
        ({"messages": "a"}, 400, "messages"),
    ],
)
def test_what_is_wrong_is_said_in_openais_shape(
    connect: Connect, request_: dict[str, Any], status: int, said: str
) -> None:
    with pytest.raises(openai.APIStatusError) as caught:
        connect().chat.completions.create(**{"model": "world/blend", "messages": asked("a"), **request_})
    assert caught.value.status_code == status
    error = caught.value.response.json()["error"]
    assert set(error) == {"message", "type", "code", "param"}
    assert said in error["message"]


def test_an_error_on_the_way_is_raised_by_the_client(connect: Connect) -> None:
    stream = connect(Scripted([])).chat.completions.create(model="world/auto", messages=asked(QUESTION), stream=True)
    with pytest.raises(openai.APIError, match="something went wrong here"):
        list(stream)


def test_a_model_that_failed_is_a_reply_with_passages(connect: Connect) -> None:
    stream = connect(Gone()).chat.completions.create(model="world/auto", messages=asked(QUESTION), stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text.startswith("The model failed, so there is no answer. the endpoint does not answer")
    assert "[1] Laughter in Hell: " in text


def test_a_client_that_closes_its_stream_ends_the_agent(connect: Connect) -> None:
    model = Slow()
    method = "world/ircot[max_steps=1000]:hybrid"
    with connect(model).chat.completions.create(model=method, messages=asked(QUESTION), stream=True) as stream:
        next(stream)
    assert stands_still(model)


def test_bad_json(make: MakeApp) -> None:
    with on_loopback(make()) as address:
        response = httpx.post(
            f"{address}/v1/chat/completions",
            content=b"{",
            headers={"Content-Type": "application/json"},
            timeout=SECONDS,
        )
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
