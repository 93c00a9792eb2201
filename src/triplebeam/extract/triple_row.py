"""Rows of three texts as models write them: read tolerantly, judged one by one."""

import json
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

_PARTS = ("subject", "predicate", "object")
_THREE_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


def _as_row(value: object) -> list[str]:
    """A row of texts. What is no row of plain values becomes one part, so that it is put aside without the others.

    Some models write an object where the schema asks for an array: one with the three parts' names is as good.
    """
    if isinstance(value, dict) and set(value) == set(_PARTS):
        value = [value[part] for part in _PARTS]
    if isinstance(value, list) and all(part is None or isinstance(part, str | int | float) for part in value):
        return ["" if part is None else str(part) for part in value]
    return [json.dumps(value)]


#: The schema asks for three texts; numbers, empty parts and rows of another length are left to `sort_out`.
TripleRow: TypeAlias = Annotated[list[str], BeforeValidator(_as_row), WithJsonSchema(_THREE_TEXTS)]
