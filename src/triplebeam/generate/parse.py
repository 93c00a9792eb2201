"""A model's reply to data, or an error that names what is wrong with it: never an empty result in its place.

Replies are always one JSON object, which is also what the structured-output modes of endpoints can promise. A null
or a number where a schema asks for a text needs no correction.
"""

import json
import re
from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError, WithJsonSchema

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


#: Where some "thinking" models write their thoughts into the reply.
_THOUGHTS_BEGIN, THOUGHTS_END = "<think>", "</think>"
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


def strip_thoughts(text: str) -> tuple[str, bool]:
    """Return the reply without its thoughts, and whether it had any.

    Some chat templates open the thoughts themselves, so that only their end is seen. Thoughts that do not end were cut
    off at the limit of tokens: nothing is said then.
    """
    _, close, said = text.rpartition(THOUGHTS_END)
    if close:
        return said.lstrip(), True
    if text.lstrip().startswith(_THOUGHTS_BEGIN):
        return "", True
    return text, False


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


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?P<closed>"?)|[\[\]{},]', re.DOTALL)
#: The end of an object that prose follows. A brace inside a text seldom follows a quotation mark or a bracket, and
#: what follows one inside an object is a comma or another bracket.
_CLOSED = re.compile(r"""(?:(?<!\\)["'](?:\s*+:\s*+[\w.+-]++)?|\])(?:\s*+\})++(?=\s*+[^\s,\]{"])""")
#: The object, one of its lists, and the items of that.
_ITEM_DEPTH = 2


@dataclass(slots=True)
class _Level:
    """An open bracket, and where the item that is being written in it begins."""

    bracket: str
    item: int

    def is_whole(self, text: str) -> bool:
        """Return whether the item ends where the text does. A number may go on, and a field has more than its name."""
        has_value = self.bracket == "[" or ":" in text[self.item :]
        return text.endswith(('"', "]", "}")) and has_value


def drop_cut_item(text: str) -> str:
    """Return the text up to its last whole item; as it is where its brackets are closed.

    Some endpoints let a reply end early and do not say so. Repairing it would take half a name or half a year for a
    whole one, so the item that was not finished goes: the triple of a list, the name of a list, the field of an object.
    A quotation mark too many turns texts and brackets inside out, so an end before prose is looked for first.
    """
    text = text.rstrip("` \n")
    if text.endswith("}"):
        return text
    if end := _CLOSED.search(text):
        return text[: end.end()]
    levels: list[_Level] = []
    closed = True
    for token in _TOKEN.finditer(text):
        sign = token[0][0]
        if sign in "[{":
            levels.append(_Level(sign, token.end()))
        elif sign in "]}" and levels:
            levels.pop()
            if not levels:  # what follows is prose
                return text
        elif sign == "," and levels:
            levels[-1].item = token.end()
        elif sign == '"':
            closed = bool(token["closed"])
    if len(levels) > _ITEM_DEPTH:
        return text[: levels[_ITEM_DEPTH - 1].item]
    return text if not levels or (closed and levels[-1].is_whole(text)) else text[: levels[-1].item]
