"""The wire format of ``/chat/completions``: from a reply to a completion, without a "thinking" model's thoughts.

Endpoints that call themselves compatible leave out and add fields, so only what is needed is read and checked.
"""

import json
from itertools import accumulate
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field

from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage, estimate_tokens
from triplebeam.generate.parse import THOUGHTS_END, strip_thoughts
from triplebeam.text.characters import replace_unstorable

#: Gateways pass on other vendors' words for a reply that was cut off.
_CUT = ("length", "max_tokens", "MAX_TOKENS", "model_length")


def _count(value: object) -> int | None:
    """Return a number of tokens, or None for what cannot be one: a paid reply is not discarded for that."""
    return value if isinstance(value, int) and value >= 0 else None


_Count: TypeAlias = Annotated[int | None, BeforeValidator(_count)]


class _Piece(BaseModel):
    type: str = ""
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Piece] | None = None
    refusal: str | None = None
    # Thoughts that come separately from the reply come under one of these names.
    reasoning_content: str | None = None
    reasoning: str | None = None

    @property
    def text(self) -> str:
        pieces = self.content if isinstance(self.content, list) else [_Piece(type="text", text=self.content)]
        return "".join(piece.text or "" for piece in pieces if piece.type == "text")


class _Token(BaseModel):
    token: str
    logprob: float


class _LogProbabilities(BaseModel):
    content: list[_Token] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _LogProbabilities | None = None


class _Details(BaseModel):
    reasoning_tokens: _Count = None


class _Usage(BaseModel):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    completion_tokens_details: _Details | None = None


class _Reply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def completion_from(body: str, prompt: Prompt) -> Completion:
    """Parse the completion in the body of a successful reply. An empty text is a completion too.

    A body that is no chat completion raises ValueError; the caller writes the message.
    """
    reply = _Reply.model_validate(json.loads(body))
    choice, usage = reply.choices[0], reply.usage or _Usage()
    # A reply may be cut off inside a character.
    whole = replace_unstorable(choice.message.text)
    text, thought = strip_thoughts(whole)
    details = usage.completion_tokens_details or _Details()
    apart = choice.message.reasoning_content or choice.message.reasoning or details.reasoning_tokens
    finished = "length" if choice.finish_reason in _CUT else choice.finish_reason or "stop"
    return Completion(
        text=text,
        usage=_usage(usage, prompt, whole),
        finish_reason="refusal" if choice.message.refusal else finished,
        log_probabilities=_log_probabilities(choice.logprobs),
        thought=thought or bool(apart),
    )


def _usage(counted: _Usage, prompt: Prompt, text: str) -> Usage:
    if counted.prompt_tokens is not None and counted.completion_tokens is not None:
        return Usage(calls=1, tokens_in=counted.prompt_tokens, tokens_out=counted.completion_tokens)
    tokens_in, tokens_out = prompt.estimated_tokens, estimate_tokens(text)
    return Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, estimated=True)


def _log_probabilities(found: _LogProbabilities | None) -> tuple[TokenLogProbability, ...] | None:
    if found is None or not found.content:
        return None
    tokens = [TokenLogProbability(replace_unstorable(token.token), token.logprob) for token in found.content]
    text = "".join(token.token for token in tokens)
    # How sure a model was of its reply, not of its musings.
    start = text.rfind(THOUGHTS_END) + len(THOUGHTS_END) if THOUGHTS_END in text else 0
    begins = accumulate((len(token.token) for token in tokens), initial=0)
    return tuple(token for token, begin in zip(tokens, begins, strict=False) if begin >= start)
