"""Chat completions: a question in, passages or an answer out."""

from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from triplebeam.assemble import Method
from triplebeam.serve.http.asking.agent_run import AgentRun, Asked, start
from triplebeam.serve.http.asking.ask import answer_json
from triplebeam.serve.http.asking.search import found
from triplebeam.serve.http.asking.shapes import SearchRequest
from triplebeam.serve.http.event_stream import EventStream, nothing
from triplebeam.serve.http.openai_api.chat_request import (
    ChatRequest,
    check_supported,
    collection_and_method,
    question_of,
)
from triplebeam.serve.http.openai_api.completion import Coming, Head
from triplebeam.serve.http.openai_api.reply import Reply, reply_of_answer, reply_of_search

_PASSAGES_SHOWN = 5

router = APIRouter()


@router.post(
    "/chat/completions",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "The reply."}},
)
async def chat_completion(request: Request, chat: ChatRequest) -> Response:
    """Answer the last message of the user. A search method lists passages; an agent answers, with citations.

    Beside the text: `choices[0].message.annotations`, one a citation, and `triplebeam` with all passages, evidence and
    steps; in a stream both are in the last chunk with a choice.
    """
    check_supported(chat)
    question = question_of(chat)
    name, method = collection_and_method(request.app.state.library, chat.model)
    if Method.parse(method).is_agent:
        run = await start(request, Asked(name, method, question))
        return await _reply(chat, partial(_answered, run), closing=run.give_up)
    asked = SearchRequest(question=question, method=method, k=_PASSAGES_SHOWN)
    searched = reply_of_search(await found(request, name, asked))
    return await _reply(chat, partial(_at_once, searched))


async def _reply(chat: ChatRequest, coming: Coming, closing: Callable[[], None] = nothing) -> Response:
    head = Head(chat.model)
    if chat.stream:
        return EventStream(head.chunks(coming, include_usage=chat.include_usage), closing)
    return JSONResponse(head.document(await coming()))


async def _at_once(reply: Reply) -> Reply:
    return reply


async def _answered(run: AgentRun) -> Reply:
    answer = await run.answered()
    return reply_of_answer(answer, run.collection.passages, answer_json(run, answer))
