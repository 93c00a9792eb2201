"""Fields of replies as models write them: a null or a number where a text was asked for costs no correction."""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator


def _as_text(value: object) -> object:
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_list(value: object) -> object:
    return [] if value is None else value


#: A text; null counts as empty, a number as its digits.
Text: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
#: Numbers of things on a list; null counts as none.
Numbers: TypeAlias = Annotated[list[int], BeforeValidator(_as_list)]
