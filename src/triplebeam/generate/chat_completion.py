"""The wire format of ``/chat/completions``: from a reply to a completion, without a "thinking" model's thoughts.

Endpoints that call themselves compatible leave out and add fields, so only what is needed is read and checked.
"""

import json
from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field

from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage, estimate_tokens
from triplebeam.text.characters import replace_unstorable

#: Gateways pass on other vendors' words for a reply that was cut off.
_CUT = ("length", "max_tokens", "MAX_TOKENS", "model_length")
#: Where some "thinking" models write their thoughts into the reply.
_OPEN, _CLOSE = "<think>", "</think>"


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
    return Completion(
        text=text,
        usage=_usage(usage, prompt, whole),
        finish_reason=_finish_reason(choice),
        log_probabilities=_log_probabilities(choice.logprobs),
        thought=thought or bool(apart),
    )


def _finish_reason(choice: _Choice) -> str:
    if choice.message.refusal:
        return "refusal"
    return "length" if choice.finish_reason in _CUT else choice.finish_reason or "stop"


def _usage(counted: _Usage, prompt: Prompt, text: str) -> Usage:
    if counted.prompt_tokens is not None and counted.completion_tokens is not None:
        return Usage(calls=1, tokens_in=counted.prompt_tokens, tokens_out=counted.completion_tokens)
    tokens_in, tokens_out = prompt.estimated_tokens, estimate_tokens(text)
    return Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, estimated=True)


def _log_probabilities(found: _LogProbabilities | None) -> tuple[TokenLogProbability, ...] | None:
    if found is None or not found.content:
        return None
    return tokens_without_thoughts(
        [TokenLogProbability(replace_unstorable(token.token), token.logprob) for token in found.content]
    )


def strip_thoughts(text: str) -> tuple[str, bool]:
    """Return the reply without its thoughts, and whether it had any.

    Some chat templates open the thoughts themselves, so that only their end is seen. Thoughts that do not end were cut
    off at the limit of tokens: nothing is said then.
    """
    _, close, said = text.rpartition(_CLOSE)
    if close:
        return said.lstrip(), True
    if text.lstrip().startswith(_OPEN):
        return "", True
    return text, False


def tokens_without_thoughts(tokens: Sequence[TokenLogProbability]) -> tuple[TokenLogProbability, ...]:
    """Return the tokens after the thoughts: how sure a model was of its reply, not of its musings."""
    text = "".join(token.token for token in tokens)
    start = text.rfind(_CLOSE) + len(_CLOSE) if _CLOSE in text else 0
    kept, position = [], 0
    for token in tokens:
        if position >= start:
            kept.append(token)
        position += len(token.token)
    return tuple(kept)
