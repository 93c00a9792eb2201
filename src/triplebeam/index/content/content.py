"""What is in an index, read once: the rows that every search structure is made of.

They come from the store or, for some of the passages, from what a generation keeps beside the search structures that
were derived from it: who extracted the triples of a passage, the names and keywords that were found in it, and its
links. So readers, who never open the store, can derive the structures of some of the passages as an index of these
alone would have them (`triplebeam.index.folder.snapshot`).
"""

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.rows import hash_texts, renumber
from triplebeam.index.content.corrected import CorrectionApplier, LineMatches
from triplebeam.index.content.entities import Definition, find_local_definitions, number_entities
from triplebeam.index.source import MAX_PASSAGES, CorrectionCounts
from triplebeam.index.store.corrections import Corrections
from triplebeam.passage import SHARED_TITLE, Passage
from triplebeam.triple import Triple

if TYPE_CHECKING:
    from triplebeam.index.store.store import Store

_EXTRACTIONS, _LINKS = "passage_extractions", "passage_links"


@dataclass(frozen=True)
class Annotations:
    """By the rows of passages."""

    extractors: list[str] = field(repr=False)
    """Who extracted the triples of each passage; empty where nobody did yet, or it failed."""
    names: list[list[str]] = field(repr=False)
    """The names that the local extractor found in each passage, sorted, whether a triple has them or not."""
    keywords: list[list[str]] = field(repr=False)
    """The keywords that a model gave each passage."""
    links: NDArray[np.int64] = field(repr=False)
    """Pairs of passages of which the first links to the second, sorted."""

    @classmethod
    def of(cls, store: "Store", row_of: Mapping[int, int], rename: Callable[[str], str]) -> "Annotations":
        """Collect the annotations of all passages in the store, which has them by number; names and keywords are called
        what ``rename`` returns.
        """
        extractors = store.extractions.extractors()
        names = _group_by_row(store.extractions.names(), row_of, rename)
        keywords = _group_by_row(store.extractions.keywords(), row_of, rename)
        links = [(row_of[here], row_of[there]) for here, there in store.links()]
        return cls(
            extractors=[extractors.get(number, "") for number in row_of],
            names=[sorted(names.get(row, ())) for row in range(len(row_of))],
            keywords=[keywords.get(row, []) for row in range(len(row_of))],
            links=np.array(sorted(links), np.int64).reshape(-1, 2),
        )

    def write(self, arrays: ArraySet) -> None:
        """Write a column and an array."""
        rows = zip(self.extractors, self.names, self.keywords, strict=True)
        arrays.add_strings(_EXTRACTIONS, (json.dumps(row, ensure_ascii=False) for row in rows))
        arrays.add(_LINKS, self.links)


class AnnotationTable:
    """What `Annotations.write` wrote, by the rows of passages."""

    def __init__(self, arrays: ArraySet) -> None:
        self._extractions, self._links = arrays.strings(_EXTRACTIONS), arrays.array(_LINKS)

    def take_rows(self, rows: NDArray[np.int64]) -> Annotations:
        """Read those of some passages, which get the rows 0, 1, 2 and so on."""
        read = [json.loads(each) for each in self._extractions.take(rows)]
        return Annotations(
            extractors=[extractor for extractor, _, _ in read],
            names=[names for _, names, _ in read],
            keywords=[keywords for _, _, keywords in read],
            links=self._take_links(rows),
        )

    def take(self, arrays: ArraySet, rows: NDArray[np.int64]) -> None:
        """Write those of some passages, without parsing them."""
        arrays.add_strings(_EXTRACTIONS, self._extractions.take(rows))
        arrays.add(_LINKS, self._take_links(rows))

    def _take_links(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        links = renumber(rows, len(self._extractions))[self._links].astype(np.int64)
        return np.asarray(links[(links >= 0).all(axis=1)])


def count_by_extractor(extractors: Sequence[str], triple_rows: Iterable[int]) -> dict[str, int]:
    """Count triples by the extractors of their passages. Where nothing was extracted, all were added by corrections."""
    return dict(sorted(Counter(extractors[row] or "corrections" for row in triple_rows).items()))


def list_pairs(by_row: Iterable[Iterable[str]]) -> list[tuple[int, str]]:
    """Return the rows of passages, each with one of its names or keywords."""
    return [(row, name) for row, names in enumerate(by_row) for name in names]


def _group_by_row(
    found: Iterable[tuple[int, str]], row_of: Mapping[int, int], rename: Callable[[str], str]
) -> dict[int, list[str]]:
    by_row: dict[int, dict[str, None]] = {}
    for number, name in found:
        by_row.setdefault(row_of[number], {})[rename(name)] = None
    return {row: list(names) for row, names in by_row.items()}


@dataclass(frozen=True)
class Content:
    """Passages in the order of documents and positions, and triples in the order of their passages."""

    passages: list[Passage] = field(repr=False)
    triples: list[Triple] = field(repr=False)
    triple_rows: list[int] = field(repr=False)
    """The row of each triple's passage."""
    annotations: Annotations = field(repr=False)
    """What else was found in the passages."""
    correcting: CorrectionApplier = field(repr=False)
    """What a person corrected. Triples and annotations are the corrected ones; defined terms are corrected here."""
    in_context: bool = False
    """Whether the vectors of triples come from the reading of their passages."""
    keyword_passages: int = MAX_PASSAGES
    """A keyword of more passages joins none of them; 0: every keyword joins."""

    @classmethod
    def of(cls, store: "Store", *, in_context: bool = False, corrections: Corrections | None = None) -> "Content":
        """Load everything that is in the store now, with its corrections, or with others."""
        passages = dict(store.passages())
        row_of = {number: row for row, number in enumerate(passages)}
        correcting = CorrectionApplier(store.meta.corrections if corrections is None else corrections, passages)
        extracted = store.extractions.triples()
        stored = list(correcting.correct_triples(extracted) if correcting.corrections.lines else extracted)
        return cls(
            passages=list(passages.values()),
            triples=[triple for _, triple in stored],
            triple_rows=[row_of[number] for number, _ in stored],
            annotations=Annotations.of(store, row_of, correcting.correct_name),
            correcting=correcting,
            in_context=in_context,
            keyword_passages=store.meta.keyword_passages,
        )

    @cached_property
    def shared_titles(self) -> frozenset[str]:
        """Titles that too many passages have to say anything about each of them."""
        counts = Counter(passage.title for passage in self.passages)
        return frozenset(title for title, count in counts.items() if count > SHARED_TITLE)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Terms that passages define, by their normal forms."""
        found = find_local_definitions(self.passages, self.annotations.extractors)
        return self.correcting.correct_definitions(found) if self.correcting.corrections.lines else found

    def triples_by_extractor(self) -> dict[str, int]:
        """Count the triples in the passages of each extractor, with those that were added there."""
        return count_by_extractor(self.annotations.extractors, self.triple_rows)

    def correction_counts(self) -> CorrectionCounts | None:
        """Count the corrections and what they match here; None without any."""
        _ = self.definitions
        return self.correcting.count_corrections() if self.correcting.corrections.lines else None

    def correction_lines(self) -> list[LineMatches]:
        """Return what each line of the corrections matches here."""
        _ = self.definitions
        return self.correcting.match_lines()

    @cached_property
    def passage_texts(self) -> list[str]:
        """The text of each passage that is embedded."""
        return [passage.format_for_embedding(self.shared_titles) for passage in self.passages]

    @cached_property
    def triple_texts(self) -> list[str]:
        """The text of each triple that is embedded and searched by its words."""
        return [str(triple) for triple in self.triples]

    @cached_property
    def triple_sources(self) -> list[str]:
        """What the vector of each triple is made from: its text and, in context, that of its passage."""
        if not self.in_context:
            return self.triple_texts
        passages = [hash_texts(text).hex() for text in self.passage_texts]
        return [f"{text}\0{passages[row]}" for text, row in zip(self.triple_texts, self.triple_rows, strict=True)]

    def triples_at(self, row: int) -> range:
        """Return the positions of a passage's triples."""
        return range(bisect_left(self.triple_rows, row), bisect_right(self.triple_rows, row))

    def texts(self) -> dict[str, list[str]]:
        """Return the texts that all vectors are made from, by kind."""
        return {"passage": self.passage_texts, "triple": self.triple_sources, "entity": self.entity_names}

    @cached_property
    def _entities(self) -> tuple[list[str], NDArray[np.int64]]:
        return number_entities(self.triples, (definition.name for definition in self.definitions.values()))

    @property
    def entity_names(self) -> list[str]:
        """The name of each entity, which is embedded."""
        return self._entities[0]

    @property
    def triple_entities(self) -> NDArray[np.int64]:
        """Subject and object of each triple, by number."""
        return self._entities[1]
