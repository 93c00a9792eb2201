"""The wire format of ``/chat/completions``: a reply to a completion.

Endpoints that call themselves compatible leave out or add fields at will, so only what is needed is read, and checked.
"""

import json
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field

from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage
from triplebeam.generate.thinking import tokens_without_thoughts, without_thoughts
from triplebeam.generate.tokens import estimated_input, estimated_tokens

#: Gateways pass on other vendors' words for a reply that was cut off.
_CUT = ("length", "max_tokens", "MAX_TOKENS", "model_length")


def _count(value: object) -> int | None:
    """A number of tokens, or None for what cannot be one: a reply that was paid for is not thrown away for that."""
    return value if isinstance(value, int) and value >= 0 else None


_Count: TypeAlias = Annotated[int | None, BeforeValidator(_count)]


class _Piece(BaseModel):
    type: str = ""
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Piece] | None = None
    refusal: str | None = None
    # Where the thoughts of a "thinking" model come apart from its reply, they come under one of these names.
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
    """The completion in the body of a successful reply. An empty text is a completion too: its reader judges it.

    A body that is no chat completion raises ValueError, which its caller words.
    """
    reply = _Reply.model_validate(json.loads(body))
    choice, usage = reply.choices[0], reply.usage or _Usage()
    # A reply cut inside a character can hold half of a surrogate pair, which no file or database takes.
    whole = _clean(choice.message.text)
    text, thought = without_thoughts(whole)
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
    tokens_in, tokens_out = estimated_input(prompt), estimated_tokens(text)
    return Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, estimated=True)


def _log_probabilities(given: _LogProbabilities | None) -> tuple[TokenLogProbability, ...] | None:
    if given is None or not given.content:
        return None
    return tokens_without_thoughts([TokenLogProbability(_clean(token.token), token.logprob) for token in given.content])


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
