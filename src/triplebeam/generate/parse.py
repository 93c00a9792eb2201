"""A model's reply to data, or an error that shows the reply: never an empty result in its place.

Replies are always one JSON object, which is also what the structured-output modes of endpoints can promise.
"""

import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Completion

ReplyType = TypeVar("ReplyType", bound=BaseModel)

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


def parse(completion: Completion, reply_type: type[ReplyType]) -> ReplyType:
    """The reply as a ``reply_type``, whose fields should have no defaults: a field that is missing is an error."""
    text = completion.text
    if not text.strip():
        raise EndpointError(f"The model's reply is empty (it finished by {completion.finish_reason!r}): ask it again.")
    if completion.finish_reason == "length":
        raise EndpointError(
            _complaint("was cut off at its limit of tokens", text, "raise max_tokens or send less text")
        )
    try:
        return reply_type.model_validate(read_object(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = f"is not what was asked for ({place}: {first['msg']})"
        raise EndpointError(_complaint(problem, text, "ask again or use a stronger model")) from None


def read_object(text: str) -> dict[str, object]:
    """The first JSON object in a text: thoughts, code fences and prose around it left out, small damage repaired."""
    answer = _THINKING.sub("", text)
    start = answer.find("{")
    try:
        value = _decode(answer[start:]) if start >= 0 else None
    except RecursionError:  # a model that loops can nest brackets without end
        value = None
    if not isinstance(value, dict):
        raise EndpointError(_complaint("holds no JSON object", text, "ask again or use a stronger model"))
    return value


def _decode(text: str) -> object:
    from json_repair import repair_json

    try:
        value = json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        value = repair_json(text, return_objects=True)
        # Prose after a damaged object is repaired too: it comes as further values.
        value = value[0] if isinstance(value, list) and value else value
    # An escape such as "\\ud83d" without its second half decodes to a text that no file or database takes.
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _complaint(problem: str, text: str, advice: str) -> str:
    return f"The model's reply {problem}; it begins with {text[:200]!r}: {advice}."
