"""Title links alone: the passages that the facts of another retriever's passages name. Ours, no paper's."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.blend.links import TitleLinks
from triplebeam.retrieve.retriever import Retriever, retrieve_many


@dataclass(frozen=True, kw_only=True)
class TitleLink:
    """What the facts of another retriever's passages name, and nothing else."""

    base: Retriever
    links: TitleLinks
    embedder: Embedder = field(repr=False)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the k passages whose titles the best passages' triples name."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the k passages for each query."""
        found = retrieve_many(self.base, queries, self.links.followed)
        vectors = self.embedder.embed(queries, kind="query")
        return [self._rank_named(*pair).top(k) for pair in zip(vectors, found, strict=True)]

    def _rank_named(self, vector: NDArray[np.float32], found: Ranking) -> Ranking:
        passages = self.links.passages
        rows = np.array([passages.row(passage_id) for passage_id in found.ids], np.int64)
        linked = self.links.follow(vector, rows, np.array([hit.score for hit in found]))
        ids = passages.ids([each.row for each in linked])
        return Ranking.of(
            Hit(id_, each.worth, self.links.chains(each), hops=(self.links.hop(each),))
            for id_, each in zip(ids, linked, strict=True)
        )
