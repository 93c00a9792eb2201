"""The mean of scaled BM25 and scaled cosines, as if every passage were scored: the best of two ranked lists.

This is the threshold algorithm (Fagin, Lotem & Naor, 2001). The first request lists passages by words and by vectors. A
passage that the second list lacks is no nearer than the last of it, which bounds its score. The second request fetches
the passages whose upper bound reaches the k-th best lower bound; they are scored by their stored vectors.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.opensearch.documents import MAX_RESULTS
from triplebeam.index.opensearch.fetched import ClusterPassages
from triplebeam.index.opensearch.generation import Search
from triplebeam.index.opensearch.search import (
    NUMBERS_ALONE,
    ClusterTerms,
    ClusterVectors,
    compute_cosines,
    make_empty,
    parse_scores,
)
from triplebeam.index.source import Found, Query

#: Nearest passages that are listed for each that is wanted: then few more are fetched than are wanted.
_LISTED_PER_RESULT = 8
#: Of the sum of two scaled scores: the cluster compares vectors of six digits.
_MAX_ROUNDING = 1e-5


class _Lists(NamedTuple):
    """Passages that are listed, by rising numbers, and their scores from 0 to 1."""

    numbers: NDArray[np.int64]
    words: NDArray[np.float32]
    lower: NDArray[np.float32]
    """Bounds of the sum of both scores."""
    upper: NDArray[np.float32]
    unlisted: np.float32
    """The upper bound for every other passage."""
    nearest: NDArray[np.int64]
    low: np.float32
    """The lowest cosine of all passages."""


@dataclass(frozen=True)
class ClusterHybrid:
    """Searches passages by words and vectors at once."""

    passages: ClusterPassages = field(repr=False)
    terms: ClusterTerms = field(repr=False)
    vectors: ClusterVectors = field(repr=False)

    def search(self, query: Query, k: int, matches: int) -> Found:
        """Find the best k passages; for their words, the best ``matches`` have a score."""
        k, most = min(k, len(self.passages)), min(len(self.passages) + 1, MAX_RESULTS)
        size = k * _LISTED_PER_RESULT
        while k > 0:
            lists = self._list(query, matches, min(size, most))
            limit = np.sort(lists.lower)[-k] - _MAX_ROUNDING if len(lists.lower) >= k else 0
            if lists.unlisted < limit or size >= most:
                return self._rank(query, lists, limit, k)
            size *= 4
        return make_empty()

    def _list(self, query: Query, matches: int, size: int) -> _Lists:
        """List passages by words, and the nearest; the farthest comes along, with its vector."""
        words_body = self.terms.build_body(query.text, matches)
        farthest = {"top_hits": {"size": 1, "sort": [{"_score": "asc"}], "_source": ["code"]}}
        near_body = self.vectors.build_body(query.vector, size, {"exists": {"field": "vector"}})
        by_words, by_vectors = self.passages.published.search_all(
            [
                Search("passages", {**words_body, **NUMBERS_ALONE}, by_words=True),
                Search("passages", {**near_body, **NUMBERS_ALONE, "aggs": {"farthest": farthest}}),
            ]
        )
        (matched, bm25), (nearest, similarities) = parse_scores(by_words), parse_scores(by_vectors)
        ends = [hit["_source"] for hit in by_vectors["aggregations"]["farthest"]["hits"]["hits"]]
        low = compute_cosines("passages", query.vector, ends).min(initial=1)
        numbers = np.union1d(matched, nearest)
        words = np.zeros(len(numbers), np.float32)
        words[np.searchsorted(numbers, matched)] = bm25
        words = _scale(words, bm25[-1] if len(matched) == len(self.passages) else 0, bm25.max(initial=0))
        cosines = np.where(similarities >= 1, similarities - 1, 1 - 1 / similarities)
        # A passage without a vector is not listed, and has a cosine of 0.
        limits = [[0], [0]] if len(cosines) < size else [[low], [max(cosines[-1], 0)]]
        bounds = np.repeat(np.array(limits, np.float32), len(numbers) + 1, axis=1)
        bounds[:, np.searchsorted(numbers, nearest)] = cosines
        lower, upper = _scale(bounds, low, cosines.max(initial=low))
        return _Lists(numbers, words, words + lower[:-1], words + upper[:-1], upper[-1], nearest, low)

    def _rank(self, query: Query, lists: _Lists, limit: float, k: int) -> Found:
        """Fetch the passages that may be among the best, and the nearest of all, and rank them by exact scores."""
        wanted = np.union1d(lists.numbers[lists.upper >= limit], lists.nearest[:1])
        sources = self.passages.fetch(wanted.tolist())
        numbers = np.array(list(sources), np.int64)
        cosines = compute_cosines("passages", query.vector, list(sources.values()))
        words = lists.words[np.searchsorted(lists.numbers, numbers)]
        scores = (words + _scale(cosines, lists.low, cosines.max(initial=lists.low))) / np.float32(2)
        best = np.lexsort((numbers, -scores))[:k]
        return numbers[best], scores[best]


def _scale(scores: NDArray[np.float32], low: np.float32 | float, high: np.float32) -> NDArray[np.float32]:
    """Scale scores from 0, for the lowest, to 1, for the highest; all are 0 where the two are equal."""
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
