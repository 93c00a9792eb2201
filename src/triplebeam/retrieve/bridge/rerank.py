"""Rerank: the first passages of a search, and those that rare terms reach from them, read beside their bridge.

Ours, no paper's. A passage that answers the second half of a question seldom shares its words: it shares a rare word
with a passage that answers the first half. The candidates are the first of the base, and the passages that rare terms
(`RareTerms`) of the first three lead to. The bridge of a candidate is the one of the first three that shares the rarest
terms with it, else the best. A small model reads question, bridge and candidate.

With r the rank in the base and S the base's score, scaled from 0 to 1 among the candidates, and h what the reader says,
a candidate's score is ``1 / (3 + r) + 0.3·S + w·sigmoid(h - h₃)``, where h₃ is the third highest h: a reader that
prefers none of them moves little. A passage that blend's tail put in the tenth place stays there, unless it rises.

The weight w is 0.25 where no passage has a topic of its own, and grows to 0.5 with the ``share`` of those that have
(`triplebeam.retrieve.blend`): most questions that the reader learned from are about such passages. At 0.25 news, chats
and novels each gained from a reader that was trained without them (docs/methods/blend.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.tables import PassageTable
from triplebeam.index.folder.terms import TermIndex
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.blend.tail import TAIL_LISTS, TENTH
from triplebeam.retrieve.bridge.reader import (
    MAX_BRIDGE,
    MAX_CANDIDATE,
    CandidateReader,
    Reading,
    TokenizedPassage,
    cut_excerpt,
)
from triplebeam.retrieve.rare_terms import RareLink, RareTerms
from triplebeam.retrieve.retriever import Retriever, check_fields, check_not_negative
from triplebeam.retrieve.scores import min_max
from triplebeam.text.terms import query_words

#: The name of this part in what a hit was found by.
BRIDGE = "bridge"
_BRIDGES = 3
_MAX_SHARING = 30
#: How much the sum of inverse document frequencies counts beside the cosine, in choosing what is reached.
_RARITY_WEIGHT = 0.1
#: How much a word of the question counts beside a shared rare one, in choosing what is read of a bridge.
_QUESTION_WEIGHT = 0.3
_RANK_CONSTANT, _SCORE_WEIGHT = 3.0, 0.3
#: How much more the reader counts at a share of 1: 0.5 instead of 0.25.
_SHARE_GAIN = 1.0


class Candidate(NamedTuple):
    """A row that is read, the row of its bridge, and the link between them if they share rare terms."""

    row: int
    bridge: int
    link: RareLink | None


@dataclass(frozen=True, kw_only=True)
class Rerank:
    """A search whose first passages are read again, each beside its bridge."""

    base: Retriever
    reader: CandidateReader = field(repr=False)
    rare: RareTerms = field(repr=False)
    vectors: VectorIndex = field(repr=False)
    embedder: Embedder = field(repr=False)
    depth: int = 24
    """Passages of the base that are read."""
    reached: int = 6
    """Passages beside them that rare terms lead to."""
    weight: float = 0.25
    """How much the reader counts where no passage has a topic of its own."""
    share: float = 0.0
    """How many have one, as `Blend` counts it."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "weight")

    @staticmethod
    def follow_over(terms: TermIndex, passages: PassageTable) -> RareTerms:
        """Return what follows rare terms, with the limits that the reader was trained with."""
        return RareTerms(terms=terms, passages=passages, max_passages=_MAX_SHARING, senders=1, min_distance=1)

    @property
    def passages(self) -> PassageTable:
        """The texts of what it finds."""
        return self.rare.passages

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the best k; what is neither among the first of the base nor reached keeps its score there."""
        found = self.base.retrieve(query, max(k, self.depth))
        if not found:
            return found
        rows = self.passages.rows(found.ids)
        candidates = self.choose_candidates(query, rows[: self.depth])
        shares = _share(self.reader.score(query, self._readings(query, candidates)))
        total = dict(zip(rows, _first_scores(found, self.depth), strict=True))
        weight = self.weight * (1 + _SHARE_GAIN * self.share)
        for each, share in zip(candidates, shares.tolist(), strict=True):
            total[each.row] = total.get(each.row, 0.0) + weight * share
        keep_tenth(found, rows, total)
        order = np.argsort(-shares, kind="stable").tolist()
        moved = {candidates[place].row: (rank, candidates[place].link) for rank, place in enumerate(order, 1)}
        return self._rank(dict(zip(rows, found, strict=True)), total, moved).top(k)

    def choose_candidates(self, query: str, rows: Sequence[int]) -> list[Candidate]:
        """Choose what is read: these rows, the best first, and what rare terms of the first reach; with bridges."""
        links: dict[int, RareLink] = {}
        for link in (link for row in rows[:_BRIDGES] for link in self.rare.follow(query, [row])):
            links[link.row] = max(links.get(link.row, link), link, key=lambda each: each.rarity)
        far = np.array([row for row in sorted(links) if row not in set(rows)], np.int64)
        if len(far):
            (vector,) = self.embedder.embed([query], kind="query")
            near = self.vectors.get_vectors(far) @ vector
            rarity = np.log1p(len(self.rare.terms)) * np.array([links[row].rarity for row in far.tolist()])
            far = far[np.argsort(-(near + _RARITY_WEIGHT * rarity), kind="stable")[: self.reached]]
        return [_with_bridge(row, rows, links.get(row)) for row in (*rows, *far.tolist())]

    def _readings(self, query: str, candidates: Sequence[Candidate]) -> list[Reading]:
        """Cut what is read of each candidate and its bridge: around shared rare terms and words of the question."""
        rows = sorted({row for each in candidates for row in (each.row, each.bridge)})
        terms = self.rare.terms
        stemmers = terms.stemmers_of(rows)
        texts = {
            row: self.reader.tokenize(self.passages.read_row(row), stemmer)
            for row, stemmer in zip(rows, stemmers, strict=True)
        }
        count = cache(terms.count_texts)
        asked = {term: terms.rarity(count(term)) for term in query_words(query) if count(term)}
        rare = {
            row: {
                term: terms.rarity(count(term))
                for term in {*text.terms} - asked.keys() - {""}
                if 2 <= count(term) <= _MAX_SHARING
            }
            for row, text in texts.items()
        }
        return [_read(texts, each, asked, rare) for each in candidates]

    def _rank(
        self, hits: Mapping[int, Hit], total: Mapping[int, float], read: Mapping[int, tuple[int, RareLink | None]]
    ) -> Ranking:
        """Return the hits by their new score; one that the reader raised names the term and the passage it came by."""
        before = {hit.passage_id: rank for rank, hit in enumerate(hits.values())}
        rows = dict(zip(self.passages.ids(total), total, strict=True))
        # In single precision, so that what differs by the order of a sum alone is a tie.
        ranking = Ranking.from_scores({id_: float(np.float32(total[row])) for id_, row in rows.items()})
        named = []
        for place, hit in enumerate(ranking):
            row = rows[hit.passage_id]
            known = hits.get(row, hit)._replace(score=hit.score)
            rank, link = read.get(row, (0, None))
            if link and place < before.get(hit.passage_id, len(ranking)):
                known = known._replace(
                    found_by=(*known.found_by, (BRIDGE, rank)), hops=(self.rare.hop(link), *known.hops)
                )
            named.append(known)
        return ranking.replace_hits(named)


def _with_bridge(row: int, rows: Sequence[int], link: RareLink | None) -> Candidate:
    """Return a candidate with the bridge that the link starts from, else the first of the rows that is another."""
    others = (other for other in rows if other != row)
    return Candidate(row, link.sender if link else next(others, row), link)


def _read(
    texts: Mapping[int, TokenizedPassage],
    candidate: Candidate,
    asked: Mapping[str, float],
    rare: Mapping[int, Mapping[str, float]],
) -> Reading:
    shared = {term: rarity for term, rarity in rare[candidate.row].items() if term in rare[candidate.bridge]}
    lightly = {term: _QUESTION_WEIGHT * rarity for term, rarity in asked.items()}
    return Reading(
        cut_excerpt(texts[candidate.bridge], MAX_BRIDGE, lightly | shared),
        cut_excerpt(texts[candidate.row], MAX_CANDIDATE, {**asked, **shared}),
    )


def keep_tenth(found: Ranking, rows: Sequence[int], total: dict[int, float]) -> None:
    """Keep the passage that blend's tail put in the tenth place from falling below it."""
    if len(found) <= TENTH or not TAIL_LISTS & {name for name, _ in found[TENTH].found_by}:
        return
    best = sorted(total, key=lambda row: -total[row])
    if (kept := rows[TENTH]) not in best[: TENTH + 1]:
        total[kept] = (total[best[TENTH - 1]] + total[best[TENTH]]) / 2


def _share(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """How far each is above the third highest, from 0 to 1."""
    third = np.sort(scores)[::-1][:_BRIDGES][-1]
    return np.asarray(1 / (1 + np.exp(np.clip(third - scores.astype(np.float64), -30, 30))))


def _first_scores(found: Ranking, depth: int) -> list[float]:
    """Return what the base adds: the rank, and the score of the first ``depth``."""
    scores = np.zeros(len(found))
    scores[:depth] = min_max(np.array([hit.score for hit in found[:depth]], np.float32))
    ranked: list[float] = (1 / (_RANK_CONSTANT + 1 + np.arange(len(found))) + _SCORE_WEIGHT * scores).tolist()
    return ranked
