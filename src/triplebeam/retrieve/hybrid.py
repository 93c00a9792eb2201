"""Hybrid retrieval: terms and vectors, fused by reciprocal rank."""

from dataclasses import dataclass

from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import CONSTANT, reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever


@dataclass(frozen=True)
class Hybrid:
    """The fusion of two lists of ``depth`` passages each (GeAR's hybrid base: BM25 and SBERT)."""

    sparse: Retriever
    dense: Retriever
    depth: int = 15
    constant: float = CONSTANT

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k of both lists. Asking for fewer than ``depth`` gives the head of the same ranking."""
        depth = max(k, self.depth)
        lists = [self.sparse.retrieve(query, depth), self.dense.retrieve(query, depth)]
        return reciprocal_rank_fusion(lists, self.constant).top(k)
