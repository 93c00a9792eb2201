"""A cache of scores: parts of a blend share their base, which scores a query once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever, retrieve_many, scores_many


@dataclass(frozen=True)
class CachedScores:
    """A scoring retriever that caches the scores of its last batch of queries."""

    base: ScoringRetriever
    _last: "list[tuple[tuple[str, ...], NDArray[np.float32]]]" = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def scores(self, query: str) -> NDArray[np.float32]:
        """One score per passage; read-only."""
        scores: NDArray[np.float32] = self.scores_many([query])[0]
        return scores

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores per query; read-only."""
        # A copy, and one assignment below: another thread may put its own batch there at any time.
        for asked, scores in self._last[:]:
            if asked == tuple(queries):
                return scores
        scores = scores_many(self.base, queries)
        scores.flags.writeable = False
        self._last[:] = [(tuple(queries), scores)]
        return scores

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The base's own ranking."""
        return self.base.retrieve(query, k)

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The base's own rankings."""
        return retrieve_many(self.base, queries, k)
