"""Blend: the papers' graphs fused, the most that search finds without a language model.

Ours, no paper's: weighted reciprocal rank fusion of retrievers that stand on their own. Each finds what the others
miss: messages over the graph of passages, a walk from the nearest triples, a walk from the names in the question, and
pages whose title a fact names. `assemble` says which retrievers and weights are meant by ``blend``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever


class Part(NamedTuple):
    """A retriever and how much its ranks count."""

    retriever: Retriever
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Blend:
    """A fusion of several retrievers' lists. Chains of all of them stay with a hit."""

    parts: Mapping[str, Part]
    depth: int = 30
    constant: float = 10.0
    """Smaller than Cormack's 60: the head of each list counts for more."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k of all lists. Asking for fewer than ``depth`` gives the head of the same ranking."""
        lists = [part.retriever.retrieve(query, max(k, self.depth)) for part in self.parts.values()]
        weights = [part.weight for part in self.parts.values()]
        return reciprocal_rank_fusion(lists, self.constant, weights).top(k)
