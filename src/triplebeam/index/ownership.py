"""Ownership: how far the passages of an index have topics of their own, as the pages of an encyclopaedia do.

The topic of a passage is the most frequent subject of its triples. Where a topic belongs to one passage, or to two or
three, an entity that another passage mentions leads somewhere definite, and walks from entity to entity find the next
hop. Where everything is about the same few people or products, they lead everywhere. `Ownership` is that difference as
a number, and decides how much the default search relies on such walks.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

#: A topic belongs to its passages while there are at most so many.
FEW = 3
#: Measured on six corpora (docs/methods/blend.md): below the first walks hurt, above the second they help throughout.
_NOTHING_BELOW, _EVERYTHING_FROM = 0.38, 0.48


class Ownership(BaseModel):
    """Two shares between 0 and 1."""

    model_config = ConfigDict(frozen=True)

    exclusive: float
    """Of all passages: those with a topic that at most three passages have. Without facts a passage has no topic."""
    linked: float
    """Of the mentions of other passages' topics: those of a topic that at most three passages have."""

    @property
    def value(self) -> float:
        """Both at once."""
        return self.exclusive * self.linked

    @property
    def share(self) -> float:
        """How much walks and messages count in the default search, from 0 to 1."""
        return float(np.clip((self.value - _NOTHING_BELOW) / (_EVERYTHING_FROM - _NOTHING_BELOW), 0, 1))


@dataclass(frozen=True)
class Topics:
    """The topic of every passage, read off its triples."""

    triple_entities: NDArray[np.int64] = field(repr=False)
    """Subject and object of every triple."""
    triple_passages: NDArray[np.int64] = field(repr=False)
    passages: int
    entities: int
    mentions: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64), repr=False)
    """Pairs of passage and entity beyond the triples: names that were found in a passage."""

    @cached_property
    def of_passages(self) -> NDArray[np.int64]:
        """The most frequent subject of each passage, the one of lower number between equals; -1 without triples."""
        pairs, counts = np.unique(self._keys(self.triple_passages, self.triple_entities[:, 0]), return_counts=True)
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

    def rows_by_topic(self, most: int) -> dict[int, list[int]]:
        """The passages of each topic that at most so many have."""
        rows: dict[int, list[int]] = {}
        for row, topic in enumerate(self.of_passages.tolist()):
            if topic >= 0 and self.passage_counts[topic] <= most:
                rows.setdefault(topic, []).append(row)
        return rows

    def ownership(self) -> Ownership:
        """Measured over all passages and mentions; 0 where there are none."""
        own = self.of_passages[self.of_passages >= 0]
        in_triples = self._keys(np.repeat(self.triple_passages, 2), self.triple_entities.ravel())
        mentions = np.union1d(in_triples, self._keys(*self.mentions.T))
        rows, entities = np.divmod(mentions, max(self.entities, 1))
        of_others = entities[(self.of_passages[rows] != entities) & (self.passage_counts[entities] > 0)]
        exclusive = self._few(own) * len(own) / max(self.passages, 1)
        return Ownership(exclusive=exclusive, linked=self._few(of_others))

    def _few(self, topics: NDArray[np.int64]) -> float:
        return float(np.mean(self.passage_counts[topics] <= FEW)) if len(topics) else 0.0

    def _keys(self, rows: NDArray[np.int64], entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number per pair of passage and entity."""
        return np.asarray(rows * self.entities + entities)
