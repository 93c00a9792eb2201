"""What a chat is replied: a text with citations in brackets, and the same as data; as OpenAI's clients read it."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triplebeam.answer import Answer
from triplebeam.explain.conversation import FollowUp
from triplebeam.explain.passages import heading
from triplebeam.explain.verdict import remarks, verdict
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages
from triplebeam.serve.answer_shapes import AnswerShape
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import event
from triplebeam.serve.shapes import FoundPassageShape, SearchShape

_MAX_QUOTED_CHARACTERS = 300
_MAX_PASSAGES_QUOTED = 5
#: What Markdown puts around a heading.
_MARKS = "#*_ \t\r"
_CHUNKS = re.compile(r"\S+\s*(?:\S+\s*){0,7}|\s+")
"""A few words at a time."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A complete message."""

    text: str
    annotations: Sequence[Mapping[str, object]]
    details: Mapping[str, Any]
    """A search's passages, or an answer with its evidence and steps."""
    usage: Usage = field(default_factory=Usage)


def reply_of_search(found: SearchShape, follow_up: FollowUp | None = None) -> Reply:
    """List the passages of a search by number."""
    passages = found["passages"]
    listed = [f"[{number}] {_head(passage)}{passage['text']}" for number, passage in enumerate(passages, start=1)]
    cited = [
        _citation(number, passage["id"], passage["title"], passage["section"], passage["text"][:_MAX_QUOTED_CHARACTERS])
        for number, passage in enumerate(passages, start=1)
    ]
    remarks = [found["remark"]] if "remark" in found else []
    text = "\n\n".join(
        [*_explain_follow_up(follow_up), *remarks, *(listed or ["No passage matches: try other words."])]
    )
    return Reply(text=text, annotations=cited, details=found, usage=follow_up.usage if follow_up else Usage())


def _head(passage: FoundPassageShape) -> str:
    """Return the title, unless it is the text's first line, too, as that of a page, in whatever case and Markdown."""
    title, (first, *_) = passage["title"], passage["text"].lstrip().split("\n", 1)
    same = title.strip(_MARKS).casefold() == first.strip(_MARKS).casefold()
    return f"{title}\n" if title and not same else ""


def reply_of_answer(
    answer: Answer, passages: Passages, details: AnswerShape, follow_up: FollowUp | None = None
) -> Reply:
    """Write an agent's sentence with a numbered citation for each hop, and below it the words cited."""
    quotes = dict.fromkeys((fact.span.passage_id, fact.span.text) for fact in answer.evidence if fact.span)
    if answer.failure and not quotes:
        best = answer.ranking.ids[:_MAX_PASSAGES_QUOTED]
        quotes = dict.fromkeys((id_, passages[id_].text[:_MAX_QUOTED_CHARACTERS]) for id_ in best)
    numbered = [(number, passages[id_], quote) for number, (id_, quote) in enumerate(quotes, start=1)]
    cited = [_citation(number, each.id, each.title, each.section, quote) for number, each, quote in numbered]
    sources = [f'[{number}] {heading(each)}: "{quote}"' for number, each, quote in numbered]
    marks = "".join(f"[{number}]" for number, _, _ in numbered)
    paragraphs = [*_explain_follow_up(follow_up), *_cite(answer, marks), "\n".join(sources), *_remarks(answer)]
    return Reply(text="\n\n".join(filter(None, paragraphs)), annotations=cited, details=details, usage=answer.usage)


def _cite(answer: Answer, marks: str) -> Iterator[str]:
    """Write the answer with its citations. Where the documents do not say it, that comes first, and what is missing."""
    if answer.outcome == "answered":
        yield f"{answer.sentence or answer.text} {marks}".strip()
        return
    if answer.outcome == "false_premise":
        yield f"{verdict(answer)} {answer.premise} {marks}".strip()
        return
    failed = "The model failed, so there is no answer. " if answer.failure else ""
    yield f"{verdict(answer)} Best guess: {answer.text}." if answer.text else failed + verdict(answer)
    yield "\n".join(dict.fromkeys(filter(None, (answer.sentence, *answer.missing))))
    yield "What was found:" if marks else ""


def _remarks(answer: Answer) -> Iterator[str]:
    """Say what to know before relying on the answer."""
    yield from remarks(answer)
    if answer.others:
        yield f"Other answers that fit: {'; '.join(answer.others)}."
    if answer.outcome == "answered" and not answer.supported:
        yield f"({verdict(answer)})"
    if known := [str(fact.triple) for fact in answer.evidence if fact.from_memory]:
        yield f"The model's own knowledge, not in your documents: {'; '.join(known)}."


def _explain_follow_up(follow_up: FollowUp | None) -> list[str]:
    """Say how a follow-up was understood, for the reply to begin with."""
    if follow_up is None or (follow_up.question == follow_up.asked and not follow_up.problem):
        return []
    if follow_up.problem:
        return [f"(Your message was taken without the conversation before it: {follow_up.problem})"]
    return [f"Understood as: {follow_up.question}"]


def _citation(number: int, passage_id: str, title: str, section: str, quote: str) -> dict[str, object]:
    return {
        "type": "file_citation",
        "index": number,
        "passage_id": passage_id,
        "title": title,
        "section": section,
        "quote": quote,
    }


@dataclass(frozen=True)
class Head:
    """The fields that every chunk of one completion repeats."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def document(self, reply: Reply) -> dict[str, Any]:
        """Return the whole completion."""
        message = {"role": "assistant", "content": reply.text, "annotations": reply.annotations, "refusal": None}
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": _count_tokens(reply.usage),
            "triplebeam": reply.details,
        }

    async def chunks(
        self, make_reply: Callable[[], Awaitable[Reply]], *, include_usage: bool
    ) -> AsyncGenerator[bytes, None]:
        """Yield the completion in pieces. An error is an event of the stream: the status has already been sent."""
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
            yield self._event(choices=[], usage=_count_tokens(reply.usage))
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return self._event(choices=[choice], **more)

    def _event(self, **fields: Any) -> bytes:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        return event(None, {**head, **fields})


def _count_tokens(usage: Usage) -> dict[str, int]:
    """Count the tokens paid for; those from the cache are in the details."""
    return {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
    }
