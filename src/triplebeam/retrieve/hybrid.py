"""Hybrid retrieval: terms and vectors, fused by reciprocal rank or by scaled scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.ranking import Ranking
from triplebeam.retrieve.bounds import check_fields, check_not_negative
from triplebeam.retrieve.fuse import CONSTANT, reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever, retrieve_many, scores_many
from triplebeam.retrieve.scores import PassageOf, RankedByScores, min_max


@dataclass(frozen=True)
class Hybrid:
    """The fusion of two lists of ``depth`` passages each (GeAR's hybrid base: BM25 and SBERT)."""

    sparse: Retriever
    dense: Retriever
    depth: int = 15
    constant: float = CONSTANT

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "constant")

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k of both lists. Asking for fewer than ``depth`` returns the head of the same ranking."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The best k of both lists for each query."""
        depth = max(k, self.depth)
        both = (retrieve_many(retriever, queries, depth) for retriever in (self.sparse, self.dense))
        return [reciprocal_rank_fusion(lists, self.constant).top(k) for lists in zip(*both, strict=True)]


@dataclass(frozen=True, kw_only=True)
class ScaledHybrid(RankedByScores):
    """The mean of both retrievers' min-max-scaled scores. Unlike a fusion of ranks it has a score for every passage."""

    sparse: ScoringRetriever
    dense: ScoringRetriever
    passage_of: PassageOf = field(repr=False)

    def passage_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """The passages at these rows."""
        return self.passage_of(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores per query, from 0 to 1."""
        both = zip(scores_many(self.sparse, queries), scores_many(self.dense, queries), strict=True)
        return np.array([(min_max(sparse) + min_max(dense)) / np.float32(2) for sparse, dense in both], np.float32)
