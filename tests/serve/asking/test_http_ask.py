"""Asking over HTTP: steps as they are done, the answer, and what ends an agent early.

Events: how they are written, and what keeps a stream open.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence

import httpx
import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from patience import SECONDS
from scripted_loops import BAD, Gone
from serve.asking.served_world import (
    QUESTION,
    MakeApp,
    Slow,
    UntilCancelled,
    events_in,
    on_loopback,
    one_reading,
    send,
    stands_still,
)
from serve.http.small_server import error_of
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.serve.answer_shapes import AnswerShape, StepShape
from triplebeam.serve.http.event_stream import KEEP_ALIVE, event, kept_alive
from triplebeam.testing.scripted import Scripted

ASK = "/api/indexes/world/ask"
ENDLESS = {"question": QUESTION, "method": "ircot[max_steps=1000]:hybrid"}
JSON = {"Accept": "application/json"}


def test_steps_then_the_answer(make: MakeApp) -> None:
    with Scripted(one_reading(), name="gpt-4o-mini") as model:
        response = TestClient(make(model=model)).post(ASK, json={"question": QUESTION})
    assert response.headers["content-type"].startswith("text/event-stream")
    (first, step), (last, answer) = events_in(response.text)
    assert (first, last) == ("step", "answer")
    assert TypeAdapter(StepShape).validate_python(step, extra="forbid")["number"] == 1
    assert TypeAdapter(AnswerShape).validate_python(answer, extra="forbid")["answer"] == "25 August 1963"
    assert answer["supported"] is True
    assert answer["steps"] == [step]
    assert answer["usage"]["calls"] == 2
    assert answer["price"] > 0


def test_the_answer_in_one_document(make: MakeApp) -> None:
    with Scripted(one_reading()) as model:
        response = TestClient(make(model=model)).post(ASK, json={"question": QUESTION}, headers=JSON)
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert answer["sentence"] == "It is 25 August 1963."
    assert [fact["span"]["passage_id"] for fact in answer["evidence"]] == ["film", "director"]
    assert not {"price", "picture", "note", "follow_up"} & {*answer, *answer["steps"][0], *answer["evidence"][0]}


def test_what_is_wrong_is_said_before_the_stream(make: MakeApp) -> None:
    without, having = TestClient(make()), TestClient(make(model=Scripted([])))
    for client, body, status, code, said in (
        (having, {"question": "x" * 1_000_000}, 413, "question_too_long", "ask in fewer words"),
        (having, {"question": "a", "method": "self_consistency[paths=1000]"}, 400, "bad_input", "at most 100"),
        (having, {"question": "a", "method": "ircot:gnn_ret[weights=x]"}, 400, "bad_input", "names a file"),
        (without, {"question": "a"}, 503, "no_model", "TRIPLEBEAM_MODEL"),
    ):
        found, message = error_of(client.post(ASK, json=body), status)
        assert (found, said in message) == (code, True), message
    assert without.post("/api/indexes/none/ask", json={"question": "a"}).status_code == 404


@pytest.mark.parametrize(
    ("replies", "said"), [(None, "the endpoint does not answer"), ([BAD] * 6, "begins with 'no idea'")]
)
def test_a_model_that_fails_is_an_outcome_with_passages(
    make: MakeApp, replies: list[Completion] | None, said: str
) -> None:
    model = Gone() if replies is None else Scripted(replies)
    client = TestClient(make(model=model))
    asked = {"question": QUESTION, "method": "read"}
    chat = {"model": "world/read", "messages": [{"role": "user", "content": QUESTION}]}
    *_, (name, streamed) = events_in(client.post(ASK, json=asked).text)
    document = client.post(ASK, json=asked, headers=JSON)
    completion = client.post("/v1/chat/completions", json=chat).json()
    assert (name, document.status_code) == ("answer", 200)
    for answer in (streamed, document.json(), completion["triplebeam"]):
        TypeAdapter(AnswerShape).validate_python(answer, extra="forbid")
        assert (answer["outcome"], answer["answer"], answer["missing"]) == ("model_failed", "", [])
        assert said in answer["verdict"]
        assert answer["passages"][0]["id"] == "film"
    message = completion["choices"][0]["message"]
    assert message["content"].startswith("The model failed, so there is no answer. ")
    assert "What was found:\n\n[1] Laughter in Hell: " in message["content"]
    assert message["annotations"][0]["passage_id"] == "film"


def test_a_bug_is_an_event_without_its_details(make: MakeApp) -> None:
    [(name, data)] = events_in(TestClient(make(model=Scripted([]))).post(ASK, json={"question": QUESTION}).text)
    assert (name, data["error"]["code"]) == ("error", "internal")
    assert "scripted" not in data["error"]["message"]


def test_past_the_time_limit_no_call_is_made(make: MakeApp) -> None:
    model = Slow()
    client = TestClient(make(model=model, ask_seconds=2.0))
    *steps, (name, data) = events_in(client.post(ASK, json=ENDLESS).text)
    assert steps
    assert (name, data["error"]["code"]) == ("error", "time_limit")
    assert stands_still(model)
    hasty = TestClient(make(model=UntilCancelled(), ask_seconds=0.1))
    assert hasty.post(ASK, json=ENDLESS, headers=JSON).status_code == 504


def test_a_client_that_goes_away_ends_its_agent(make: MakeApp) -> None:
    model = Slow()
    with on_loopback(make(model=model)) as address:
        with httpx.stream("POST", address + ASK, json=ENDLESS, timeout=SECONDS) as response:
            lines = response.iter_lines()
            assert next(lines) == "event: step"
        assert stands_still(model)


@pytest.mark.parametrize("follow_up", [False, True])
def test_so_does_one_that_waits_for_the_whole_answer(make: MakeApp, follow_up: bool) -> None:
    """Also while its message is rewritten."""
    model = Slow(0.2 if follow_up else 0.05)
    earlier = {"conversation": [{"role": "user", "content": "Who directed it?"}]} if follow_up else {}
    with on_loopback(make(model=model)) as address:
        with send(address + ASK, ENDLESS | earlier):
            assert model.asked.wait(SECONDS)
        assert stands_still(model)


@pytest.mark.parametrize("method", ["single_step", "ircot", "closed_book"])
def test_half_a_character_of_a_model_is_no_error(make: MakeApp, method: str) -> None:
    class Broken:
        name = "broken"

        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            half = "\ud800"
            said = {"sentence": f"So it is {half}.", "answer": half, "facts": [[half, "is", half]], "thought": half}
            return [Completion(text=json.dumps(said, ensure_ascii=False)) for _ in prompts]

    client = TestClient(make(model=Broken()))
    assert client.post(ASK, json={"question": QUESTION, "method": method}, headers=JSON).status_code == 200
    chat = {"model": f"world/{method}", "messages": [{"role": "user", "content": QUESTION}]}
    assert client.post("/v1/chat/completions", json=chat).status_code == 200


def test_half_a_character_in_a_request_is_named(client: TestClient) -> None:
    sends_json = {"Content-Type": "application/json", **JSON}
    for part, body in (
        ("question", r'{"question": "lake \ud800?"}'),
        ("where", r'{"question": "lake", "where": "title = \"\ud800\""}'),
    ):
        for path in ("search", "ask"):
            replied = client.post(f"/api/indexes/world/{path}", content=body, headers=sends_json)
            assert part in error_of(replied, 400)[1]
    chat = r'{"model": "world/bm25", "messages": [{"role": "user", "content": "lake \ud800?"}]}'
    replied = client.post("/v1/chat/completions", content=chat, headers=sends_json)
    assert replied.status_code == 400
    assert r"has '\ud800', which is not a valid character" in replied.json()["error"]["message"]


def test_an_event_is_one_line_of_json() -> None:
    assert event("step", {"text": "ä\n\ud800"}) == b'event: step\ndata: {"text": "\\u00e4\\n\\ud800"}\n\n'
    assert event(None, 1) == b"data: 1\n\n"


def test_silence_is_filled_with_comments() -> None:
    async def slow() -> AsyncGenerator[bytes, None]:
        yield b"one"
        await waited_for.wait()
        yield b"two"

    async def heard() -> list[bytes]:
        parts = []
        async for part in kept_alive(slow(), seconds=0.05):
            parts.append(part)
            if parts.count(KEEP_ALIVE) == 2:
                waited_for.set()
        return parts

    waited_for = asyncio.Event()
    first, *silence, last = asyncio.run(heard())
    assert (first, last) == (b"one", b"two")
    assert len(silence) >= 2
    assert set(silence) == {KEEP_ALIVE}


def test_closing_the_stream_closes_what_it_waits_for() -> None:
    closed = []

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def heard(parts: int) -> None:
        stream = kept_alive(endless(), seconds=0.01)
        for _ in range(parts):
            await anext(stream)
        await stream.aclose()
        await asyncio.sleep(0)

    asyncio.run(heard(1))
    asyncio.run(heard(2))
    assert closed == [True, True]
