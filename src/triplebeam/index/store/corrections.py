"""Corrections of triples, as a person writes them: a file of JSON lines that is kept with the index.

    {"drop": ["Uranus", "is", "*"]}
    {"add": ["Uranus", "is", "a planet"], "document": "notes/uranus.md"}
    {"merge": ["W. Herschel", "Sir William Herschel"], "into": "William Herschel"}

Names and predicates match in their normal form (`triplebeam.text.names.entity_key`), and ``*`` is any. Empty lines, and
lines that begin with ``#``, are skipped. What was extracted stays in the store, so that every line can be taken back.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from triplebeam.errors import BadInputError, nearest
from triplebeam.index.source import Kind
from triplebeam.text.characters import replace_unstorable
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

ANY = "*"
#: What a line of each kind may say besides, by its key.
_KEYS: Mapping[Kind, tuple[str, ...]] = {
    "drop": ("passage", "document"),
    "add": ("passage", "document"),
    "merge": ("into",),
}


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


def parse_line(place: str, number: int, text: str) -> Correction:
    """Read one line; what is wrong with it is said."""
    try:
        return _parse_row(json.loads(text), number)
    except (json.JSONDecodeError, RecursionError) as error:  # the latter where brackets are nested too deeply
        reason = f"is not JSON ({error})"
    except ValueError as error:
        reason = str(error)
    raise BadInputError(f"{place}: this line {reason}.")


def _parse_row(row: object, number: int) -> Correction:
    if not isinstance(row, dict):
        raise ValueError('is not a JSON object, such as {"drop": ["A", "is", "B"]}')
    kinds = [kind for kind in _KEYS if kind in row]
    if not kinds:
        raise ValueError(f'has none of "drop", "add" and "merge"{nearest(next(iter(row), ""), _KEYS)}')
    if len(kinds) > 1:
        raise ValueError(f"has {' and '.join(map(repr, kinds))}: write only one of them per line")
    [kind] = kinds
    if unknown := [key for key in row if key not in (kind, *_KEYS[kind])]:  # a misspelt one makes another one missing
        near = nearest(unknown[0], _KEYS[kind])
        raise ValueError(f"has the key {unknown[0]!r}, which {kind!r} does not have{near}")
    parts = row[kind]
    if not isinstance(parts, list) or (kind == "merge" and not parts):
        raise ValueError(f'needs a list of texts after "{kind}"')
    if kind != "merge" and len(parts) != 3:
        raise ValueError(f'needs "{kind}" with a subject, a predicate and an object')
    if kind == "merge" and "into" not in row:
        raise ValueError('has no "into", the name that the entity is to have')
    names = tuple(_check_text(part, kind, kind) for part in parts)
    found = Correction(number, kind, names, **{key: _check_text(row[key], key, kind) for key in row if key != kind})
    if kind == "drop" and set(names) == {ANY} and not (found.passage or found.document):
        raise ValueError('would drop every triple: name a part of it, or a "document"')
    if kind == "add" and bool(found.passage) == bool(found.document):
        raise ValueError('needs a "passage" or a "document", by its id, that the triple belongs to')
    return found


def _check_text(text: object, key: str, kind: Kind) -> str:
    """Return a text without white space around it."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f'has something empty, or not a text, in "{key}"')
    text = text.strip()
    if replace_unstorable(text) != text:
        raise ValueError(f'has a part of "{key}" with NUL or a lone surrogate, which no file can hold: remove it')
    if text == ANY and kind != "drop":
        raise ValueError(f"has {ANY!r}, which only {'drop'!r} understands: write it out")
    return text


@dataclass(frozen=True)
class Corrections:
    """All lines of a file."""

    text: str = ""
    lines: tuple[Correction, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, object]]) -> "Corrections":
        """Parse rows, one per line."""
        if isinstance(rows, Mapping):
            raise BadInputError("the corrections are one row: give a list of rows.")
        return parse_corrections("".join(f"{_format_row(row, at)}\n" for at, row in enumerate(rows, start=1)))

    @classmethod
    def read(cls, path: Path) -> "Corrections":
        """Read a file."""
        try:
            return parse_corrections(path.read_text(encoding="utf-8-sig"), str(path))
        except FileNotFoundError:
            raise BadInputError(f"there is no file {str(path)!r}: check the path.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInputError(
                f"the corrections in {path} cannot be read ({error}): name a readable file in UTF-8."
            ) from error

    @classmethod
    def from_aliases(cls, aliases: Mapping[str, str]) -> "Corrections":
        """Make corrections that only merge aliases into the names that entities have."""
        return cls(lines=tuple(Correction(0, "merge", (alias,), into=name) for alias, name in aliases.items()))

    def of_kind(self, kind: Kind) -> list[Correction]:
        """Return the lines of one kind."""
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
        """Return the name that an entity has in the index."""
        merge = self.merges.get(entity_key(name))
        return merge.into if merge else name

    def merge_triple(self, triple: Triple) -> Triple:
        """Return a triple with the names that its entities have in the index."""
        return Triple(self.name(triple.subject), triple.predicate, self.name(triple.object)) if self.merges else triple

    def texts(self, triples: Iterable[Triple]) -> set[str]:
        """Return the texts of triples, as they were extracted and as they are in the index."""
        return {str(form) for triple in triples for form in (triple, self.merge_triple(triple))}

    def rename_ids(self, ids: Mapping[str, str]) -> "Corrections":
        """Return the corrections with other ids of passages and documents."""
        changed = {line.line for line in self.lines if ids.keys() & {line.passage, line.document}}
        return self._map_lines(lambda at, line: _replace_ids(line, ids) if at in changed else line)

    def drop_lines(self, numbers: Iterable[int]) -> "Corrections":
        """Return the corrections with some lines left empty, so that the others keep their numbers."""
        gone = set(numbers)
        return self._map_lines(lambda at, line: "" if at in gone else line)

    def _map_lines(self, change: Callable[[int, str], str]) -> "Corrections":
        return parse_corrections("\n".join(change(at, line) for at, line in enumerate(self.text.split("\n"), start=1)))


@lru_cache(maxsize=1)  # those of a store are needed for each document that is removed; more would only fill memory
def parse_corrections(text: str, source: str = "the corrections") -> Corrections:
    """Read and check every line; what is wrong with one is said with its number."""
    numbered = enumerate(text.split("\n"), start=1)
    written = [(at, line) for at, line in numbered if line.strip() and not line.lstrip().startswith("#")]
    lines = tuple(parse_line(f"{source}, line {at}", at, line) for at, line in written)
    _check_merges(lines, source)
    return Corrections(text, lines)


def _format_row(row: object, at: int) -> str:
    """Format a row as a line. What is no mapping is written, too: `parse_corrections` refuses it as in a file."""
    try:
        return json.dumps(dict(row) if isinstance(row, Mapping) else row, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInputError(f"the corrections, line {at}: this row cannot be written as JSON ({error}).") from error


def _check_merges(lines: Iterable[Correction], source: str) -> None:
    """Check that an entity is merged once, and not into one that is merged itself."""
    seen: dict[str, Correction] = {}
    merges = [line for line in lines if line.kind == "merge"]
    for line, name in [(each, name) for each in merges for name in each.parts]:
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


def _replace_ids(line: str, ids: Mapping[str, str]) -> str:
    row = json.loads(line)
    for key in ("passage", "document"):
        if key in row:
            row[key] = ids.get(row[key].strip(), row[key])
    return json.dumps(row, ensure_ascii=False)
