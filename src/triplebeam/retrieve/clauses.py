"""Clauses: a passage that answers one part of a question well comes forward, whatever the other parts are about.

Ours, no paper's. "Which company did The Verge write about in October, and which one did TechCrunch report was sued?" is
two searches in one; the mean over both finds what is a little about either. So each clause is searched for by itself,
and the best it gives a passage is added. The fourth power leaves the head of each clause's list and little else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triplebeam.retrieve.bounds import check_not_negative
from triplebeam.retrieve.retriever import ScoringRetriever, scores_many
from triplebeam.retrieve.scores import CachedScores, RankedByScores, min_max
from triplebeam.text.stop_words import ARTICLES, FUNCTION_WORDS
from triplebeam.text.words import compile_word

if TYPE_CHECKING:
    from triplebeam.retrieve.bm25 import BM25
    from triplebeam.retrieve.dense import Dense

_BORDER = re.compile(
    r"\s*(?:[,;:?]|\b(?:while|whereas|but|and|or|compared to|in contrast to|than|before|after|as well as)\b)\s*",
    re.IGNORECASE,
)
_LEAST_WORDS = 4
_LEAST_TELLING_WORDS = 2
_WORD = compile_word(without="", joined_by="'’-")
_SHARPNESS = 4
#: Matches of a clause's words that count; the head is all that is wanted.
_MATCHES = 100


def clauses(question: str) -> list[str]:
    """The parts of a question that can be searched for alone; none where there are fewer than two of them."""
    parts = (part.strip(" .\"'") for part in _BORDER.split(question))
    found = [part for part in parts if len(part.split()) >= _LEAST_WORDS and _says_what(part)]
    return found if len(found) > 1 else []


def _says_what(part: str) -> bool:
    """A name, a number, a noun or two words that mean something: "which one deletes them" asks about what is before."""
    words = _WORD.findall(part)
    telling = [word for word in words if word.casefold() not in FUNCTION_WORDS]
    noun = any(article.casefold() in ARTICLES and word in telling for article, word in pairwise(words))
    return noun or len(telling) >= _LEAST_TELLING_WORDS or any(not word.islower() for word in telling)


@dataclass(frozen=True, kw_only=True)
class Clauses(RankedByScores):
    """A base's scores, from 0 to 1, and up to ``bonus`` above them."""

    base: ScoringRetriever
    sparse: "BM25"
    dense: "Dense"
    near: CachedScores | None = None
    """Where given, the base's own vectors: questions and clauses are compared with all passages in one pass."""
    bonus: float = 0.2

    def __post_init__(self) -> None:
        check_not_negative(self, "bonus")

    def passage_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """The passages at these rows."""
        return self.sparse.passage_of(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """A row of scores per query."""
        parts = [clauses(query) for query in queries]
        every = [part for each in parts for part in each]
        if not every:
            return scores_many(self.base, queries)
        # The questions with them: encoded in one batch, they are in the embedder's cache when the base asks.
        self.dense.embedder.embed([*queries, *every], kind="query")
        if self.near is not None:
            self.near.scores_many([*queries, *every])
        of_parts = iter(self._clause_scores(every))
        scores = scores_many(self.base, queries).copy()  # the base may keep its own
        for row, each in zip(scores, parts, strict=True):
            if each:
                row += np.float32(self.bonus) * np.maximum.reduce([next(of_parts) for _ in each]) ** _SHARPNESS
        return scores

    def _clause_scores(self, parts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The scaled mean of both searches for each clause."""
        near = scores_many(self.near or self.dense, parts)
        return [
            (min_max(self.sparse.scores(part, _MATCHES)) + min_max(cosines)) / np.float32(2)
            for part, cosines in zip(parts, near, strict=True)
        ]
