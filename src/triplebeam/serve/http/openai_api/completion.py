"""A reply as OpenAI's clients read it: a text with citations in brackets, as one document or in chunks."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triplebeam.answer import Answer
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages
from triplebeam.serve.answer_shapes import AnswerShape
from triplebeam.serve.conversation import FollowUp
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import event
from triplebeam.serve.shapes import FoundPassageShape, SearchShape

_CHUNKS = re.compile(r"\S+\s*(?:\S+\s*){0,7}|\s+")
"""A few words at a time."""
_END = b"data: [DONE]\n\n"
_QUOTED_CHARACTERS = 300


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A complete message."""

    text: str
    annotations: Sequence[Mapping[str, object]]
    details: Mapping[str, Any]
    """A search's passages, or an answer with its evidence and steps."""
    usage: Usage = field(default_factory=Usage)


def reply_of_search(found: SearchShape, follow_up: FollowUp | None = None) -> Reply:
    """The passages of a search, numbered."""
    passages = found["passages"]
    listed = [f"[{number}] {_head(passage)}{passage['text']}" for number, passage in enumerate(passages, start=1)]
    cited = [
        _citation(number, passage["id"], passage["title"], passage["text"][:_QUOTED_CHARACTERS])
        for number, passage in enumerate(passages, start=1)
    ]
    text = "\n\n".join([*_understood(follow_up), *(listed or ["No passage matches: try other words."])])
    return Reply(text=text, annotations=cited, details=found, usage=follow_up.usage if follow_up else Usage())


def reply_of_answer(
    answer: Answer, passages: Passages, details: AnswerShape, follow_up: FollowUp | None = None
) -> Reply:
    """An agent's sentence with numbered citations, and below it the passages they refer to."""
    quotes: dict[str, str] = {}  # the first quote of each passage
    for fact in answer.evidence:
        if fact.span:
            quotes.setdefault(fact.span.passage_id, fact.span.text)
    titles = {id_: passages[id_].title for id_ in quotes}
    cited = [_citation(number, id_, titles[id_], quote) for number, (id_, quote) in enumerate(quotes.items(), start=1)]
    said = answer.sentence or answer.text or "No answer was found."
    marks = "".join(f"[{number}]" for number in range(1, len(cited) + 1))
    sources = [f'[{number}] {titles[id_] or id_}: "{quote}"' for number, (id_, quote) in enumerate(quotes.items(), 1)]
    text = "\n\n".join([*_understood(follow_up), f"{said} {marks}".strip(), *(["\n".join(sources)] if sources else [])])
    return Reply(text=text, annotations=cited, details=details, usage=answer.usage)


def _understood(follow_up: FollowUp | None) -> list[str]:
    """How a follow-up was understood, for the reply to begin with."""
    if follow_up is None or (follow_up.question == follow_up.asked and not follow_up.problem):
        return []
    if follow_up.problem:
        return [f"(Your message was taken without the conversation before it: {follow_up.problem})"]
    return [f"Understood as: {follow_up.question}"]


def _new_id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"


@dataclass(frozen=True)
class Head:
    """The fields that every chunk of one completion repeats."""

    model: str
    id: str = field(default_factory=_new_id)
    created: int = field(default_factory=lambda: int(time.time()))

    def document(self, reply: Reply) -> dict[str, Any]:
        """The whole completion."""
        message = {"role": "assistant", "content": reply.text, "annotations": reply.annotations, "refusal": None}
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": _usage(reply.usage),
            "triplebeam": reply.details,
        }

    async def chunks(
        self, make_reply: Callable[[], Awaitable[Reply]], *, include_usage: bool
    ) -> AsyncGenerator[bytes, None]:
        """The completion in pieces. An error is an event of the stream: the status has already been sent."""
        yield self._chunk({"role": "assistant", "content": ""})
        try:
            reply = await make_reply()
        except HTTPProblem as problem:
            yield event(None, problem.openai_content())
            return
        for words in _CHUNKS.findall(reply.text):
            yield self._chunk({"content": words})
        yield self._chunk({"annotations": reply.annotations}, finish_reason="stop", triplebeam=reply.details)
        if include_usage:
            yield self._event(choices=[], usage=_usage(reply.usage))
        yield _END

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return self._event(choices=[choice], **more)

    def _event(self, **fields: Any) -> bytes:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        return event(None, {**head, **fields})


def _usage(usage: Usage) -> dict[str, int]:
    """The tokens paid for; those from the cache are in the details."""
    return {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
    }


def _head(passage: FoundPassageShape) -> str:
    return f"{passage['title']}\n" if passage["title"] else ""


def _citation(number: int, passage_id: str, title: str, quote: str) -> dict[str, object]:
    return {"type": "file_citation", "index": number, "passage_id": passage_id, "title": title, "quote": quote}
