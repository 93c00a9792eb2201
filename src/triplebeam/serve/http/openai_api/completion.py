"""A reply as OpenAI's clients read it, as one document or in chunks."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from triplebeam.generate.language_model import Usage
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import event
from triplebeam.serve.http.openai_api.reply import Reply

_CHUNKS = re.compile(r"\S+\s*(?:\S+\s*){0,7}|\s+")
"""A few words at a time."""
_END = b"data: [DONE]\n\n"


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
