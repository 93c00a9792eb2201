"""Passages whose title the query names come first: a bonus on another retriever's scores.

Ours, not from a paper. "When did the director of Laughter in Hell die?" names the page "Laughter in Hell (film)";
neither terms nor vectors know that these words are its name. Where the query names no title, the scores are the base's.
A title that many passages share, as all those of a PDF do, says which document is meant and not which passage: the
bonus goes to those of them that the base scores highest, and is the smaller the more there are. A manual's page called
"Events" is not meant by every question about events.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.passages import PassageTable
from triplebeam.retrieve.bounds import check_fields, check_not_negative
from triplebeam.retrieve.retriever import ScoringRetriever, scores_many
from triplebeam.retrieve.scores import RankedByScores, min_max
from triplebeam.retrieve.verbatim import VerbatimNames


@dataclass(frozen=True, kw_only=True)
class TitleBonus(RankedByScores):
    """A base whose scores go from 0 to 1; so do these."""

    base: ScoringRetriever
    passages: PassageTable = field(repr=False)
    bonus: float = 0.2
    most: int | None = None
    """How many passages of one title have the bonus; None: all of them. Where twice as many share the title, the bonus
    is half.
    """

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "bonus")

    def passage_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """The passages at these rows."""
        return self.passages.ids(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores per query."""
        scores = scores_many(self.base, queries).copy()  # the base may keep its own
        for row, query in zip(scores, queries, strict=True):
            if called := self._find_titled_rows(query, row):
                row[list(called)] += np.array(list(called.values()), np.float32)
                row[:] = min_max(row)
        return scores

    def _find_titled_rows(self, query: str, scores: NDArray[np.float32]) -> dict[int, float]:
        """The bonus of each passage whose title is in the query; of one title the best by their scores have it."""
        found: dict[int, float] = {}
        for rows in (self.passages.rows_by_title[name] for name in self._titles.within(query)):
            bonus = self.bonus * min(1.0, (self.most or len(rows)) / len(rows))
            found |= {row: max(bonus, found.get(row, 0.0)) for row in self._best(rows, scores)}
        return found

    def _best(self, rows: Sequence[int], scores: NDArray[np.float32]) -> Sequence[int]:
        if self.most is None or len(rows) <= self.most:
            return rows
        best: list[int] = np.asarray(rows)[np.argsort(-scores[rows], kind="stable")[: self.most]].tolist()
        return best

    @cached_property
    def _titles(self) -> VerbatimNames:
        return VerbatimNames(self.passages.rows_by_title)
