"""Answers: an agent's steps as they are done, then the answer; or the answer alone."""

from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Request

from triplebeam.answer import Answer
from triplebeam.serve.answer_json import step_json, to_json
from triplebeam.serve.answer_price import price_of_answer
from triplebeam.serve.http.asking.agent_run import AgentRun, Asked, start
from triplebeam.serve.http.asking.search import CollectionName
from triplebeam.serve.http.asking.shapes import AnswerResponse, AskRequest
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import EventStream, event

router = APIRouter(tags=["ask"])

_STREAM = (
    "Events `step`, each as it is done, then `answer`, or `error` in the shape of every error. A client that goes away"
    " ends the agent. With `Accept: application/json`: the answer in one document."
)


@router.post(
    "/collections/{name}/ask",
    response_model=AnswerResponse,
    response_model_exclude_unset=True,
    responses={200: {"description": _STREAM, "content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def ask(request: Request, name: CollectionName, asked: AskRequest) -> Any:
    """Answer a question with a language model, step by step, with evidence."""
    run = await start(request, Asked(name, asked.method, asked.question))
    if _wants_json(request):
        return answer_json(run, await run.answered())
    return EventStream(_events(run), closing=run.give_up)


def _wants_json(request: Request) -> bool:
    """An event stream is what comes unless JSON is what was asked for."""
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/event-stream" not in accepted


async def _events(run: AgentRun) -> AsyncGenerator[bytes, None]:
    try:
        async for step in run.steps():
            yield event("step", step_json(step))
        yield event("answer", answer_json(run, run.answer))
    except HTTPProblem as problem:
        yield event("error", problem.content())


def answer_json(run: AgentRun, answer: Answer) -> dict[str, object]:
    """The answer with its price."""
    return to_json(answer, run.collection.passages, price=price_of_answer(answer, run.collection))
