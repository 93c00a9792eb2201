"""Fields of replies as models write them: a null or a number where the schema asks for a text needs no correction."""

import json
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

_PARTS = ("subject", "predicate", "object")
_THREE_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


def _as_text(value: object) -> object:
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_list(value: object) -> object:
    return [] if value is None else value


def _as_row(value: object) -> list[str]:
    """A row of texts. Anything else becomes one part, so that it is rejected without the others.

    Some models write an object where the schema asks for an array: one with the three parts' names is as good.
    """
    if isinstance(value, dict) and set(value) == set(_PARTS):
        value = [value[part] for part in _PARTS]
    if isinstance(value, list) and all(part is None or isinstance(part, str | int | float) for part in value):
        return ["" if part is None else str(part) for part in value]
    return [json.dumps(value)]


#: A text; null counts as empty, a number as its digits.
Text: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
#: Numbers of things on a list; null counts as none.
Numbers: TypeAlias = Annotated[list[int], BeforeValidator(_as_list)]
#: The schema asks for three texts; numbers, empty parts and rows of another length are left to the reader.
TripleRow: TypeAlias = Annotated[list[str], BeforeValidator(_as_row), WithJsonSchema(_THREE_TEXTS)]
