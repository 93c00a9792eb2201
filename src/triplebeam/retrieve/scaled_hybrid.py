"""Hybrid retrieval by scores: terms and vectors, each scaled to 0..1 for the query, and their mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever, scores_many
from triplebeam.retrieve.rows import PassageOf
from triplebeam.retrieve.scores import min_max, rank_scores


@dataclass(frozen=True, kw_only=True)
class ScaledHybrid:
    """The mean of both retrievers' min-max-scaled scores. Unlike a fusion of ranks it has a score for every passage."""

    sparse: ScoringRetriever
    dense: ScoringRetriever
    passage_of: PassageOf = field(repr=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """One score a passage, from 0 to 1."""
        scores: NDArray[np.float32] = self.scores_many([query])[0]
        return scores

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest score."""
        return self.retrieve_many([query], k)[0]

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores for each query."""
        both = zip(scores_many(self.sparse, queries), scores_many(self.dense, queries), strict=True)
        return np.array([(min_max(sparse) + min_max(dense)) / np.float32(2) for sparse, dense in both], np.float32)

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The k passages of highest score for each query."""
        return [rank_scores(scores, self.passage_of, k) for scores in self.scores_many(queries)]
