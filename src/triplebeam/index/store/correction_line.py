"""One line of corrections: what it may say, and what is wrong with one that says something else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from triplebeam.errors import BadInputError, nearest
from triplebeam.index.manifest import Kind
from triplebeam.text.characters import replace_unstorable
from triplebeam.triple import Triple

ANY = "*"


@dataclass(frozen=True, slots=True)
class Correction:
    """A line: what to do, and with what."""

    line: int
    kind: Kind
    parts: tuple[str, ...]
    """Subject, predicate and object; the names of an entity to merge."""
    into: str = ""
    """The name that a merged entity has in the index."""
    passage: str = ""
    document: str = ""
    """Where it holds: in one passage, in one document, or, without either, everywhere."""

    @property
    def triple(self) -> Triple:
        """To be added or dropped."""
        return Triple(*self.parts)

    def applies_to(self, passage_id: str, document_id: str) -> bool:
        """Return whether it applies to a passage of a document."""
        return self.passage in ("", passage_id) and self.document in ("", document_id)


def _check_storable(text: str) -> str:
    if replace_unstorable(text) != text:
        raise PydanticCustomError("string_unicode", "")  # as pydantic calls a lone surrogate
    return text


def _check_written_out(text: str) -> str:
    if text == ANY:
        raise ValueError(f"has {ANY!r}, which only {'drop'!r} understands: write it out")
    return text


_Pattern = Annotated[
    str, StringConstraints(strict=True, strip_whitespace=True, min_length=1), AfterValidator(_check_storable)
]
_Name = Annotated[_Pattern, AfterValidator(_check_written_out)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Drop(_Row):
    drop: tuple[_Pattern, _Pattern, _Pattern]
    passage: _Pattern = ""
    document: _Pattern = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if set(self.drop) == {ANY} and not (self.passage or self.document):
            raise ValueError('would drop every triple: name a part of it, or a "document"')
        return self


class _Add(_Row):
    add: tuple[_Name, _Name, _Name]
    passage: _Name = ""
    document: _Name = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.passage) == bool(self.document):
            raise ValueError('needs a "passage" or a "document", by its id, that the triple belongs to')
        return self


class _Merge(_Row):
    merge: Annotated[tuple[_Name, ...], Field(min_length=1)]
    into: _Name


_ROWS: Mapping[Kind, type[_Row]] = {"drop": _Drop, "add": _Add, "merge": _Merge}


def parse_line(place: str, number: int, text: str) -> Correction:
    """Read one line; what is wrong with it is said."""
    try:
        row = json.loads(text)
        kind = _find_kind(row)
        checked = _ROWS[kind].model_validate(row).model_dump(exclude_unset=True)
        return Correction(number, kind, checked.pop(kind), **checked)
    except ValidationError as error:
        # A key that is misspelt makes another one missing.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        reason = _explain(first, kind)
    except (json.JSONDecodeError, RecursionError) as error:  # the latter where brackets are nested too deeply
        reason = f"is not JSON ({error})"
    except ValueError as error:
        reason = str(error)
    raise BadInputError(f"{place}: this line {reason}.")


def _find_kind(row: object) -> Kind:
    if not isinstance(row, dict):
        raise ValueError('is not a JSON object, such as {"drop": ["A", "is", "B"]}')
    kinds = [kind for kind in _ROWS if kind in row]
    if not kinds:
        raise ValueError(f'has none of "drop", "add" and "merge"{nearest(next(iter(row), ""), _ROWS)}')
    if len(kinds) > 1:
        raise ValueError(f"has {' and '.join(map(repr, kinds))}: write only one of them per line")
    return kinds[0]


def _explain(error: ErrorDetails, kind: Kind) -> str:
    key = str(error["loc"][0]) if error["loc"] else ""
    match error["type"]:
        case "extra_forbidden":
            others = [name for name in _ROWS[kind].model_fields if name != kind]
            return f"has the key {key!r}, which {kind!r} does not have{nearest(key, others)}"
        case "missing" if key == "into":
            return 'has no "into", the name that the entity is to have'
        case "missing" | "too_long":
            return f'needs "{kind}" with a subject, a predicate and an object'
        case "tuple_type" | "too_short":
            return f'needs a list of texts after "{key}"'
        case "string_type" | "string_too_short":
            return f'has something empty, or not a text, in "{key}"'
        case "string_unicode":
            return f'has a part of "{key}" with NUL or a lone surrogate, which no file can hold: remove it'
        case _:
            return error["msg"].removeprefix("Value error, ")
