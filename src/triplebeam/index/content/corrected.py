"""What corrections make of the triples and names of an index, and how much each line concerns."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Annotated

from pydantic import Field

from triplebeam.errors import nearest
from triplebeam.index.content.entities import Definition
from triplebeam.index.source import CorrectionCounts, Kind
from triplebeam.index.store.corrections import ANY, Correction, Corrections
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple


@dataclass(frozen=True)
class LineMatches:
    """A line of corrections, and what it concerns."""

    line: int
    kind: Kind
    text: str
    triples: int
    """How many it drops, adds, or gives another name."""
    matches: bool
    """A line that merges names may also concern names that are in no triple."""
    problem: Annotated[str, Field(exclude=True)] = ""
    """Why it concerns nothing, for people at the command line."""


@dataclass(frozen=True)
class CorrectionApplier:
    """Applies corrections to what is in a store. Merges come first, so a line may use any name of an entity; what a
    line adds, no line drops.
    """

    corrections: Corrections = field(default_factory=Corrections)
    passages: Mapping[int, Passage] = field(default_factory=dict, repr=False)
    """By number, in their order."""
    matches: Counter[int] = field(default_factory=Counter)
    """How many triples each line concerns."""
    named: set[int] = field(default_factory=set)
    """Lines that merge names which are in no triple."""

    def correct_triples(self, stored: Iterable[tuple[int, Triple]]) -> Iterator[tuple[int, Triple]]:
        """Yield the corrected triples, in the order of their passages; added ones come last in theirs."""
        extracted = {number: [triple for _, triple in group] for number, group in groupby(stored, itemgetter(0))}
        for number, passage in self.passages.items():
            before = extracted.get(number, [])
            after = [*self._filter_triples(before, passage), *self._added.get(number, ())]
            # Merging may make two triples of a passage the same.
            for triple in after if after == before else dict.fromkeys(after):
                yield number, triple

    def correct_name(self, name: str) -> str:
        """Return the name that an entity has in the index."""
        if self.corrections.merges and (merge := self.corrections.merges.get(entity_key(name))):
            self.named.add(merge.line)
            return merge.into
        return name

    def correct_definitions(self, defined: Mapping[str, Definition]) -> dict[str, Definition]:
        """Return the defined terms under the names that they have in the index."""
        corrected: dict[str, Definition] = {}
        for key, definition in defined.items():
            name = self.correct_name(definition.name)
            key = key if name == definition.name else entity_key(name)
            other = corrected.get(key)
            rows = (*other.rows, *definition.rows) if other else definition.rows
            corrected[key] = Definition(name, tuple(sorted(set(rows))))
        return corrected

    def count_corrections(self) -> CorrectionCounts:
        """Count what the lines matched, once everything is corrected."""
        lines = self.corrections.lines
        triples: Counter[Kind] = Counter()
        for line in lines:
            triples[line.kind] += self.matches[line.line]
        return CorrectionCounts(
            lines=dict(Counter(line.kind for line in lines)), triples=dict(triples), unmatched=self.list_unmatched()
        )

    def match_lines(self) -> list[LineMatches]:
        """Return what each line matched, once everything is corrected."""
        written, unmatched = self.corrections.text.split("\n"), set(self.list_unmatched())
        found = []
        for line in self.corrections.lines:
            at, matches = line.line, line.line not in unmatched
            problem = "" if matches else self._describe_problem(line)
            found.append(LineMatches(at, line.kind, written[at - 1], self.matches[at], matches, problem))
        return found

    def list_unmatched(self) -> list[int]:
        """List the numbers of the lines that match nothing."""
        return [line.line for line in self.corrections.lines if line.line not in {*+self.matches, *self.named}]

    def _describe_problem(self, line: Correction) -> str:
        if line.kind != "add":
            return "matches nothing"
        kind, id_ = _get_place(line)
        near = nearest(id_, [other for of, other in self._places if of == kind])
        return f"there is no {kind} {id_!r} in the index{near}; the triple is added once there is one"

    def _filter_triples(self, triples: Iterable[Triple], passage: Passage) -> Iterator[Triple]:
        for triple in triples:
            merged = self.corrections.merge_triple(triple)
            patterns = ((lines, _make_pattern(merged, named)) for named, lines in self._drops.items())
            found = (line for lines, pattern in patterns for line in lines.get(pattern, ()))
            if drops := [line for line in found if line.applies_to(passage.id, passage.document_id)]:
                self.matches.update(line.line for line in drops)
                continue
            if merged != triple:
                keys = {entity_key(triple.subject), entity_key(triple.object)} & self.corrections.merges.keys()
                self.matches.update({self.corrections.merges[key].line for key in keys})
            yield merged

    @cached_property
    def _drops(self) -> dict[tuple[bool, ...], dict[tuple[str, ...], list[Correction]]]:
        """Lines that drop triples, by which parts they name, and by these."""
        drops: dict[tuple[bool, ...], dict[tuple[str, ...], list[Correction]]] = {}
        for line in self.corrections.of_kind("drop"):
            triple = self.corrections.merge_triple(line.triple)
            named = tuple(part != ANY for part in triple)
            drops.setdefault(named, {}).setdefault(_make_pattern(triple, named), []).append(line)
        return drops

    @cached_property
    def _added(self) -> dict[int, list[Triple]]:
        """The triples that are added, by the number of their passage."""
        added: dict[int, list[Triple]] = {}
        for line in self.corrections.of_kind("add"):
            if places := self._places.get(_get_place(line)):
                added.setdefault(self._choose_passage(places, line.triple), []).append(
                    self.corrections.merge_triple(line.triple)
                )
                self.matches[line.line] += 1
        return added

    @cached_property
    def _places(self) -> dict[tuple[str, str], list[int]]:
        """Passages by their own ids, and by those of their documents."""
        places: dict[tuple[str, str], list[int]] = {}
        for number, passage in self.passages.items():
            places.setdefault(("passage", passage.id), []).append(number)
            places.setdefault(("document", passage.document_id), []).append(number)
        return places

    def _choose_passage(self, places: list[int], triple: Triple) -> int:
        """Choose the passage with most of a triple's words, the first of equals."""
        words = set(entity_key(str(triple)).split())
        texts = {number: entity_key(self.passages[number].searchable).split() for number in places}
        return max(places, key=lambda number: len(words.intersection(texts[number])))


def _make_pattern(triple: Triple, named: tuple[bool, ...]) -> tuple[str, ...]:
    """Return the normal forms of the parts that are named."""
    return tuple(entity_key(part) if wanted else ANY for part, wanted in zip(triple, named, strict=True))


def _get_place(line: Correction) -> tuple[str, str]:
    """Return where a line adds a triple: in a passage or a document, by its id."""
    return ("passage", line.passage) if line.passage else ("document", line.document)
