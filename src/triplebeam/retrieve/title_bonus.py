"""Passages whose title the query names come first: a bonus on another retriever's scores.

Ours, not from a paper. "When did the director of Laughter in Hell die?" names the page "Laughter in Hell (film)";
neither terms nor vectors know that these words are its name. Where the query names no title, the scores are the base's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.bounds import check_not_negative
from triplebeam.index.passages import PassageTable
from triplebeam.retrieve.retriever import ScoringRetriever, scores_many
from triplebeam.retrieve.scores import RankedByScores, min_max
from triplebeam.retrieve.verbatim import VerbatimNames


@dataclass(frozen=True, kw_only=True)
class TitleBonus(RankedByScores):
    """A base whose scores go from 0 to 1; so do these."""

    base: ScoringRetriever
    passages: PassageTable = field(repr=False)
    bonus: float = 0.2

    def __post_init__(self) -> None:
        check_not_negative(self, "bonus")

    def passage_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """The passages at these rows."""
        return self.passages.ids(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores per query."""
        scores = scores_many(self.base, queries).copy()  # the base may keep its own
        for row, query in zip(scores, queries, strict=True):
            if called := self._called(query):
                row[called] += np.float32(self.bonus)
                row[:] = min_max(row)
        return scores

    def _called(self, query: str) -> list[int]:
        """Rows of the passages whose title is in the query."""
        return sorted({row for name in self._titles.within(query) for row in self.passages.rows_by_title[name]})

    @cached_property
    def _titles(self) -> VerbatimNames:
        return VerbatimNames(self.passages.rows_by_title)
