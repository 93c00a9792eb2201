"""Corrections of triples, as a person writes them: a file of JSON lines that is kept with the index.

    {"drop": ["Uranus", "is", "*"]}
    {"add": ["Uranus", "is", "a planet"], "document": "notes/uranus.md"}
    {"merge": ["W. Herschel", "Sir William Herschel"], "into": "William Herschel"}

Names and predicates match in their normal form (`triplebeam.triple.entity_key`), and ``*`` is any. Empty lines, and
lines that begin with ``#``, are skipped. What was extracted stays in the store, so that every line can be taken back.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
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
from triplebeam.triple import Triple, entity_key

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


@dataclass(frozen=True)
class Corrections:
    """All lines of a file."""

    text: str = ""
    lines: tuple[Correction, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, object]]) -> "Corrections":
        """From rows, one per line."""
        if isinstance(rows, Mapping):
            raise BadInputError("the corrections are one row: give a list of rows.")
        return parse_corrections("".join(f"{_written(row, at)}\n" for at, row in enumerate(rows, start=1)))

    @classmethod
    def read(cls, path: Path) -> "Corrections":
        """From a file."""
        try:
            return parse_corrections(path.read_text(encoding="utf-8-sig"), str(path))
        except FileNotFoundError:
            raise BadInputError(f"there is no file {str(path)!r}: check the path.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInputError(
                f"the corrections in {path} cannot be read ({error}): name a readable file in UTF-8."
            ) from error

    @classmethod
    def merging(cls, aliases: Mapping[str, str]) -> "Corrections":
        """Nothing but other names of entities, with the names that these have."""
        return cls(lines=tuple(Correction(0, "merge", (alias,), into=name) for alias, name in aliases.items()))

    def of_kind(self, kind: Kind) -> list[Correction]:
        """The lines of one kind."""
        return [line for line in self.lines if line.kind == kind]

    @cached_property
    def merges(self) -> dict[str, Correction]:
        """Lines that merge entities, by the normal form of each name."""
        return {entity_key(name): line for line in self.of_kind("merge") for name in line.parts}

    @property
    def aliases(self) -> dict[str, str]:
        """Names that are merged, with the names that their entities have in the index."""
        return {name: line.into for line in self.of_kind("merge") for name in line.parts}

    def name(self, name: str) -> str:
        """The name that an entity has in the index."""
        merge = self.merges.get(entity_key(name))
        return merge.into if merge else name

    def merged(self, triple: Triple) -> Triple:
        """A triple with the names that its entities have in the index."""
        return Triple(self.name(triple.subject), triple.predicate, self.name(triple.object)) if self.merges else triple

    def texts(self, triples: Iterable[Triple]) -> set[str]:
        """The texts of triples, as they were extracted and as they are in the index."""
        return {str(form) for triple in triples for form in (triple, self.merged(triple))}

    def renamed(self, ids: Mapping[str, str]) -> "Corrections":
        """With other ids of passages and documents."""
        changed = {line.line for line in self.lines if ids.keys() & {line.passage, line.document}}
        return self._with(lambda at, line: _with_ids(line, ids) if at in changed else line)

    def without(self, numbers: Iterable[int]) -> "Corrections":
        """Without some lines, which are left empty, so that the others keep their numbers."""
        gone = set(numbers)
        return self._with(lambda at, line: "" if at in gone else line)

    def _with(self, change: Callable[[int, str], str]) -> "Corrections":
        return parse_corrections("\n".join(change(at, line) for at, line in enumerate(self.text.split("\n"), start=1)))


class CorrectionCounts(BaseModel):
    """The corrections of an index, as the manifest counts them."""

    model_config = ConfigDict(frozen=True)

    lines: dict[Kind, int] = {}
    triples: dict[Kind, int] = {}
    """How many triples were dropped, added, and given another name."""
    unmatched: list[int] = []
    """The numbers of the lines that match nothing now."""


@lru_cache(maxsize=1)  # those of a store are needed for each document that is removed; more would only fill memory
def parse_corrections(text: str, source: str = "the corrections") -> Corrections:
    """Read and check every line; what is wrong with one is said with its number."""
    numbered = enumerate(text.split("\n"), start=1)
    written = [(at, line) for at, line in numbered if line.strip() and not line.lstrip().startswith("#")]
    lines = tuple(_parse_line(f"{source}, line {at}", at, line) for at, line in written)
    _check_merges(lines, source)
    return Corrections(text, lines)


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


def _parse_line(place: str, number: int, text: str) -> Correction:
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


def _written(row: object, at: int) -> str:
    """A row as a line. What is no mapping is written, too: `parse_corrections` refuses it as it would in a file."""
    try:
        return json.dumps(dict(row) if isinstance(row, Mapping) else row, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInputError(f"the corrections, line {at}: this row cannot be written as JSON ({error}).") from error


def _check_merges(lines: Iterable[Correction], source: str) -> None:
    """An entity is merged once, and not into one that is merged itself."""
    seen: dict[str, Correction] = {}
    merges = [line for line in lines if line.kind == "merge"]
    for line, name in _names(merges):
        other = seen.setdefault(entity_key(name), line)
        if other.into != line.into:
            raise BadInputError(
                f"{source}, line {line.line}: {name!r} is merged into {other.into!r} on line {other.line}: name it"
                " once."
            )
    for line in merges:
        further = seen.get(entity_key(line.into))
        if further and further.into != line.into:
            raise BadInputError(
                f"{source}, line {line.line}: {line.into!r} is itself merged into {further.into!r} on line"
                f" {further.line}: write {further.into!r} here, too."
            )


def _names(merges: Iterable[Correction]) -> Iterator[tuple[Correction, str]]:
    return ((line, name) for line in merges for name in line.parts)


def _with_ids(line: str, ids: Mapping[str, str]) -> str:
    row = json.loads(line)
    for key in ("passage", "document"):
        if key in row:
            row[key] = ids.get(row[key].strip(), row[key])
    return json.dumps(row, ensure_ascii=False)
