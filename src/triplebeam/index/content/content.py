"""What is in an index, read once: the rows that every search structure is made of.

They come from the store or, for some of the passages, from what `triplebeam.index.content.annotations` wrote of them
beside the search structures; so a view of an index is made as an index of these passages alone would be.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.keys import hash_texts
from triplebeam.index.content.annotations import Annotations
from triplebeam.index.content.corrected import CorrectionApplier, LineMatches
from triplebeam.index.content.definitions import Definition, find_local_definitions
from triplebeam.index.content.entities import number_entities
from triplebeam.index.manifest import MAX_PASSAGES, CorrectionCounts
from triplebeam.index.store.corrections import Corrections
from triplebeam.passage import SHARED_TITLE, Passage
from triplebeam.triple import Triple

if TYPE_CHECKING:
    from triplebeam.index.store.store import Store


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
        stored = list(correcting.correct_triples(store.extractions.triples()))
        return cls(
            passages=list(passages.values()),
            triples=[entry.triple for entry in stored],
            triple_rows=[row_of[entry.passage] for entry in stored],
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
        return self.correcting.correct_definitions(find_local_definitions(self.passages, self.annotations.extractors))

    def triples_by_extractor(self) -> dict[str, int]:
        """Count the triples in the passages of each extractor, with those that were added there. Where
        nothing was extracted, all were added by corrections.
        """
        extractors = self.annotations.extractors
        return dict(sorted(Counter(extractors[row] or "corrections" for row in self.triple_rows).items()))

    def correction_counts(self) -> CorrectionCounts | None:
        """Count the corrections and what they match here; None without any."""
        _ = self.definitions
        return self.correcting.count_corrections()

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
