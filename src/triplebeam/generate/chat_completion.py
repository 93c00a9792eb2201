"""The wire format of ``/chat/completions``: a prompt to a request, a reply to a completion.

Endpoints that call themselves compatible leave out or add fields at will, so only what is needed is read, and checked.
"""

import json
from typing import Any

from pydantic import BaseModel, Field

from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage

_CHARACTERS_A_TOKEN = 4


class _Message(BaseModel):
    content: str | None = None


class _Token(BaseModel):
    token: str
    logprob: float


class _LogProbabilities(BaseModel):
    content: list[_Token] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _LogProbabilities | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int


class _Reply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def request_for(model: str, prompt: Prompt, *, with_schema: bool) -> dict[str, Any]:
    """The body of the request. ``with_schema=False`` leaves the form of the reply to the prompt's words."""
    request: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
    }
    if prompt.temperature is not None:
        request["temperature"] = prompt.temperature
    if prompt.max_tokens is not None:
        request["max_tokens"] = prompt.max_tokens
    if prompt.seed is not None:
        request["seed"] = prompt.seed + prompt.sample  # one seed would give the same sample every time
    if prompt.log_probabilities:
        request["logprobs"] = True
    if prompt.schema is not None and with_schema:
        json_schema = {"name": prompt.template.replace("/", "_") or "reply", "schema": prompt.schema, "strict": True}
        request["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    return request


def completion_from(body: str, prompt: Prompt) -> Completion:
    """The completion in the body of a successful reply. An empty text is a completion too: its reader judges it.

    A body that is no chat completion raises ValueError, which its caller words.
    """
    reply = _Reply.model_validate(json.loads(body))
    choice = reply.choices[0]
    # A reply cut inside a character can hold half of a surrogate pair, which no file or database takes.
    text = (choice.message.content or "").encode("utf-8", "replace").decode()
    return Completion(
        text=text,
        usage=_usage(reply.usage, prompt, text),
        finish_reason=choice.finish_reason or "stop",
        log_probabilities=_log_probabilities(choice.logprobs),
    )


def _usage(counted: _Usage | None, prompt: Prompt, text: str) -> Usage:
    if counted is not None:
        return Usage(calls=1, tokens_in=counted.prompt_tokens, tokens_out=counted.completion_tokens)
    return Usage(
        calls=1,
        tokens_in=-(-len(prompt.system + prompt.user) // _CHARACTERS_A_TOKEN),
        tokens_out=-(-len(text) // _CHARACTERS_A_TOKEN),
        estimated=True,
    )


def _log_probabilities(given: _LogProbabilities | None) -> tuple[TokenLogProbability, ...] | None:
    if given is None or given.content is None:
        return None
    return tuple(TokenLogProbability(token.token, token.logprob) for token in given.content)
