"""Hybrid retrieval: terms and vectors, fused by reciprocal rank."""

from collections.abc import Sequence
from dataclasses import dataclass

from triplebeam.bounds import check_fields, check_not_negative
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import CONSTANT, reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever, retrieve_many


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
        """The best k of both lists. Asking for fewer than ``depth`` gives the head of the same ranking."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The best k of both lists for each query."""
        depth = max(k, self.depth)
        both = (retrieve_many(retriever, queries, depth) for retriever in (self.sparse, self.dense))
        return [reciprocal_rank_fusion(lists, self.constant).top(k) for lists in zip(*both, strict=True)]
