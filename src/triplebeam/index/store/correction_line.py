"""One line of corrections: what it may say, and what is wrong with one that says something else."""

import json
from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from triplebeam.errors import BadInputError, nearest
from triplebeam.text.characters import storable
from triplebeam.triple import Triple

ANY = "*"
Kind: TypeAlias = Literal["drop", "add", "merge"]
_KINDS: tuple[Kind, ...] = get_args(Kind)


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

    def holds_in(self, passage_id: str, document_id: str) -> bool:
        """Does it hold in a passage of a document?"""
        return self.passage in ("", passage_id) and self.document in ("", document_id)


def _check_storable(text: str) -> str:
    if storable(text) != text:
        raise PydanticCustomError("string_unicode", "")  # as pydantic calls a lone surrogate
    return text


_Text = Annotated[
    str, StringConstraints(strict=True, strip_whitespace=True, min_length=1), AfterValidator(_check_storable)
]
_Texts = Annotated[tuple[_Text, ...], Field(min_length=1)]


def _check_triple(kind: Kind, parts: tuple[str, ...]) -> None:
    if len(parts) != len(Triple._fields):
        raise ValueError(f'needs "{kind}" with a subject, a predicate and an object')


def _check_written_out(*texts: str) -> None:
    if ANY in texts:
        raise ValueError(f"has {ANY!r}, which only {'drop'!r} understands: write it out")


class _Row(BaseModel):
    """A line as it is written."""

    model_config = ConfigDict(extra="forbid")


class _Drop(_Row):
    drop: _Texts
    passage: _Text = ""
    document: _Text = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_triple("drop", self.drop)
        if set(self.drop) == {ANY} and not (self.passage or self.document):
            raise ValueError('would drop every triple: name a part of it, or a "document"')
        return self


class _Add(_Row):
    add: _Texts
    passage: _Text = ""
    document: _Text = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_written_out(*self.add, self.passage, self.document)
        _check_triple("add", self.add)
        if bool(self.passage) == bool(self.document):
            raise ValueError('needs a "passage" or a "document", by its id, that the triple belongs to')
        return self


class _Merge(_Row):
    merge: _Texts
    into: _Text

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_written_out(*self.merge, self.into)
        return self


_ROW: TypeAdapter[_Drop | _Add | _Merge] = TypeAdapter(
    Annotated[
        Annotated[_Drop, Tag("drop")] | Annotated[_Add, Tag("add")] | Annotated[_Merge, Tag("merge")],
        Discriminator(lambda row: next(kind for kind in _KINDS if kind in row)),
    ]
)


def parse_line(place: str, number: int, text: str) -> Correction:
    """Read one line; what is wrong with it is said."""
    try:
        row = json.loads(text)
        kind = _find_kind(row)
        checked = _ROW.validate_python(row).model_dump(exclude_unset=True)
    except ValidationError as error:
        # A key that is misspelt makes another one missing.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise BadInputError(f"{place}: this line {_explain(first)}.") from error
    except (json.JSONDecodeError, RecursionError) as error:  # the latter where brackets are nested too deeply
        raise BadInputError(f"{place}: this line is not JSON ({error}).") from error
    except ValueError as error:
        raise BadInputError(f"{place}: this line {error}.") from error
    return Correction(number, kind, checked.pop(kind), **checked)


def _find_kind(row: object) -> Kind:
    if not isinstance(row, dict):
        raise ValueError('is not a JSON object, such as {"drop": ["A", "is", "B"]}')
    kinds = [kind for kind in _KINDS if kind in row]
    if not kinds:
        raise ValueError(f'has none of "drop", "add" and "merge"{nearest(next(iter(row), ""), _KINDS)}')
    if len(kinds) > 1:
        raise ValueError(f"has {' and '.join(map(repr, kinds))}: write only one of them per line")
    return kinds[0]


def _explain(error: ErrorDetails) -> str:
    """Say what is wrong with a line; the first two parts of the place are its kind and a key."""
    kind, key = (*map(str, error["loc"]), "")[:2]
    match error["type"]:
        case "extra_forbidden":
            others = ("into",) if kind == "merge" else ("passage", "document")
            return f"has the key {key!r}, which {kind!r} does not have{nearest(key, others)}"
        case "missing":
            return 'has no "into", the name that the entity is to have'
        case "tuple_type" | "too_short":
            return f'needs a list of texts after "{key}"'
        case "string_type" | "string_too_short":
            return f'has something empty, or not a text, in "{key}"'
        case "string_unicode":
            return f'has a part of "{key}" with NUL or a lone surrogate, which no file can hold: remove it'
        case _:
            return error["msg"].removeprefix("Value error, ")
