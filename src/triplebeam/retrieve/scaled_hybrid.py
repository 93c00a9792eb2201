"""Hybrid retrieval by scores: terms and vectors, each scaled to 0..1 for the query, and their mean."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever
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
        return (min_max(self.sparse.scores(query)) + min_max(self.dense.scores(query))) / np.float32(2)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest score."""
        return rank_scores(self.scores(query), self.passage_of, k)
