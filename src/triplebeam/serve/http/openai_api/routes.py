"""Routes: chat completions, a question in, passages or an answer out; every index with every method is a model."""

from collections.abc import Awaitable, Callable
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from triplebeam.assemble import Method
from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.serve.http.asking.ask import answered, priced_json
from triplebeam.serve.http.asking.search import searched_json
from triplebeam.serve.http.event_stream import EventStream, do_nothing
from triplebeam.serve.http.keys import runner_of
from triplebeam.serve.http.openai_api.chat_request import ChatRequest, check_supported, index_and_method, question_of
from triplebeam.serve.http.openai_api.completion import Head
from triplebeam.serve.http.openai_api.reply import Reply, reply_of_answer, reply_of_search
from triplebeam.serve.running import AgentRun

_PASSAGES_SHOWN = 5


class OpenAIErrorDetail(BaseModel):
    """Why a request failed."""

    message: str
    type: str
    code: str
    param: str | None


class OpenAIErrorResponse(BaseModel):
    """An error in the shape that OpenAI's clients know."""

    error: OpenAIErrorDetail


_PROBLEM = {"model": OpenAIErrorResponse, "description": "What is wrong, and what to do."}

router = APIRouter(prefix="/v1", tags=["openai"], responses={"4XX": _PROBLEM, "5XX": _PROBLEM})


@router.post(
    "/chat/completions",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "The reply."}},
)
async def chat_completion(request: Request, chat: ChatRequest) -> Response:
    """Answer the user's last message. A search method lists passages; an agent answers, with citations.

    A follow-up ("and when did she die?") is first made self-contained from the messages before it, by one more call to
    the language model; the reply begins with the question that was made of it.

    Beside the text: `choices[0].message.annotations`, one per citation, and `triplebeam` with all passages, evidence
    and steps; in a stream both are in the last chunk with a choice.
    """
    check_supported(chat)
    question, earlier = question_of(chat)
    runner = runner_of(request)
    name, method = index_and_method(runner.library, chat.model)
    if Method.parse(method).is_agent:
        run = await runner.ask(name, question, method, earlier, chat.where)
        return await _reply(chat, partial(_answered, request, run), closing=run.cancel)
    searched = await runner.search(name, question, method, _PASSAGES_SHOWN, earlier, chat.where)
    return await _reply(chat, partial(_at_once, reply_of_search(searched_json(searched), searched.follow_up)))


async def _reply(
    chat: ChatRequest, make_reply: Callable[[], Awaitable[Reply]], closing: Callable[[], None] = do_nothing
) -> Response:
    head = Head(chat.model)
    if chat.stream:
        return EventStream(head.chunks(make_reply, include_usage=chat.include_usage), closing)
    return JSONResponse(head.document(await make_reply()))


async def _at_once(reply: Reply) -> Reply:
    return reply


async def _answered(request: Request, run: AgentRun) -> Reply:
    answer = await answered(request, run)
    written = await run_in_threadpool(priced_json, run, answer)
    return reply_of_answer(answer, run.index.passages, written, run.follow_up)


class Model(BaseModel):
    """A model to name in a chat."""

    id: str = Field(examples=["films/auto"])
    object: str = "model"
    created: int = 0
    owned_by: str = "triplebeam"


class ModelsResponse(BaseModel):
    """The models there are."""

    object: str = "list"
    data: list[Model]


@router.get("/models")
async def models(request: Request) -> ModelsResponse:
    """Each index alone, with the default method, then with each method that the server's configuration allows."""
    runner = runner_of(request)
    can_ask = runner.library.can_ask
    methods = [name for name in (*search_methods(), *ask_methods()) if can_ask or not Method.parse(name).uses_model]
    names = await runner.run(runner.library.names)
    return ModelsResponse(
        data=[Model(id=id_) for name in names for id_ in (name, *(f"{name}/{method}" for method in methods))]
    )


@router.get("/models/{model_id:path}")
async def model(request: Request, model_id: str) -> Model:
    """One model, also one with parameters in brackets, which the list does not contain."""
    runner = runner_of(request)
    index, method = index_and_method(runner.library, model_id)
    await runner.run(runner.library.location, index)
    Method.parse(method)
    return Model(id=model_id)
