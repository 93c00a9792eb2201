"""Dense retrieval: passages whose vector is nearest to the query's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.index.protocols import Source
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.scores import Found, PassageOf, rank_passages

#: Called with a vector and k: the nearest rows and their cosines.
Nearest: TypeAlias = Callable[[NDArray[np.float32], int], Found]
#: The same for each row of several vectors.
NearestMany: TypeAlias = Callable[[NDArray[np.float32], int], Sequence[Found]]


@dataclass(frozen=True, kw_only=True)
class Dense:
    """Cosine similarity over passages or over triples."""

    embedder: Embedder = field(repr=False)
    nearest: Nearest = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    over: str = "passages"
    passages: Passages | None = field(default=None, repr=False)
    """The texts of the passages, where an index is searched."""
    passage_vectors: VectorIndex | None = field(default=None, repr=False)
    """Where passages are searched, their vectors, if they are here and not on a cluster."""
    nearest_many: NearestMany | None = field(default=None, repr=False)
    """Where it is set, many queries are searched together."""

    @classmethod
    def over_passages(cls, index: Source, embedder: Embedder) -> "Dense":
        """Search the passages."""
        vectors = index.passage_vectors
        return cls(
            embedder=embedder,
            nearest=vectors.nearest,
            passage_of=index.passages.ids,
            passages=index.passages,
            passage_vectors=vectors if isinstance(vectors, VectorIndex) else None,
            nearest_many=vectors.nearest_many,
        )

    @classmethod
    def over_triples(cls, index: Source, embedder: Embedder) -> "Dense":
        """Search the triples, and return the passages of the best."""
        return cls(
            embedder=embedder,
            nearest=index.triples.search,
            passage_of=index.triples.passage_of,
            over="triples",
            passages=index.passages,
        )

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest cosine."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The k passages of highest cosine for each query, encoded together and, where possible, searched together."""
        vectors = self.embedder.embed(queries, kind="query")
        first = self.nearest_many(vectors, k + 1) if self.nearest_many else [None] * len(vectors)
        return [
            rank_passages(partial(self.nearest, vector), self.passage_of, k, found)
            for vector, found in zip(vectors, first, strict=True)
        ]

    def scores(self, query: str) -> NDArray[np.float32]:
        """The cosine of every passage, as `VectorIndex.cosines` has it."""
        cosines: NDArray[np.float32] = self.scores_many([query])[0]
        return cosines

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of cosines per query."""
        if self.passage_vectors is None:
            raise BadInputError(f"dense over {self.over} has no score for every passage: use dense over passages here.")
        return self.passage_vectors.cosines(self.embedder.embed(queries, kind="query"))
