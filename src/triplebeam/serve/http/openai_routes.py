"""Routes for clients of OpenAI's interface: each index with a method is a model to chat with.

The user's last message is asked; the turns before it say what it refers to. Sampling parameters (temperature,
max_tokens, stop and the like) are ignored, since methods have their own; what would change the shape of the reply is
refused.
"""

import asyncio
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from triplebeam.assemble import DEFAULT_AGENT, DEFAULT_METHOD, Method
from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.explain.conversation import Turn
from triplebeam.serve.http.ask_routes import price_answer, wait_for_answer
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import EventStream, do_nothing
from triplebeam.serve.http.keys import SeenRunner
from triplebeam.serve.http.openai_reply import Head, Reply, reply_of_answer, reply_of_search
from triplebeam.serve.http.search_routes import searched_json
from triplebeam.serve.library import Library
from triplebeam.serve.running import AgentRun
from triplebeam.where.parse import MAX_CHARACTERS

_MAX_PASSAGES_SHOWN = 5
#: What would change the reply's shape, with the values that do not.
_UNSUPPORTED: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "logprobs": (False,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "audio": (),
}


class Message(BaseModel):
    """One turn of the chat."""

    role: str = Field(examples=["user"])
    content: str | list[dict[str, Any]] | None = Field(
        None, description="Text, or parts of `type: text`, which are joined."
    )


class StreamOptions(BaseModel):
    """What a stream contains in addition to the text."""

    include_usage: bool | None = Field(None, description="One more chunk at the end, with the tokens used.")


class ChatRequest(BaseModel):
    """A chat completion to make."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(
        description="`INDEX/METHOD`, where the method is a search or an agent; `INDEX` alone uses the default.",
        examples=["films/auto"],
    )
    messages: list[Message] = Field(description="The user's last message is the question.")
    where: str | None = Field(
        None, max_length=MAX_CHARACTERS, description="A filter by metadata; not part of OpenAI's interface."
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None


def _check_supported(chat: ChatRequest) -> None:
    """Refuse parameters that would change the reply's shape."""
    for name, value in (chat.model_extra or {}).items():
        if value is not None and name in _UNSUPPORTED and value not in _UNSUPPORTED[name]:
            message = f"{name} is not supported, since the reply is one plain text: leave it out."
            raise HTTPProblem(400, "unsupported_parameter", message)


def _find_question(chat: ChatRequest) -> tuple[str, list[Turn]]:
    """Return the user's last message, and what was said from the first one on, without instructions and tool calls."""
    places = [place for place, message in enumerate(chat.messages) if message.role == "user"]
    if not places:
        raise HTTPProblem(
            400, "no_question", "there is no message with the role 'user': the last one of those is the question."
        )
    question = chat.messages[places[-1]]
    for part in question.content if isinstance(question.content, list) else []:
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise HTTPProblem(
                400,
                "unsupported_content",
                f"a part of the question has the type {str(part.get('type'))[:40]!r}: only text can be asked.",
            )
    before = chat.messages[places[0] : places[-1]]
    turns = ({"role": each.role, "content": _text(each)} for each in before if each.role in ("user", "assistant"))
    earlier = [Turn.model_validate(turn) for turn in turns]
    return _text(question), earlier


def _text(message: Message) -> str:
    """Join the texts of a message; of earlier ones, pictures and the like are left out."""
    if not isinstance(message.content, list):
        return message.content or ""
    return "\n".join(part["text"] for part in message.content if isinstance(part.get("text"), str))


def _parse_model(library: Library, model: str) -> tuple[str, str]:
    """Return what a model's id means. The default is an agent if a language model is configured, else a search."""
    index, _, method = model.partition("/")
    return index, method or (DEFAULT_AGENT if library.can_ask else DEFAULT_METHOD)


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
async def chat_completion(request: Request, runner: SeenRunner, chat: ChatRequest) -> Response:
    """Answer the user's last message. A search method lists passages; an agent answers, with citations.

    A follow-up ("and when did she die?") is first made self-contained from the messages before it, by one more call to
    the language model; the reply begins with the question that was made of it.

    Beside the text: `choices[0].message.annotations`, one per citation, and `triplebeam` with all passages, evidence
    and steps; in a stream both are in the last chunk with a choice.
    """
    _check_supported(chat)
    question, earlier = _find_question(chat)
    name, method = _parse_model(runner.library, chat.model)
    if Method.parse(method).is_agent:
        run = await runner.ask(name, question, method, earlier, chat.where)
        make_reply, closing = partial(_answer, request, run), run.cancel
    else:
        searched = await runner.search(name, question, method, _MAX_PASSAGES_SHOWN, earlier, chat.where)
        reply = reply_of_search(searched_json(searched), searched.follow_up)
        make_reply, closing = partial(asyncio.sleep, 0, reply), do_nothing
    head, options = Head(chat.model), chat.stream_options
    if chat.stream:
        return EventStream(head.chunks(make_reply, include_usage=bool(options and options.include_usage)), closing)
    return JSONResponse(head.document(await make_reply()))


async def _answer(request: Request, run: AgentRun) -> Reply:
    answer = await wait_for_answer(request, run)
    written = await run_in_threadpool(price_answer, run, answer)
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
async def models(runner: SeenRunner) -> ModelsResponse:
    """List each index alone, with the default method, then with each method that the server's configuration allows."""
    can_ask = runner.library.can_ask
    methods = [name for name in (*search_methods(), *ask_methods()) if can_ask or not Method.parse(name).uses_model]
    names = await runner.run(runner.library.names)
    return ModelsResponse(
        data=[Model(id=id_) for name in names for id_ in (name, *(f"{name}/{method}" for method in methods))]
    )


@router.get("/models/{model_id:path}")
async def model(runner: SeenRunner, model_id: str) -> Model:
    """Return one model, also one with parameters in brackets, which the list does not contain."""
    index, method = _parse_model(runner.library, model_id)
    await runner.run(runner.library.location, index)
    Method.parse(method)
    return Model(id=model_id)
