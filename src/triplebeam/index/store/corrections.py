"""Corrections of triples, as a person writes them: a file of JSON lines that is kept with the index.

    {"drop": ["Uranus", "is", "*"]}
    {"add": ["Uranus", "is", "a planet"], "document": "notes/uranus.md"}
    {"merge": ["W. Herschel", "Sir William Herschel"], "into": "William Herschel"}

Names and predicates match in their normal form (`triplebeam.triple.entity_key`), and ``*`` is any. Empty lines, and
lines that begin with ``#``, are skipped. What was extracted stays in the store, so that every line can be taken back.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

from triplebeam.errors import BadInputError, nearest
from triplebeam.index.store.schema import kept_value
from triplebeam.text.characters import storable
from triplebeam.triple import Triple, entity_key

ANY = "*"
#: Where the store keeps them.
KEPT_AS = "corrections"
Kind: TypeAlias = Literal["drop", "add", "merge"]
_KINDS: tuple[Kind, ...] = get_args(Kind)
_KEYS = {"drop": ("passage", "document"), "add": ("passage", "document"), "merge": ("into",)}


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
        return parse("".join(f"{_written(row, at)}\n" for at, row in enumerate(rows, start=1)))

    @classmethod
    def read(cls, path: Path) -> "Corrections":
        """From a file."""
        try:
            return parse(path.read_text(encoding="utf-8-sig"), str(path))
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
        return parse("\n".join(change(at, line) for at, line in enumerate(self.text.split("\n"), start=1)))


class CorrectionCounts(BaseModel):
    """The corrections of an index, as the manifest counts them."""

    model_config = ConfigDict(frozen=True)

    lines: dict[Kind, int] = {}
    triples: dict[Kind, int] = {}
    """How many triples were dropped, added, and given another name."""
    unmatched: list[int] = []
    """The numbers of the lines that match nothing now."""


@lru_cache(maxsize=1)  # those of a store are needed for each document that is removed; more would only fill memory
def parse(text: str, source: str = "the corrections") -> Corrections:
    """Read and check every line; what is wrong with one is said with its number."""
    numbered = enumerate(text.split("\n"), start=1)
    written = [(at, line) for at, line in numbered if line.strip() and not line.lstrip().startswith("#")]
    lines = tuple(_Line(f"{source}, line {at}", at, line).correction() for at, line in written)
    _check_merges(lines, source)
    return Corrections(text, lines)


def kept_corrections(db: sqlite3.Connection) -> Corrections:
    """Those of a store."""
    return parse(kept_value(db, KEPT_AS) or "")


@dataclass(frozen=True)
class _Line:
    """One line while it is checked."""

    place: str
    number: int
    text: str

    def correction(self) -> Correction:
        row = self._row()
        kind = self._kind(row)
        parts = self._texts(row[kind], kind)
        where = {key: self._text(row[key], key) for key in _KEYS[kind] if key in row}
        self._check(kind, parts, where)
        return Correction(self.number, kind, parts, **where)

    def _row(self) -> dict[str, Any]:
        try:
            row = json.loads(self.text)
        except (ValueError, RecursionError) as error:  # the latter where brackets are nested too deeply
            self._refuse(f"is not JSON ({error})")
        return (
            row if isinstance(row, dict) else self._refuse('is not a JSON object, such as {"drop": ["A", "is", "B"]}')
        )

    def _kind(self, row: Mapping[str, object]) -> Kind:
        kinds = [kind for kind in _KINDS if kind in row]
        if not kinds:
            self._refuse(f'has none of "drop", "add" and "merge"{nearest(next(iter(row), ""), _KINDS)}')
        if len(kinds) > 1:
            self._refuse(f"has {' and '.join(map(repr, kinds))}: write only one of them per line")
        for key in row.keys() - {kinds[0], *_KEYS[kinds[0]]}:
            self._refuse(f"has the key {key!r}, which {kinds[0]!r} does not have{nearest(key, _KEYS[kinds[0]])}")
        return kinds[0]

    def _check(self, kind: Kind, parts: tuple[str, ...], where: Mapping[str, str]) -> None:
        if kind != "drop" and ANY in (*parts, *where.values()):
            self._refuse(f"has {ANY!r}, which only {'drop'!r} understands: write it out")
        if kind == "merge":
            if "into" not in where:
                self._refuse('has no "into", the name that the entity is to have')
            return
        if len(parts) != len(Triple._fields):
            self._refuse(f'needs "{kind}" with a subject, a predicate and an object')
        if kind == "add" and len(where) != 1:
            self._refuse('needs a "passage" or a "document", by its id, that the triple belongs to')
        if set(parts) == {ANY} and not where:
            self._refuse('would drop every triple: name a part of it, or a "document"')

    def _texts(self, value: object, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            self._refuse(f'needs a list of texts after "{key}"')
        return tuple(self._text(part, key) for part in value)

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str) or not value.strip():
            self._refuse(f'has something empty, or not a text, in "{key}"')
        if storable(value) != value:
            self._refuse(f'has a part of "{key}" with NUL or a lone surrogate, which no file can hold: remove it')
        return value.strip()

    def _refuse(self, reason: str) -> NoReturn:
        raise BadInputError(f"{self.place}: this line {reason}.")


def _written(row: object, at: int) -> str:
    """A row as a line. What is no mapping is written, too: `parse` refuses it as it would in a file."""
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
