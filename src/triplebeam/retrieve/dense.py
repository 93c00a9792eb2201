"""Dense retrieval: passages whose vector is nearest to the query's."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.opened import Index
from triplebeam.ranking import Ranking
from triplebeam.retrieve.rows import PassageOf, rank_passages

#: Given a vector and k, the nearest rows and their cosines.
Nearest: TypeAlias = Callable[[NDArray[np.float32], int], tuple[NDArray[np.int64], NDArray[np.float32]]]


@dataclass(frozen=True, kw_only=True)
class Dense:
    """Cosine similarity over passages or over triples."""

    embedder: Embedder = field(repr=False)
    nearest: Nearest = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    over: str = "passages"
    passage_vectors: NDArray[np.float32] | None = field(default=None, repr=False)
    """Where passages are searched, their vectors."""

    @classmethod
    def over_passages(cls, index: Index, embedder: Embedder) -> "Dense":
        """Search the passages."""
        vectors = index.passage_vectors
        return cls(
            embedder=embedder, nearest=vectors.nearest, passage_of=index.passages.ids, passage_vectors=vectors.rows
        )

    @classmethod
    def over_triples(cls, index: Index, embedder: Embedder) -> "Dense":
        """Search the triples, and give the passages of the best."""
        return cls(embedder=embedder, nearest=index.triples.search, passage_of=index.triples.passage_of, over="triples")

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest cosine."""
        (vector,) = self.embedder.embed([query], kind="query")
        return rank_passages(lambda wanted: self.nearest(vector, wanted), self.passage_of, k)

    def scores(self, query: str) -> NDArray[np.float32]:
        """The cosine of every passage, exactly."""
        if self.passage_vectors is None:
            raise BadInputError(f"dense over {self.over} has no score for every passage: use dense over passages here.")
        (vector,) = self.embedder.embed([query], kind="query")
        return np.asarray(self.passage_vectors @ vector)
