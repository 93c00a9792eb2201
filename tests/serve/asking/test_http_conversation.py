"""Conversations over HTTP: a follow-up is rewritten first, shown as it was understood, and counted.

OpenAI's own client against our server.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from scripted_loops import Gone, reply
from serve.asking.served_world import QUESTION, MakeApp, Slow, events_in, on_loopback, one_reading, stands_still
from serve.http.small_server import error_of
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.serve.answer_shapes import AnswerShape
from triplebeam.serve.shapes import FollowUpShape, SearchShape
from triplebeam.testing.scripted import Scripted
from triplebeam.text.lines import line_numbers

ASK = "/api/indexes/world/ask"
CHAT = "/v1/chat/completions"
JSON = {"Accept": "application/json"}
MESSAGE = "and when did he die?"
EARLIER = [
    {"role": "user", "content": "Who directed Laughter in Hell?"},
    {"role": "assistant", "content": "It was directed by Edward Cahn. [1]"},
]
FOLLOW_UP = {"question": MESSAGE, "conversation": EARLIER}


def rewriting() -> list[Completion]:
    return [reply(question=QUESTION), *one_reading()]


def chat(model: str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [*messages, {"role": "user", "content": MESSAGE}], **more}


def test_the_question_comes_before_the_steps_and_with_the_answer(make: MakeApp) -> None:
    with Scripted(rewriting(), name="gpt-4o-mini") as model:
        response = TestClient(make(model=model)).post(ASK, json=FOLLOW_UP)
    (first, follow_up), (_, step), (_, answer) = events_in(response.text)
    assert first == "follow_up"
    assert TypeAdapter(FollowUpShape).validate_python(follow_up, extra="forbid")
    assert (follow_up["asked"], follow_up["question"], follow_up["usage"]["calls"]) == (MESSAGE, QUESTION, 1)
    assert (step["query"], answer["question"], answer["follow_up"]) == (QUESTION, QUESTION, follow_up)
    assert TypeAdapter(AnswerShape).validate_python(answer, extra="forbid")
    assert answer["usage"]["calls"] == 3, "the rewriting is paid for, too"


@pytest.mark.parametrize(("request_", "left"), [(FOLLOW_UP, 0), ({"question": QUESTION}, 2)])
def test_replies_in_a_conversation_are_forgotten_with_whatever_is(
    make: MakeApp, tmp_path: Path, request_: dict[str, Any], left: int
) -> None:
    """Which documents the earlier turns were about, nobody knows."""
    with CompletionStore(tmp_path / "cache.sqlite") as store:
        model = Cached(model=Scripted(rewriting()[-2:] if left else rewriting()), store=store)
        assert TestClient(make(model=model)).post(ASK, json=request_, headers=JSON).json()["answer"] == "25 August 1963"
        store.forget(line_numbers(["A line that no prompt of this test has."]))
        assert store.count() == left


def test_a_message_that_cannot_be_rewritten_is_asked_as_it_is(make: MakeApp) -> None:
    with Scripted(["no", "no", *one_reading(), "no", "no", *one_reading()]) as model:
        client = TestClient(make(model=model))
        answer = client.post(ASK, json=FOLLOW_UP, headers=JSON).json()
        said = client.post(CHAT, json=chat("world/auto", *EARLIER)).json()["choices"][0]["message"]["content"]
    assert answer["question"] == MESSAGE
    assert "holds no JSON object" in answer["follow_up"]["problem"]
    assert said.startswith("(Your message was taken without the conversation before it: The model's reply holds no")


@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_shows_how_it_was_understood(make: MakeApp, stream: bool) -> None:
    request = chat("world/auto", {"role": "system", "content": "Be brief."}, *EARLIER, stream=stream)
    with Scripted(rewriting()) as model:
        response = TestClient(make(model=model)).post(CHAT, json=request)
        assert "Be brief" not in model.prompts[0].user
    if stream:
        chunks = [data for _, data in events_in(response.text.replace("data: [DONE]", ""))]
        said = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        details = chunks[-1]["triplebeam"]
    else:
        done = response.json()
        said, details = done["choices"][0]["message"]["content"], done["triplebeam"]
        assert done["usage"]["total_tokens"] == 39
    assert said.startswith(f"Understood as: {QUESTION}\n\nIt is 25 August 1963. [1][2]")
    assert details["follow_up"]["asked"] == MESSAGE


def test_a_message_that_stays_as_it_is_is_not_repeated(make: MakeApp) -> None:
    with Scripted([reply(question=MESSAGE), *one_reading()]) as model:
        done = TestClient(make(model=model)).post(CHAT, json=chat("world/auto", *EARLIER)).json()
    assert done["choices"][0]["message"]["content"].startswith("It is 25 August 1963.")
    assert done["triplebeam"]["follow_up"]["question"] == MESSAGE


def test_a_search_in_a_chat_looks_for_what_is_meant(make: MakeApp) -> None:
    with Scripted([reply(question=QUESTION)]) as model:
        done = TestClient(make(model=model)).post(CHAT, json=chat("world/bm25", *EARLIER)).json()
    assert TypeAdapter(SearchShape).validate_python(done["triplebeam"], extra="forbid")["question"] == QUESTION
    assert done["choices"][0]["message"]["content"].startswith(f"Understood as: {QUESTION}\n\n[1] ")
    assert done["usage"]["total_tokens"] == 13
    without = TestClient(make()).post(CHAT, json=chat("world/bm25", *EARLIER)).json()
    assert without["triplebeam"]["question"] == MESSAGE
    assert "No language model is configured to rewrite it." in without["choices"][0]["message"]["content"]


def test_pictures_of_earlier_messages_are_left_out(make: MakeApp) -> None:
    picture = {"type": "image_url", "image_url": {"url": "x"}}
    earlier = {"role": "user", "content": [picture, {"type": "text", "text": "Who is this?"}]}
    tool = {"role": "tool", "content": "secret", "tool_call_id": "1"}
    with Scripted(rewriting()) as model:
        response = TestClient(make(model=model)).post(
            CHAT, json=chat("world/auto", earlier, {"role": "assistant", "content": None}, tool)
        )
    assert response.status_code == 200
    assert "User: Who is this?\nAssistant: \n" in model.prompts[0].user
    assert "secret" not in model.prompts[0].user


def test_a_conversation_has_two_sides_and_an_endpoint_that_is_gone_is_said(make: MakeApp) -> None:
    client = TestClient(make(model=Gone()))
    for role in ("system", "nobody"):
        body = {"question": "a", "conversation": [{"role": role, "content": "b"}]}
        assert "conversation" in error_of(client.post(ASK, json=body), 400)[1]
    answer = client.post(ASK, json=FOLLOW_UP, headers=JSON).json()
    assert (answer["outcome"], answer["question"]) == ("model_failed", FOLLOW_UP["question"])
    [(name, data)] = events_in(client.post(ASK, json=FOLLOW_UP).text)
    assert (name, data["outcome"]) == ("answer", "model_failed")


Connect = Callable[..., OpenAI]


@pytest.fixture
def connect(make: MakeApp) -> Iterator[Connect]:
    with ExitStack() as open_things:

        def to_server(model: LanguageModel | None = None, **limits: Any) -> OpenAI:
            address = open_things.enter_context(on_loopback(make(model=model, **limits)))
            client = OpenAI(api_key="none", base_url=f"{address}/v1", max_retries=0)
            return open_things.enter_context(client)

        yield to_server


def chat_about(text: Any) -> list[Any]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def test_models_are_indexes_with_methods(connect: Connect) -> None:
    without, having = connect(), connect(Scripted([]))
    ids = [model.id for model in without.models.list()]
    assert ids[:2] == ["world", "world/blend"]
    assert "world/auto" not in ids
    assert "world/hybrid+sync_ge" not in ids
    assert "world/auto" in [model.id for model in having.models.list()]
    assert without.models.retrieve("world/hybrid+naive_ge").id == "world/hybrid+naive_ge"
    with pytest.raises(openai.NotFoundError, match="there is no index 'none'"):
        without.models.retrieve("none/blend")


def test_an_answer_with_citations(connect: Connect) -> None:
    with Scripted(one_reading()) as model:
        done = connect(model).chat.completions.create(
            model="world/auto", messages=chat_about(QUESTION), temperature=0.2
        )
    said = done.choices[0].message.content or ""
    assert said.startswith("It is 25 August 1963. [1][2]\n\n[1] Laughter in Hell: ")
    assert done.choices[0].finish_reason == "stop"
    assert done.model == "world/auto"
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.total_tokens) == (20, 6, 26)
    message: Any = done.choices[0].message.to_dict()
    first, second = message["annotations"]
    found = [first[name] for name in ("type", "index", "passage_id", "title")]
    assert found == ["file_citation", 1, "film", "Laughter in Hell"]
    assert "25 August 1963" in second["quote"]
    details: Any = done.to_dict()["triplebeam"]
    assert details["answer"] == "25 August 1963"
    assert len(details["steps"]) == 1


def test_an_answer_in_pieces(connect: Connect) -> None:
    with Scripted(one_reading()) as model:
        chunks = list(
            connect(model).chat.completions.create(
                model="world", messages=chat_about(QUESTION), stream=True, stream_options={"include_usage": True}
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


def test_a_search_lists_passages(connect: Connect) -> None:
    client = connect()
    parts = [{"type": "text", "text": "Where does Milwaukee"}, {"type": "text", "text": "lie?"}]
    for model in ("world", "world/bm25"):
        done = client.chat.completions.create(model=model, messages=chat_about(parts))
        said = done.choices[0].message.content or ""
        assert "] Milwaukee\nMilwaukee lies in Wisconsin on Lake Michigan." in said
        details: Any = done.to_dict()["triplebeam"]
        assert 1 <= len(details["passages"]) <= 5
        chunks = client.chat.completions.create(model=model, messages=chat_about(parts), stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == said


def test_what_is_wrong_is_said_in_openais_shape(make: MakeApp) -> None:
    client = TestClient(make())
    for request, status, said in (
        ({"model": "none/blend"}, 404, "there is no index 'none'"),
        ({"model": "world/auto"}, 503, "no language model is configured"),
        ({"n": 2}, 400, "n is not supported"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "tools is not supported"),
        ({"response_format": {"type": "json_object"}}, 400, "response_format is not supported"),
        ({"logprobs": True}, 400, "logprobs is not supported"),
        ({"messages": []}, 400, "no message with the role 'user'"),
        ({"messages": [{"role": "system", "content": "a"}]}, 400, "no message with the role 'user'"),
        ({"messages": chat_about("x" * 1_000_000)}, 413, "ask in fewer words"),
        ({"messages": chat_about([{"type": "image_url", "image_url": {"url": "x"}}])}, 400, "only text can be asked"),
        ({"messages": "a"}, 400, "messages"),
    ):
        response = client.post(CHAT, json={"model": "world/blend", "messages": chat_about("a"), **request})
        assert response.status_code == status, said
        error = response.json()["error"]
        assert set(error) == {"message", "type", "code", "param"}
        assert said in error["message"]
    response = client.post(CHAT, content=b"{", headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]["type"]) == (400, "invalid_request_error")


def test_an_error_on_the_way_is_raised_by_the_client(connect: Connect) -> None:
    stream = connect(Scripted([])).chat.completions.create(
        model="world/auto", messages=chat_about(QUESTION), stream=True
    )
    with pytest.raises(openai.APIError, match="something went wrong here"):
        list(stream)


def test_a_client_that_closes_its_stream_ends_the_agent(connect: Connect) -> None:
    model = Slow()
    method = "world/ircot[max_steps=1000]:hybrid"
    with connect(model).chat.completions.create(model=method, messages=chat_about(QUESTION), stream=True) as stream:
        next(stream)
    assert stands_still(model)
