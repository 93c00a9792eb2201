"""Blend: the papers' graphs fused, the most that search finds without a language model.

Ours, no paper's: weighted reciprocal rank fusion of retrievers that stand on their own, then of what the facts of the
passages found so far name. Each finds what the others miss: messages over the graph of passages, a walk from the
nearest triples, a walk from the names in the question, and pages whose title a fact names. `assemble` says which
retrievers and weights are meant by ``blend``; docs/methods/blend.md what each of them is worth.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triplebeam.bounds import check_fields, check_not_negative
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever, passages_of, retrieve_many
from triplebeam.title_link import TitleLinks


class Part(NamedTuple):
    """A retriever and how much its ranks count."""

    retriever: Retriever
    weight: float = 1.0


class Links(NamedTuple):
    """The titles named by what the parts found, and how much their ranks count."""

    titles: TitleLinks
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Blend:
    """A fusion of several retrievers' lists. Chains of all of them stay with a hit, and which of them list it."""

    parts: Mapping[str, Part]
    links: Links | None = None
    depth: int = 30
    constant: float = 5.0
    """Smaller than Cormack's 60: the head of each list counts for more."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "constant")

    @property
    def passages(self) -> Passages:
        """The texts of the passages."""
        return passages_of(next(iter(self.parts.values())).retriever)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k of all lists. Asking for fewer than ``depth`` gives the head of the same ranking."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The best k for each query."""
        depth = max(k, self.depth)
        lists = {name: retrieve_many(part.retriever, queries, depth) for name, part in self.parts.items()}
        weights = [part.weight for part in self.parts.values()]
        if self.links:
            found = [self._fused(each, weights) for each in _by_query(lists)]
            named = self.links.titles.follow(queries, found)
            lists["titles"] = [ranking.top(depth) for ranking in named]
            weights.append(self.links.weight)
        return [_told(self._fused(each, weights).top(k), lists, each) for each in _by_query(lists)]

    def _fused(self, lists: Sequence[Ranking], weights: Sequence[float]) -> Ranking:
        return reciprocal_rank_fusion(lists, self.constant, weights)


def _told(ranking: Ranking, names: Iterable[str], lists: Sequence[Ranking]) -> Ranking:
    """Each hit with its rank in the lists that hold it."""
    ranks = {
        name: {id_: rank for rank, id_ in enumerate(found.ids, 1)} for name, found in zip(names, lists, strict=True)
    }
    return ranking.replaced(
        hit._replace(found_by=tuple((name, at[hit.passage_id]) for name, at in ranks.items() if hit.passage_id in at))
        for hit in ranking
    )


def _by_query(lists: Mapping[str, Sequence[Ranking]]) -> list[tuple[Ranking, ...]]:
    return list(zip(*lists.values(), strict=True))
