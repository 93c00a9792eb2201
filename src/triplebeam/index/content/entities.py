"""The entities of triples, and which of them are topics of passages.

Names that have the same normal form are one entity. The topic of a passage is the most frequent subject of its triples.
Where a topic belongs to one passage, or to two or three, an entity that another passage mentions leads somewhere
definite, and walks from entity to entity find the next hop. Where everything is about the same few people or products,
they lead everywhere. `Ownership` is that difference as a number, and decides how much the default search relies on such
walks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.manifest import Ownership
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

#: The most passages that a topic belongs to.
MAX_OWNERS = 3


def number_entities(triples: Iterable[Triple], others: Iterable[str] = ()) -> tuple[list[str], NDArray[np.int64]]:
    """Assign a number to each entity, by its first name; returns the two of every triple, too: subject and object.

    Behind those of triples come ``others``, of which no triple says anything.
    """
    numbers: dict[str, int] = {}
    names: list[str] = []

    @cache
    def number(name: str) -> int:
        key = entity_key(name)
        if key not in numbers:
            numbers[key] = len(numbers)
            names.append(name)
        return numbers[key]

    ends = [(number(triple.subject), number(triple.object)) for triple in triples]
    for other in others:
        number(other)
    return names, np.array(ends, np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Topics:
    """The topic of every passage, read off its triples."""

    triple_entities: NDArray[np.int64] = field(repr=False)
    """Subject and object of every triple."""
    triple_passages: NDArray[np.int64] = field(repr=False)
    passages: int
    entities: int

    @cached_property
    def of_passages(self) -> NDArray[np.int64]:
        """The most frequent subject of each passage, the one of lower number between equals; -1 without triples."""
        keys = self.triple_passages * self.entities + self.triple_entities[:, 0]
        pairs, counts = np.unique(keys, return_counts=True)
        rows, subjects = np.divmod(pairs, max(self.entities, 1))
        order = np.lexsort((subjects, -counts, rows))
        found, first = np.unique(rows[order], return_index=True)
        topics = np.full(self.passages, -1)
        topics[found] = subjects[order][first]
        return topics

    @cached_property
    def passage_counts(self) -> NDArray[np.int64]:
        """How many passages have each entity as their topic."""
        return np.bincount(self.of_passages[self.of_passages >= 0], minlength=self.entities).astype(np.int64)

    def list_owned(self, most: int) -> NDArray[np.int64]:
        """List topics that at most ``most`` passages have, each with one of their rows, in the order of rows."""
        rows = np.flatnonzero(self.of_passages >= 0)
        rows = rows[self.passage_counts[self.of_passages[rows]] <= most]
        return np.stack([self.of_passages[rows], rows], axis=1)

    def measure_ownership(self) -> Ownership:
        """Measure topic ownership over all passages; 0 where there are none."""
        own = self.of_passages[self.of_passages >= 0]
        return Ownership(exclusive=np.count_nonzero(self.passage_counts[own] <= MAX_OWNERS) / max(self.passages, 1))
