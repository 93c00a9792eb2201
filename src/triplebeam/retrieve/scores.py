"""From scores to a ranking of passages: of the best rows an engine finds, or of a score for every passage.

A walk finds first and explains later: the triples that led to a passage are looked up for those shown (`add_chains`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.tables import PassageTable
from triplebeam.index.folder.vectors import select_top
from triplebeam.index.source import Found
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import OneOfMany, OneScoreOfMany, ScoringRetriever, retrieve_many, scores_many
from triplebeam.triple import Chain

#: Called with k: the best k rows of an engine.
Search: TypeAlias = Callable[[int], Found]
#: From rows to the passages they belong to: the row of a passage is its own, that of a triple is its passage's.
PassageOf: TypeAlias = Callable[[NDArray[np.int64]], list[str]]


def rank_passages(search: Search, passage_of: PassageOf, k: int, found: Found | None = None) -> Ranking:
    """Return the k best passages by their best row.

    Several triples may lead to one passage, and rows of equal score come in the engine's order, not in a ranking's.
    So more rows are fetched until there are k passages and every row as good as the last of them has been seen.
    ``found``, where a batch has it already, is what the search returns for k + 1.
    """
    if k < 1:
        return Ranking()
    wanted = k + 1
    while True:
        rows, scores = found or search(wanted)
        best: dict[str, float] = {}
        for passage_id, score in zip(passage_of(rows), scores.tolist(), strict=True):
            best.setdefault(passage_id, score)
        ranking = Ranking.of(Hit(passage_id, score) for passage_id, score in best.items())
        if len(rows) < wanted or (len(ranking) >= k and scores[-1] < ranking[k - 1].score):
            return ranking.top(k)
        wanted, found = 2 * wanted, None


def rank_scores(scores: NDArray[np.float32], passage_of: PassageOf, k: int) -> Ranking:
    """Return the k passages of highest score."""

    def search(wanted: int) -> Found:
        best = select_top(scores, wanted)
        return best, scores[best]

    return rank_passages(search, passage_of, k)


def rank_positive(scores: NDArray[np.float32], passage_of: PassageOf, k: int) -> Ranking:
    """Return the k passages of highest score, without those of score 0: a walk never reached them."""
    return rank_scores(scores, passage_of, min(k, int(np.count_nonzero(scores > 0))))


def min_max(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores from 0 (the lowest) to 1 (the highest); all 0 where all are equal."""
    lowest = scores.min(initial=np.inf)
    width = scores.max(initial=-np.inf) - lowest
    return (scores - lowest) / width if width > 0 else np.zeros_like(scores)


class RankedByScores(OneOfMany, OneScoreOfMany, Protocol):
    """A retriever that follows from its scores: a subclass has ``scores_many`` and ``passage_ids``."""

    def passage_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the passages at these rows."""
        ...

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the k passages of highest score for each query."""
        return [rank_scores(scores, self.passage_ids, k) for scores in self.scores_many(queries)]


@dataclass(frozen=True)
class CachedScores(OneOfMany, OneScoreOfMany):
    """A scoring retriever that caches the scores of its last batch of queries: parts of a blend share their base."""

    base: ScoringRetriever
    in_parts: bool = False
    """Whether some queries of the batch are found in it, too: how many are multiplied together changes the last bits of
    a product.
    """
    _last: "list[tuple[tuple[str, ...], NDArray[np.float32]]]" = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of scores per query; read-only."""
        # A copy, and one assignment below: another thread may put its own batch there at any time.
        for asked, scores in self._last[:]:
            if asked == tuple(queries):
                return scores
            if self.in_parts and set(queries).issubset(asked):
                return scores[[asked.index(query) for query in queries]]
        scores = scores_many(self.base, queries)
        scores.flags.writeable = False
        self._last[:] = [(tuple(queries), scores)]
        return scores

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the base's own rankings."""
        return retrieve_many(self.base, queries, k)


#: Called with rows of passages: the chains that led to each of them, if any.
Reasons: TypeAlias = Callable[[Sequence[int]], Mapping[int, tuple[Chain, ...]]]


class WalkScores(NamedTuple):
    """What a walk found for a query: a score for every passage, and why."""

    scores: NDArray[np.float32]
    reasons: Reasons


def no_reasons(rows: Sequence[int]) -> Mapping[int, tuple[Chain, ...]]:
    """For a search that follows no triples."""
    return {}


def add_chains(ranking: Ranking, passages: PassageTable, reasons: Reasons) -> Ranking:
    """Give each hit its chains."""
    rows = [passages.row(passage_id) for passage_id in ranking.ids]
    chains = reasons(rows)
    return ranking.replace_hits(
        hit._replace(chains=chains.get(row, ())) for hit, row in zip(ranking, rows, strict=True)
    )
