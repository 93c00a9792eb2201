"""A model's reply to data, or an error that names what is wrong with it: never an empty result in its place.

Replies are always one JSON object, which is also what the structured-output modes of endpoints can promise. A null
or a number where a schema asks for a text needs no correction.
"""

import json
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError, WithJsonSchema

from triplebeam.generate.chat_completion import strip_thoughts
from triplebeam.generate.cut_off import drop_cut_item
from triplebeam.generate.language_model import Completion, PromptFailedError
from triplebeam.text.characters import replace_unstorable

#: How models name the parts of a triple.
PARTS = ("subject", "predicate", "object")
_THREE_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


def _coerce_text(value: object) -> object:
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def coerce_list(value: object) -> object:
    """Return an empty list for a null."""
    return [] if value is None else value


def _coerce_row(value: object) -> list[str]:
    """Return a row of texts. Anything else becomes one part, so that it is rejected without the others.

    Some models write an object where the schema asks for an array: one with the three parts' names is as good.
    """
    if isinstance(value, dict) and set(value) == set(PARTS):
        value = [value[part] for part in PARTS]
    if isinstance(value, list) and all(part is None or isinstance(part, str | int | float) for part in value):
        return ["" if part is None else str(part) for part in value]
    return [json.dumps(value)]


#: A text; null counts as empty, a number as its digits.
Text: TypeAlias = Annotated[str, BeforeValidator(_coerce_text)]
#: Numbers of things on a list; null counts as none.
Numbers: TypeAlias = Annotated[list[int], BeforeValidator(coerce_list)]
#: Texts; null counts as none.
Texts: TypeAlias = Annotated[list[Text], BeforeValidator(coerce_list)]
#: The schema asks for three texts; numbers, empty parts and rows of another length are left to the reader.
TripleRow: TypeAlias = Annotated[list[str], BeforeValidator(_coerce_row), WithJsonSchema(_THREE_TEXTS)]
#: Triples; null counts as none.
TripleRows: TypeAlias = Annotated[list[TripleRow], BeforeValidator(coerce_list)]


ReplyType = TypeVar("ReplyType", bound=BaseModel)

_MAX_PROBLEMS_NAMED = 5


class UnusableReplyError(PromptFailedError):
    """A reply came but cannot be used. ``repairable`` says whether it is worth showing the model the problem."""

    def __init__(self, problem: str, advice: str, reply: str, *, repairable: bool) -> None:
        begins = f"; it begins with {reply[:200]!r}" if reply.strip() else ""
        super().__init__(f"The model's reply {problem}{begins}: {advice}.")
        self.problem = problem
        self.reply = reply
        self.repairable = repairable


def parse(completion: Completion, reply_type: type[ReplyType]) -> ReplyType:
    """Parse the reply as a ``reply_type``, whose fields should have no defaults: a missing field is an error."""
    text = require_whole_text(completion)
    try:
        return reply_type.model_validate(read_object(text))
    except ValidationError as error:
        problems = "; ".join(
            # A problem of the whole object has no location, and pydantic prefixes the messages of our own validators.
            ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"].removeprefix("Value error, ")]))
            for problem in error.errors(include_url=False)[:_MAX_PROBLEMS_NAMED]
        )
        raise _make_unusable_error(f"is not what was asked for ({problems})", text) from None


def require_whole_text(completion: Completion) -> str:
    """Return what the model says, if it says anything and was not cut off."""
    text, thought = strip_thoughts(completion.text)
    reason = completion.finish_reason
    if not text.strip() and reason == "length" and (thought or completion.thought):
        problem = "is empty, since its limit of tokens was spent on thinking"
        raise UnusableReplyError(problem, "raise max_tokens or switch thinking off", text, repairable=False)
    if reason == "length":
        problem = "was cut off at its limit of tokens"
        raise UnusableReplyError(problem, "raise max_tokens or send less text", text, repairable=False)
    if not text.strip():
        # What a filter removed would be removed again.
        problem = f"is empty (it finished by {reason!r})"
        raise UnusableReplyError(problem, "ask again or use another model", text, repairable=reason == "stop")
    return text


#: No useful reply is longer; a model that loops may write megabytes.
_MAX_CHARACTERS = 100_000


def read_object(text: str) -> dict[str, object]:
    """Read the first JSON object in a text: thoughts, code fences and prose are dropped, small damage repaired."""
    if len(text) > _MAX_CHARACTERS:  # repairing damage takes time that grows faster than the text
        raise _make_unusable_error(
            f"has {len(text):,} characters, more than the {_MAX_CHARACTERS:,} that are read", text
        )
    answer, _ = strip_thoughts(text)
    start = answer.find("{")
    try:
        value = _decode(answer[start:]) if start >= 0 else None
    except RecursionError:  # a model that loops can nest brackets without end
        value = None
    if not isinstance(value, dict):
        raise _make_unusable_error("holds no JSON object", text)
    return value


def _decode(text: str) -> object:
    from json_repair import repair_json

    try:
        value = json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        value = repair_json(drop_cut_item(text), return_objects=True)
        # Prose after a damaged object is repaired too: it comes as further values.
        value = value[0] if isinstance(value, list) and value else value
    return json.loads(replace_unstorable(json.dumps(value, ensure_ascii=False)))


def _make_unusable_error(problem: str, text: str) -> UnusableReplyError:
    return UnusableReplyError(problem, "ask again or use a stronger model", text, repairable=True)
