"""Routes: an agent's steps as they are done, then the answer; or the answer alone; and the methods by name."""

import asyncio
from collections.abc import AsyncGenerator, Mapping

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from triplebeam.answer import Answer, Step
from triplebeam.assemble import DEFAULT_AGENT, context_of
from triplebeam.assemble.method import Method as ParsedMethod
from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.explain.conversation import Turn
from triplebeam.explain.explanation import find_stemmers
from triplebeam.serve.answer_shapes import AnswerShape, answer_json, price_of_answer, step_json
from triplebeam.serve.http.errors import problem_of
from triplebeam.serve.http.event_stream import EventStream, event
from triplebeam.serve.http.keys import SeenRunner
from triplebeam.serve.http.search_routes import EXAMPLE, PROBLEMS, IndexName, WhereText
from triplebeam.serve.running import AgentRun
from triplebeam.serve.shapes import follow_up_json

router = APIRouter(prefix="/api", responses=PROBLEMS)

_STREAM = (
    "Events `step`, each as it is done, then `answer`, or `error` in the shape of every error; before them, in a"
    " conversation, `follow_up`. A client that disconnects cancels the agent. With `Accept: application/json`: the"
    " answer in one document."
)
_SECONDS_BETWEEN_CHECKS = 0.25


class AskRequest(BaseModel):
    """A question, and the agent that answers it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(examples=[EXAMPLE])
    method: str = Field(
        DEFAULT_AGENT, description="An agent of `GET /api/methods`, alone or over a search, such as `ircot:hybrid`."
    )
    conversation: list[Turn] = Field(
        [],
        description="What was asked and answered before, oldest first: a follow-up is then made self-contained by one"
        " more call to the model. Only the last few turns are shown to it.",
    )
    where: WhereText = None


@router.post(
    "/indexes/{name}/ask",
    tags=["ask"],
    response_model=AnswerShape,
    responses={200: {"description": _STREAM, "content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def ask(request: Request, runner: SeenRunner, name: IndexName, asked: AskRequest) -> Response:
    """Answer a question with a language model, step by step, with evidence."""
    run = await runner.ask(name, asked.question, asked.method, asked.conversation, asked.where)
    accepted = request.headers.get("accept", "")
    if "application/json" in accepted and "text/event-stream" not in accepted:  # only JSON
        return JSONResponse(await run_in_threadpool(price_answer, run, await wait_for_answer(request, run)))
    return EventStream(_events(request, run), closing=run.cancel)


async def _events(request: Request, run: AgentRun) -> AsyncGenerator[bytes, None]:
    async for done in run.progress():
        yield event("step", step_json(done)) if isinstance(done, Step) else event("follow_up", follow_up_json(done))
    if run.error:
        yield event("error", problem_of(run.error, request.app.state.library.redact).content())
    else:
        yield event("answer", await run_in_threadpool(price_answer, run, run.answer))


async def wait_for_answer(request: Request, run: AgentRun) -> Answer:
    """Return the answer alone. Nothing is sent meanwhile, so a client that disconnects has to be looked for."""
    watching = asyncio.create_task(_cancel_when_disconnected(request, run))
    try:
        async for _ in run.progress():
            pass
    finally:
        watching.cancel()
    if run.error:
        raise problem_of(run.error, request.app.state.library.redact) from run.error
    return run.answer


def price_answer(run: AgentRun, answer: Answer) -> AnswerShape:
    """Return the answer with its price, and the question it was made of. It may take a request to a cluster."""
    index, known = run.index, find_stemmers(context_of(run.index).source, answer.ranking.ids)
    price = price_of_answer(answer, index)
    return answer_json(answer, index.passages, stemmers=known, price=price, follow_up=run.follow_up)


async def _cancel_when_disconnected(request: Request, run: AgentRun) -> None:
    while not await request.is_disconnected():
        await asyncio.sleep(_SECONDS_BETWEEN_CHECKS)
    run.cancel()


class Method(BaseModel):
    """A method by its name."""

    name: str = Field(examples=["hybrid+naive_ge"])
    description: str
    uses_model: bool = Field(description="It calls a language model for each question.")


class MethodsResponse(BaseModel):
    """Methods that find passages, and methods that answer."""

    search: list[Method]
    ask: list[Method]


@router.get("/methods", tags=["methods"])
async def methods() -> MethodsResponse:
    """List what `method` can be. Any agent can be combined with any search: `ircot:hipporag2`."""
    return MethodsResponse(search=_list_methods(search_methods()), ask=_list_methods(ask_methods()))


def _list_methods(described: Mapping[str, str]) -> list[Method]:
    return [
        Method(name=name, description=line, uses_model=ParsedMethod.parse(name).uses_model)
        for name, line in described.items()
    ]
