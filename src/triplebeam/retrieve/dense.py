"""Dense retrieval: passages whose vector is nearest to that of the query."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.vectors import VectorIndex
from triplebeam.ranking import Ranking
from triplebeam.retrieve.scores import PassageOf, rank_passages


@dataclass(frozen=True, kw_only=True)
class Dense:
    """Cosine similarity over passages or over triples."""

    embedder: Embedder = field(repr=False)
    vectors: VectorIndex = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    over: str = "passages"

    @classmethod
    def over_passages(cls, index: Snapshot, embedder: Embedder) -> "Dense":
        """Search the passages."""
        return cls(embedder=embedder, vectors=index.passage_vectors, passage_of=index.passages.ids)

    @classmethod
    def over_triples(cls, index: Snapshot, embedder: Embedder) -> "Dense":
        """Search the triples, and return the passages of the best."""
        triples = index.triples
        return cls(embedder=embedder, vectors=triples.vector_index, passage_of=triples.passage_of, over="triples")

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest cosine."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The k passages of highest cosine for each query, encoded and searched together."""
        vectors = self.embedder.embed(queries, kind="query")
        return [
            rank_passages(partial(self.vectors.nearest, vector), self.passage_of, k, found)
            for vector, found in zip(vectors, self.vectors.nearest_many(vectors, k + 1), strict=True)
        ]

    def scores(self, query: str) -> NDArray[np.float32]:
        """The cosine of every passage, exactly."""
        cosines: NDArray[np.float32] = self.scores_many([query])[0]
        return cosines

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of cosines per query."""
        if self.over != "passages":
            raise BadInputError(f"dense over {self.over} has no score for every passage: use dense over passages here.")
        return np.asarray(self.embedder.embed(queries, kind="query") @ self.vectors.rows.T)
