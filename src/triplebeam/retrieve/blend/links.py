"""Fact links: from the facts of good passages to the passages that those facts are about.

Ours, no paper's. The triples of the best passages are read, and where an end of one leads to another passage, that
passage comes: the page about a director, since the page about the film names him. The nearer a triple is to the query,
and the better the passage it occurs in, the earlier. A passage that names itself brings nothing.

There are two kinds. Title links lead to the passages whose title is an end of the triple; where titles name nothing, as
in manuals and reports, nothing comes. Owner links lead to the passages that have it as their topic (`Topics`), whatever
they are called.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.entity_graph import EntityGraph
from triplebeam.index.folder.tables import PassageTable, TripleGraph
from triplebeam.ranking import Hop
from triplebeam.retrieve.retriever import check_fields, check_not_negative
from triplebeam.triple import Chain


class Linked(NamedTuple):
    """A passage that a fact leads to: its row, what it is worth, and the triple; a bare name has none.

    ``sender`` is the row of the passage that the link starts from, ``entity`` what it leads through.
    """

    row: int
    worth: float
    triple_id: int | None
    sender: int
    entity: int


class _Leading:
    """The rows of passages that entities lead to, in arrays: dictionaries of a large index take long to make."""

    def __init__(self, pairs: NDArray[np.int64], entities: int) -> None:
        self._starts = np.append(0, np.cumsum(np.bincount(pairs[:, 0], minlength=entities)))
        self._rows = pairs[np.argsort(pairs[:, 0], kind="stable"), 1]

    def has(self, entities: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each of these leads anywhere."""
        return np.asarray(self._starts[entities + 1] > self._starts[entities])

    def rows(self, entity: int) -> list[int]:
        """Where an entity leads."""
        found: list[int] = self._rows[self._starts[entity] : self._starts[entity + 1]].tolist()
        return found


@dataclass(frozen=True, kw_only=True)
class FactLinks:
    """What both kinds share. A kind says where entities lead, and what a fact is worth."""

    triples: TripleGraph = field(repr=False)
    graph: EntityGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    followed: int = 10
    """Passages whose facts are followed."""

    @property
    def led_to(self) -> NDArray[np.int64]:
        """Pairs of an entity and the row of a passage that it leads to."""
        raise NotImplementedError

    def worth(self, shares: NDArray[np.float64], similarity: NDArray[np.float32]) -> NDArray[np.float64]:
        """Of facts: from the score of their passage as a share of the best, and from their similarity."""
        raise NotImplementedError

    def follow(
        self, vector: NDArray[np.float32], rows: NDArray[np.int64], scores: NDArray[np.floating]
    ) -> list[Linked]:
        """Where the facts of passages lead that were found, best first, with these scores; each passage once."""
        rows, scores = rows[: self.followed], scores[: self.followed]
        triple_ids = self.triples.triples_at(rows)
        triple_ids = triple_ids[self._leading.has(self.graph.triple_entities[triple_ids]).any(axis=1)]
        senders = self.graph.triple_passages[triple_ids]
        order = np.argsort(rows)
        shares = _shares(scores)[order[np.searchsorted(rows, senders, sorter=order)]]
        worth = self.worth(shares, np.maximum(self.triples.vectors(triple_ids) @ vector, 0))
        return self._receivers(triple_ids, senders, worth)

    def _receivers(
        self, triple_ids: NDArray[np.int64], senders: NDArray[np.int64], worth: NDArray[np.float64]
    ) -> list[Linked]:
        best = np.argsort(-worth, kind="stable")
        ends = self.graph.triple_entities[triple_ids[best]].tolist()
        facts = zip(triple_ids[best].tolist(), senders[best].tolist(), worth[best].tolist(), ends, strict=True)
        found: dict[int, Linked] = {}
        for triple_id, sender, value, pair in facts:
            for entity in pair:
                for row in self._leading.rows(entity):
                    if row != sender:
                        found.setdefault(row, Linked(row, value, triple_id, sender, entity))
        return list(found.values())

    def chains(self, linked: Linked) -> tuple[Chain, ...]:
        """Return the triple that led to a passage, if it was one."""
        return () if linked.triple_id is None else ((self.triples.triple(linked.triple_id),),)

    def hop(self, linked: Linked) -> Hop:
        """Where the link to a passage starts, and the name that it leads through."""
        (sender,) = self.passages.ids([linked.sender])
        return Hop(sender, self.graph.names[linked.entity])

    @cached_property
    def _leading(self) -> "_Leading":
        return _Leading(self.led_to, len(self.graph))


def _shares(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores as shares of the best; 0 where none is above 0."""
    best = scores.max(initial=0.0)
    return np.maximum(scores, 0).astype(np.float64) / best if best > 0 else np.zeros(len(scores))


@dataclass(frozen=True, kw_only=True)
class TitleLinks(FactLinks):
    """To the passages that are called like an end of the fact."""

    base_weight: float = 0.3
    """How much the passage of a fact counts beside the fact's similarity."""
    most: int | None = None
    """A title that more passages have says nothing about each of them, and leads nowhere; None: it does."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "base_weight")

    @property
    def led_to(self) -> NDArray[np.int64]:
        """Entities that are titles of passages. One may have several names, and titles."""
        titled = self.graph.find_titled(self.passages.rows_by_title)
        return titled[titled[:, 2] <= (self.most or len(self.passages)), :2]

    def worth(self, shares: NDArray[np.float64], similarity: NDArray[np.float32]) -> NDArray[np.float64]:
        """Add them up: a title is telling even where the fact is not near to the query."""
        return self.base_weight * shares + similarity

    def follow(
        self, vector: NDArray[np.float32], rows: NDArray[np.int64], scores: NDArray[np.floating]
    ) -> list[Linked]:
        """Where facts lead, then the titles that are only named, by the passages that name them."""
        found = {linked.row: linked for linked in super().follow(vector, rows, scores)}
        rows, shares = rows[: self.followed], _shares(scores[: self.followed])
        for sender, share in zip(rows.tolist(), shares.tolist(), strict=True):
            for entity in self.graph.list_named_entities(sender):
                for row in self._leading.rows(entity):
                    if row != sender:
                        found.setdefault(row, Linked(row, self.base_weight * share, None, sender, entity))
        return list(found.values())


@dataclass(frozen=True, kw_only=True)
class OwnerLinks(FactLinks):
    """To the passages that have an end of the fact as their topic."""

    most: int = 2
    """A topic that more passages have leads nowhere."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def led_to(self) -> NDArray[np.int64]:
        """The topics of passages."""
        return self.graph.topics.list_owned(self.most)

    def worth(self, shares: NDArray[np.float64], similarity: NDArray[np.float32]) -> NDArray[np.float64]:
        """Multiply them: topics are read off triples, so both the passage and the fact must be good."""
        return shares * similarity
