"""The parts of a request that an endpoint accepts: what it refused once is not sent to it again.

Endpoints that call themselves compatible accept different parts of a request. A refusal usually names the part; it is
then left out or expressed in another way, and remembered once that succeeds.
"""

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from typing import Any

from triplebeam.generate.language_model import Prompt

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
    part = _find_named_part(request, words) or ("response_format" if "response_format" in request else None)
    return str(request[part]["type"]) if part == "response_format" else part


def _find_named_part(request: Mapping[str, Any], words: str) -> str | None:
    parameter = _parameter(words)
    if parameter in _PARTS and parameter in request:
        return parameter
    found = [(match.start(), part) for part in _PARTS if part in request and (match := _PARTS[part].search(words))]
    return min(found)[1] if found else None


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
