"""Title link: passages whose title the facts of other passages name.

Ours, no paper's. The triples of the best passages are read, and where an end of one is the title of another passage,
that passage comes: the page about a director, since the page about the film names him. The nearer a triple is to the
query, and the better the passage it stands in, the earlier. A passage that names itself brings nothing. Where titles
name nothing, as in manuals and reports, nothing comes, which is no fault.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.bounds import check_fields, check_not_negative
from triplebeam.embed.embedder import Embedder
from triplebeam.index.entity_graph import EntityGraph
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import Retriever, retrieve_many


@dataclass(frozen=True, kw_only=True)
class TitleLinks:
    """From the facts of passages to the passages they name."""

    triples: TripleGraph = field(repr=False)
    graph: EntityGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    embedder: Embedder = field(repr=False)
    followed: int = 10
    """Passages whose facts are followed."""
    base_weight: float = 0.3
    """How much the passage of a fact counts, its score as a share of the best, beside the fact's similarity."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "base_weight")

    def follow(self, queries: Sequence[str], found: Sequence[Ranking]) -> list[Ranking]:
        """What the passages found for each query name; a hit's chain is the triple that named it."""
        vectors = self.embedder.embed(queries, kind="query")
        return [self._named(vector, ranking.top(self.followed)) for vector, ranking in zip(vectors, found, strict=True)]

    def _named(self, vector: NDArray[np.float32], found: Ranking) -> Ranking:
        triple_ids = self.triples.triples_of(found.ids)
        triple_ids = triple_ids[self._titled[self.graph.triple_entities[triple_ids]].any(axis=1)]
        senders = self.graph.triple_passages[triple_ids]
        worth = self._worth(found, senders) + np.maximum(self.triples.vectors(triple_ids) @ vector, 0)
        hits: dict[int, Hit] = {}
        for place in np.argsort(-worth, kind="stable").tolist():
            triple_id = int(triple_ids[place])
            for row in self._rows_named_by(triple_id):
                if row != senders[place] and row not in hits:
                    (passage_id,) = self.passages.ids([row])
                    hits[row] = Hit(passage_id, float(worth[place]), ((self.triples.triple(triple_id),),))
        return Ranking.of(hits.values())

    def _worth(self, found: Ranking, senders: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the passage of each triple adds."""
        best = max((hit.score for hit in found), default=0.0)
        if best <= 0:
            return np.zeros(len(senders))
        shares = {self.passages.row(hit.passage_id): max(hit.score, 0) / best for hit in found}
        return self.base_weight * np.array([shares[row] for row in senders.tolist()])

    def _rows_named_by(self, triple_id: int) -> list[int]:
        ends = self.graph.triple_entities[triple_id].tolist()
        return [row for entity in ends for row in self._rows_by_entity.get(entity, ())]

    @cached_property
    def _rows_by_entity(self) -> dict[int, list[int]]:
        """The passages whose title is an entity."""
        numbers = self.graph.numbers
        return {numbers[title]: rows for title, rows in self.passages.rows_by_title.items() if title in numbers}

    @cached_property
    def _titled(self) -> NDArray[np.bool_]:
        titled = np.zeros(len(self.graph), np.bool_)
        titled[list(self._rows_by_entity)] = True
        return titled


@dataclass(frozen=True, kw_only=True)
class TitleLink:
    """What the facts of another retriever's passages name, and nothing else."""

    base: Retriever
    links: TitleLinks

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages whose titles the best passages' triples name."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The k passages for each query."""
        found = retrieve_many(self.base, queries, self.links.followed)
        return [ranking.top(k) for ranking in self.links.follow(queries, found)]
