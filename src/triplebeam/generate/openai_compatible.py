"""Any endpoint with OpenAI's chat completions: OpenAI itself, Azure, vLLM, llama.cpp, Ollama, a gateway.

Endpoints that call themselves compatible accept different parts of a request. A refusal usually names the part; it is
then left out or expressed in another way, and remembered once that succeeds: it is not sent again. They also leave out
and add fields of a reply, so only what is needed is read and checked, without a "thinking" model's thoughts.
"""

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import (
    Completion,
    Prompt,
    PromptRefusedError,
    TokenLogProbability,
    Usage,
    estimate_tokens,
)
from triplebeam.generate.parse import THOUGHTS_END, strip_thoughts
from triplebeam.system.endpoint import OPENAI, REFUSED_STATUS, Endpoint, body_fault, connection_fault, status_fault
from triplebeam.text.characters import replace_unstorable

if TYPE_CHECKING:
    from openai import OpenAI

#: The ways to ask for structured output, best first. Without either, the prompt describes it in words.
_SCHEMA, _JSON = "json_schema", "json_object"
_LIMITS = ("max_tokens", "max_completion_tokens")
#: Parts of a request and the words by which refusals name them.
_PARTS = {
    "response_format": re.compile(r"response_?format|json_schema|json_object|structured.output|grammar|\bschema"),
    "temperature": re.compile(r"\btemperature\b"),
    "max_tokens": re.compile(r"\bmax_tokens\b"),
    "max_completion_tokens": re.compile(r"\bmax_completion_tokens\b"),
    "seed": re.compile(r"\bseed\b"),
    "logprobs": re.compile(r"log_?probs|log.?probabilit"),
}
_TOO_LONG = re.compile(r"context.(length|window|size)|maximum context|too long")
#: Gateways pass on other vendors' words for a reply that was cut off.
_CUT = ("length", "max_tokens", "MAX_TOKENS", "model_length")


class Dialect:
    """What is known of an endpoint, shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.refused: frozenset[str] = frozenset()
        self.answered = False
        """Whether it answered at all: one that never did is probably not there."""

    def learn(self, refused: frozenset[str]) -> None:
        """Record that a request without these parts was answered."""
        with self._lock:
            self.answered = True
            self.refused |= refused


@dataclass(frozen=True)
class OpenAICompatible:
    """A model behind an endpoint, one request at a time and each tried once: ``connect`` puts the rest around it.

    An endpoint other than OpenAI's needs no key. ``timeout`` is how many seconds a reply may take; models on a small
    machine take minutes.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    _dialect: Dialect = field(default_factory=Dialect, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._endpoint  # noqa: B018 - a bad address is refused here
        if not self.timeout > 0:
            raise BadInputError(f"timeout must be above 0 seconds, got {self.timeout:g}.")

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self.model

    @property
    def place(self) -> str:
        """The endpoint's address without a user's name, password or query."""
        return self._endpoint.place.rstrip("/")

    @property
    def refused(self) -> list[str]:
        """The parts of a request that the endpoint is known to refuse, such as ``json_schema`` or ``temperature``."""
        return sorted(self._dialect.refused)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one completion per prompt, in order; the first error ends the batch.

        Faults that a retry may get past are raised as TransientError.
        """
        return [self._complete(prompt) for prompt in prompts]

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint(self.base_url or OPENAI, self.api_key)

    @cached_property
    def _client(self) -> "OpenAI":
        return self._endpoint.client(self.timeout)

    def _complete(self, prompt: Prompt) -> Completion:
        """Ask, leaving out what is refused until the endpoint accepts it or the prompt itself is at fault."""
        refused = self._dialect.refused
        while True:
            request = request_for(self.model, prompt, refused)
            body, refusal = self._send(request)
            if refusal is None:
                break
            part = part_to_blame(request, body)
            if part is None:
                raise refusal
            refused |= {part}
        self._dialect.learn(refused)
        try:
            return completion_from(body, prompt)
        except (ValueError, RecursionError):  # the second where the JSON is nested too deeply
            raise body_fault(body, self._endpoint) from None

    def _send(self, request: dict[str, Any]) -> tuple[str, PromptRefusedError | None]:
        """Send a request and return the reply's body, with an error if it refuses the request."""
        from openai import APIConnectionError, APIStatusError

        # `from None`: these errors quote the endpoint's words, and some endpoints quote the key.
        try:
            # The raw reply, since the client accepts anything as a chat completion and checks nothing.
            return self._client.chat.completions.with_raw_response.create(**request).text, None
        except APIStatusError as error:
            fault = status_fault(error, self._endpoint, self.model)
            if error.status_code in REFUSED_STATUS:
                return error.response.text, PromptRefusedError(str(fault))
            raise fault from None
        except APIConnectionError as error:
            known = self._dialect.answered
            raise connection_fault(error, self._endpoint, self.model, self.timeout, known=known) from None


def request_for(model: str, prompt: Prompt, refused: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Build the body of a request, without what the endpoint refuses."""
    response_format = _response_format(prompt, refused)
    request: dict[str, Any] = {"model": model, "messages": _messages(prompt, response_format)}
    limit = next((name for name in _LIMITS if name not in refused), None)
    if prompt.max_tokens is not None and limit:
        request[limit] = prompt.max_tokens
    if prompt.temperature is not None and "temperature" not in refused:
        request["temperature"] = prompt.temperature
    if prompt.seed is not None and "seed" not in refused:
        request["seed"] = _seed(prompt.seed, prompt.sample)
    if prompt.log_probabilities and "logprobs" not in refused:
        request["logprobs"] = True
    if response_format:
        request["response_format"] = response_format
    if prompt.parameters:
        request["extra_body"] = dict(prompt.parameters)  # where the client puts what it does not know
    return request


def _seed(seed: int, sample: int) -> int:
    """Derive a seed per sample: one seed would repeat the sample, and neighbouring seeds must not share any."""
    if not sample:
        return seed
    return int.from_bytes(hashlib.blake2b(f"{seed} {sample}".encode(), digest_size=4).digest()) >> 1


def part_to_blame(request: Mapping[str, Any], words: str) -> str | None:
    """Return which part of a request its refusal is about, as ``request_for`` names it; None where it is the prompt
    itself.

    A refusal that names nothing may be about the response format, since endpoints word it differently.
    """
    words = words.casefold()
    if _TOO_LONG.search(words):
        return None
    sent = [part for part in _PARTS if part in request]
    found = [(match.start(), part) for part in sent if (match := _PARTS[part].search(words))]
    unnamed = "response_format" if "response_format" in request else None
    parameter = _parameter(words)
    part = parameter if parameter in sent else min(found)[1] if found else unnamed
    return str(request[part]["type"]) if part == "response_format" else part


def _parameter(words: str) -> str | None:
    """Return the parameter that OpenAI's form of an error has in a field of its own."""
    try:
        parameter = json.loads(words)["error"]["param"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return str(parameter).partition(".")[0]


def _response_format(prompt: Prompt, refused: frozenset[str]) -> dict[str, Any] | None:
    if prompt.schema is None:
        return None
    if _SCHEMA not in refused:
        name = prompt.template.replace("/", "_") or "reply"
        return {"type": _SCHEMA, _SCHEMA: {"name": name, "schema": prompt.schema, "strict": True}}
    return {"type": _JSON} if _JSON not in refused else None


def _messages(prompt: Prompt, response_format: Mapping[str, Any] | None) -> list[dict[str, str]]:
    system = prompt.system
    if prompt.schema is not None and (response_format is None or response_format["type"] != _SCHEMA):
        system += "\n\nReply with one JSON object and nothing else. It must follow this JSON schema:\n" + json.dumps(
            prompt.schema, ensure_ascii=False
        )
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt.user}]
    if prompt.correction:
        messages.append({"role": "assistant", "content": prompt.correction.reply})
        messages.append({"role": "user", "content": prompt.correction.request})
    return messages


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
