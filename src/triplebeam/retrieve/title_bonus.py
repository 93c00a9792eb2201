"""Passages that the query calls by their title come first: a bonus on another retriever's scores.

Ours, no paper's. "When did the director of Laughter in Hell die?" names the page "Laughter in Hell (film)"; neither
terms nor vectors know that these words are its name. Where titles name nothing, the scores are the base's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.bounds import check_not_negative
from triplebeam.index.passages import PassageTable
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever, scores_many
from triplebeam.retrieve.scores import min_max, rank_scores
from triplebeam.retrieve.verbatim import VerbatimNames


@dataclass(frozen=True, kw_only=True)
class TitleBonus:
    """A base whose scores go from 0 to 1; so do these."""

    base: ScoringRetriever
    passages: PassageTable = field(repr=False)
    bonus: float = 0.2

    def __post_init__(self) -> None:
        check_not_negative(self, "bonus")

    def scores(self, query: str) -> NDArray[np.float32]:
        """One score a passage."""
        scores: NDArray[np.float32] = self.scores_many([query])[0]
        return scores

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores for each query."""
        scores = scores_many(self.base, queries).copy()  # the base may keep its own
        for row, query in zip(scores, queries, strict=True):
            if called := self._called(query):
                row[called] += np.float32(self.bonus)
                row[:] = min_max(row)
        return scores

    def _called(self, query: str) -> list[int]:
        """Rows of the passages whose title stands in the query."""
        return sorted({row for name in self._titles.within(query) for row in self.passages.rows_by_title[name]})

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest score."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The k passages of highest score for each query."""
        return [rank_scores(scores, self.passages.ids, k) for scores in self.scores_many(queries)]

    @cached_property
    def _titles(self) -> VerbatimNames:
        return VerbatimNames(self.passages.rows_by_title)
