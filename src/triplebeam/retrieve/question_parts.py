"""What a question says beyond its words: the names it holds word for word, its clauses, and the titles it names.

Ours, no paper's. Each of the two retrievers here puts a bonus on another's scores.

- `Clauses`: a passage that answers one part of a question well comes forward, whatever the other parts are about.
  "Which company did The Verge write about in October, and which one did TechCrunch report was sued?" is two searches in
  one; the mean over both finds what is a little about either. So each clause is searched for by itself, and the best it
  gives a passage is added. The fourth power leaves the head of each clause's list and little else.
- `TitleBonus`: passages whose title the query names come first. "When did the director of Laughter in Hell die?" names
  the page "Laughter in Hell (film)"; neither terms nor vectors know that these words are its name. Where the query
  names no title, the scores are the base's. A title that many passages share, as all those of a PDF do, says which
  document is meant and not which passage: the bonus goes to those of them that the base scores highest, and is the
  smaller the more there are. A manual's page called "Events" is not meant by every question about events.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise, takewhile
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import SortedNames
from triplebeam.index.folder.tables import PassageTable
from triplebeam.retrieve.retriever import ScoringRetriever, check_fields, check_not_negative, scores_many
from triplebeam.retrieve.scores import CachedScores, RankedByScores, min_max
from triplebeam.text.names import entity_key
from triplebeam.text.stop_words import ARTICLES, FUNCTION_WORDS
from triplebeam.text.terms import query_words, text_words
from triplebeam.text.words import compile_word

if TYPE_CHECKING:
    from triplebeam.retrieve.bases import BM25, Dense


@dataclass(frozen=True)
class VerbatimNames:
    """Finds known names, the keys of a mapping in their normal form, in a text: the longest first.

    A word belongs to one name only, so that "New York City" is not "New York" as well. Names made of function words
    alone, such as "who", do not count.
    """

    known: Mapping[str, object] = field(repr=False)

    def within(self, text: str) -> list[str]:
        """Return the normal forms of the names, each once; of names of one length, in the order of the text."""
        words, telling = entity_key(text).split(), frozenset(query_words(text))
        free, found = [True] * len(words), []
        for length, start in self._places(words):
            name = " ".join(words[start : start + length])
            if all(free[start : start + length]) and name in self.known and telling.intersection(text_words(name)):
                free[start : start + length] = [False] * length
                found.append(name)
        return list(dict.fromkeys(found))

    def _places(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Where names may be, by the word they begin with: length and start, the longest first."""
        places = [(length, start) for start in range(len(words)) for length in self._lengths_from(words[start:])]
        return sorted(places, key=lambda place: (-place[0], place[1]))

    def _lengths_from(self, words: Sequence[str]) -> list[int]:
        """How many words the names may have that these words begin with."""
        if not isinstance(self.known, SortedNames):
            return [length for length in self._lengths.get(words[0], ()) if length <= len(words)]
        beginnings = accumulate(words, "{} {}".format)
        going_on = sum(1 for _ in takewhile(self.known.has_beginning, beginnings))
        return list(range(1, going_on + 1))

    @cached_property
    def _lengths(self) -> dict[str, set[int]]:
        """How many words the names have that begin with a word."""
        lengths: dict[str, set[int]] = {}
        for name in self.known:
            first, *others = name.split(" ")
            lengths.setdefault(first, set()).add(1 + len(others))
        return lengths


_BORDER = re.compile(
    r"\s*(?:[,;:?]|\b(?:while|whereas|but|and|or|compared to|in contrast to|than|before|after|as well as)\b)\s*",
    re.IGNORECASE,
)
_MIN_WORDS = 4
_MIN_TELLING_WORDS = 2
_WORD = compile_word(without="", joined_by="'’-")
_SHARPNESS = 4
#: Matches of a clause's words that count; the head is all that is wanted.
_MATCHES = 100


def clauses(question: str) -> list[str]:
    """Return the parts of a question that can be searched for alone; none where there are fewer than two of them."""
    parts = (part.strip(" .\"'") for part in _BORDER.split(question))
    found = [part for part in parts if len(part.split()) >= _MIN_WORDS and _says_what(part)]
    return found if len(found) > 1 else []


def _says_what(part: str) -> bool:
    """Look for a name, a number, a noun or two telling words: "which one deletes them" asks about what is before."""
    words = _WORD.findall(part)
    telling = [word for word in words if word.casefold() not in FUNCTION_WORDS]
    noun = any(article.casefold() in ARTICLES and word in telling for article, word in pairwise(words))
    return noun or len(telling) >= _MIN_TELLING_WORDS or any(not word.islower() for word in telling)


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
        """Return the passages at these rows."""
        return self.sparse.passage_of(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of scores per query."""
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
        """Return the scaled mean of both searches for each clause."""
        near = scores_many(self.near or self.dense, parts)
        return [
            (min_max(self.sparse.scores(part, _MATCHES)) + min_max(cosines)) / np.float32(2)
            for part, cosines in zip(parts, near, strict=True)
        ]


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
        """Return the passages at these rows."""
        return self.passages.ids(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of scores per query."""
        scores = scores_many(self.base, queries).copy()  # the base may keep its own
        for row, query in zip(scores, queries, strict=True):
            if called := self._find_titled_rows(query, row):
                row[list(called)] += np.array(list(called.values()), np.float32)
                row[:] = min_max(row)
        return scores

    def _find_titled_rows(self, query: str, scores: NDArray[np.float32]) -> dict[int, float]:
        """Return the bonus of each passage whose title is in the query; of one title the best by score have it."""
        found: dict[int, float] = {}
        for rows in (self.passages.rows_by_title[name] for name in self._titles.within(query)):
            bonus = self.bonus * min(1.0, (self.most or len(rows)) / len(rows))
            best: Sequence[int] = rows
            if self.most is not None and len(rows) > self.most:
                best = np.asarray(rows)[np.argsort(-scores[rows], kind="stable")[: self.most]].tolist()
            found |= {row: max(bonus, found.get(row, 0.0)) for row in best}
        return found

    @cached_property
    def _titles(self) -> VerbatimNames:
        return VerbatimNames(self.passages.rows_by_title)
