"""Blend: plain search, and graphs where the index has topics to walk between. The default.

Ours, no paper's. Plain search scores every passage by terms, vectors, clauses and titles. Three walks start from it or
beside it: messages over the graph of passages, PageRank from the nearest triples, PageRank from the names in the
question. What these find has facts, and facts lead on: to the passages that are called like the end of one (titles),
and to those that have it as their topic (owners).

How much walks and owners count is the ``share`` g of the index (`triplebeam.index.content.entities`), from 0 (plain
search and titles alone; no walk is made) to 1. With r = 1 / (constant + rank) in a list, 0 outside of it, and S and D
the scores of plain search and of vectors, scaled from 0 to 1 for each question, a passage's score is

    g·(r_messages + r_triples + r_names + 0.5·r_owners + 0.3·D) + (1 - g)·(r_plain + 0.3·S) + r_titles

The first two of plain search are among the first five whatever walks find: each scores at least as much as the third.
Then the fifth and the tenth place may go to a passage that a rare term or a link of the first hits leads to, or to one
of another document (`Tail`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.tables import PassageTable
from triplebeam.index.folder.vectors import select_top
from triplebeam.ranking import Hop, Ranking
from triplebeam.retrieve.blend.links import FactLinks, OwnerLinks, TitleLinks
from triplebeam.retrieve.blend.tail import Scores, Tail
from triplebeam.retrieve.retriever import OneOfMany, ScoringRetriever, check_fields, check_not_negative, scores_many
from triplebeam.retrieve.scores import Reasons, WalkScores, min_max, no_reasons, rank_scores
from triplebeam.triple import Chain

#: How much the lists count in choosing whose facts are followed, and the constant there.
_LEADING: Mapping[str, float] = {"messages": 1.5, "triples": 1.0, "names": 1.0, "titles": 1.0}
_LEADING_CONSTANT = 5.0
#: How much each list of the graph counts in the end, and scores beside ranks.
_GRAPH: Mapping[str, float] = {"messages": 1.0, "triples": 1.0, "names": 1.0, "owners": 0.5}
_SCORES = 0.3
#: How many passages of plain search stay, and the place whose score they get: with two, both are among the first five.
_PLAIN_PLACES, _PLAIN_RANK = 2, 3


class Walk(Protocol):
    """A retriever that finds first and explains later."""

    def find_many(self, queries: Sequence[str]) -> Sequence[WalkScores | None]:
        """Return a score for every passage, for each query that it can start from."""
        ...


class Listed(NamedTuple):
    """The rows that one part lists, best first, and why: chains of triples, or a link that was followed."""

    rows: NDArray[np.int64]
    reasons: Reasons
    hop: Callable[[int], Hop] | None = None


@dataclass(frozen=True, kw_only=True)
class Blend(OneOfMany):
    """A fusion of several lists and scores. A hit shows which lists hold it, and the chains of all of them."""

    plain: ScoringRetriever
    dense: ScoringRetriever
    walks: Mapping[str, Walk]
    titles: TitleLinks | None
    owners: OwnerLinks | None
    tail: Tail | None
    passages: PassageTable = field(repr=False)
    embedder: Embedder = field(repr=False)
    share: float
    depth: int = 30
    """The length of each list."""
    constant: float = 3.0
    """Smaller than Cormack's 60: the head of each list counts for more."""

    def __post_init__(self) -> None:
        check_fields(self, "share")
        check_not_negative(self, "constant")

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the best k for each. Asking for fewer than ``depth`` returns the head of the same ranking."""
        depth = max(k, self.depth)
        plain = [min_max(scores) for scores in scores_many(self.plain, queries)]
        lists = self._list_walks(queries, depth) if self.share > 0 else [{} for _ in queries]
        for vector, scores, listed in zip(self.embedder.embed(queries, kind="query"), plain, lists, strict=True):
            self._follow_facts(vector, scores, listed, depth)
            listed["plain"] = Listed(select_top(scores, depth), no_reasons)
        near = [min_max(scores) for scores in scores_many(self.dense, queries)]
        rows = zip(queries, near, plain, lists, strict=True)
        return [
            self._rank(query, Scores(self._mix_scores(one, two), one, two), listed, k)
            for query, one, two, listed in rows
        ]

    def _list_walks(self, queries: Sequence[str], depth: int) -> list[dict[str, Listed]]:
        """Return the lists of the walks for each query; a walk that cannot start has none."""
        lists: list[dict[str, Listed]] = [{} for _ in queries]
        for name, walk in self.walks.items():
            for listed, found in zip(lists, walk.find_many(queries), strict=True):
                if found is not None:
                    best = select_top(found.scores, depth)
                    listed[name] = Listed(best[found.scores[best] > 0], found.reasons)  # others were never reached
        return lists

    def _follow_facts(
        self, vector: NDArray[np.float32], plain: NDArray[np.float32], lists: dict[str, Listed], depth: int
    ) -> None:
        """Titles from the best of the walks, or of plain search where there are none; owners from all of these."""
        walked = bool(lists)
        for name, links in (("titles", self.titles), ("owners", self.owners if walked else None)):
            if links is not None:
                leading = self._fuse(lists, _LEADING, _LEADING_CONSTANT) if walked else plain
                lists[name] = _follow(links, vector, leading, depth)

    def _mix_scores(self, near: NDArray[np.float32], plain: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return what scores add to the ranks of lists."""
        if not self.share:
            return _SCORES * plain.astype(np.float64)
        mixed: NDArray[np.float64] = _SCORES * (self.share * near.astype(np.float64) + (1 - self.share) * plain)
        return mixed

    def _rank(self, query: str, scores: Scores, lists: dict[str, Listed], k: int) -> Ranking:
        weights = {name: self.share * weight for name, weight in _GRAPH.items()}
        weights |= {"titles": 1.0, "plain": 1 - self.share}
        fused = scores.ranking + self._fuse(lists, weights, self.constant)
        kept = lists["plain"].rows[:_PLAIN_PLACES]
        fused[kept] = np.maximum(fused[kept], fused[select_top(fused, _PLAIN_RANK)[-1:]])
        if self.tail is not None:
            lists |= _fill_tail(self.tail, query, scores._replace(ranking=fused), kept.tolist())
        # In single precision, so that what differs by the order of a sum alone is a tie.
        return self._explain(rank_scores(fused.astype(np.float32), self.passages.ids, k), lists)

    def _fuse(self, lists: Mapping[str, Listed], weights: Mapping[str, float], constant: float) -> NDArray[np.float64]:
        """Σ weight / (constant + rank), for every passage."""
        fused = np.zeros(len(self.passages))
        for name, weight in weights.items():
            if name in lists:
                rows = lists[name].rows
                fused[rows] += weight / (constant + np.arange(1, len(rows) + 1))
        return fused

    def _explain(self, ranking: Ranking, lists: Mapping[str, Listed]) -> Ranking:
        """Each hit with its rank in the lists that hold it, with their chains, and with the links followed to it."""
        rows = [self.passages.row(passage_id) for passage_id in ranking.ids]
        found_by: dict[int, list[tuple[str, int]]] = {row: [] for row in rows}
        chains: dict[int, list[Chain]] = {row: [] for row in rows}
        hops: dict[int, list[Hop]] = {row: [] for row in rows}
        for name, (listed, reasons, hop) in lists.items():
            ranks = {row: rank for rank, row in enumerate(listed.tolist(), 1) if row in found_by}
            for row, rank in ranks.items():
                found_by[row].append((name, rank))
            for row, led_to in reasons(list(ranks)).items():
                chains[row].extend(led_to)
            if hop is not None:
                for row in ranks:
                    hops[row].append(hop(row))
        return ranking.replace_hits(
            hit._replace(found_by=tuple(found_by[row]), chains=tuple(dict.fromkeys(chains[row])), hops=tuple(hops[row]))
            for hit, row in zip(ranking, rows, strict=True)
        )


def _follow(links: FactLinks, vector: NDArray[np.float32], leading: NDArray[np.floating], depth: int) -> Listed:
    """Where the facts of the leading passages lead."""
    best = select_top(leading, links.followed)
    best = best[leading[best] > 0]
    linked = {each.row: each for each in links.follow(vector, best, leading[best])[:depth] if each.worth > 0}
    return Listed(
        np.array(list(linked), np.int64),
        lambda rows: {row: links.chains(linked[row]) for row in rows},
        lambda row: links.hop(linked[row]),
    )


def _fill_tail(tail: Tail, query: str, scores: Scores, kept: Sequence[int]) -> dict[str, Listed]:
    """Fill the tail; the lists say what was placed there."""
    filled = tail.fill(query, scores, kept)
    terms = {link.row: link for link in filled.terms}
    rows = {"documents": filled.documents, "links": filled.links}
    lists = {name: Listed(np.array(each, np.int64), no_reasons) for name, each in rows.items() if each}
    if terms and (rare := tail.terms):
        lists["terms"] = Listed(np.array(list(terms), np.int64), no_reasons, lambda row: rare.hop(terms[row]))
    return lists
