"""Two places near the end for passages that the first search ranks too low: the fifth and the tenth.

Ours, no paper's. The rest of a ranking is left as it is, so that a wrong choice costs one place.

- The fifth is for a passage of a document that has none above, if a rare term of the first three hits stands in its
  title or heading (`RareTerms`).
- The tenth is for the best passage of a document that has none above, where the passage that is there comes from a
  document that has two already, unless that is as long as a book: a question about a book seldom needs another one.
  Else it is for a passage with any rare term of the first three hits.

A rare term gets a place if its passage is worth clearly more than the one that is there. With r = 1 / (3 + rank) in the
ranking, D and S the scaled scores of vectors and of plain search, h the rarity of the rarest term in the heading and t
that of all shared terms (each from 0 to 1, at most 3 in all), a passage is worth 2.6·r + D + 1.75·S + h + 0.16·t.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.tables import PassageTable
from triplebeam.index.folder.vectors import select_top
from triplebeam.retrieve.rare_terms import RareLink, RareTerms

#: What a passage is worth: by its rank and its constant, by plain search, by the terms that it shares.
_RANK, _RANK_CONSTANT, _PLAIN, _SHARED, _MAX_SHARED = 2.6, 3, 1.75, 0.16, 3.0
#: How much more than the passage that is there.
_MARGIN = 0.28
_FIFTH, TENTH = 4, 9
#: The names of the lists that a hit in these places is in.
TAIL_LISTS = frozenset({"documents", "terms"})
#: Passages of the ranking that may move up.
_DEPTH = 30
#: Passages above from which on a document makes room for another.
_MANY = 2
#: The distance, in passages, between two of one document that makes it as long as a book.
_BOOK_DISTANCE = 100


class Filled(NamedTuple):
    """What was placed: links of rare terms, and rows of other documents."""

    links: list[RareLink]
    documents: list[int]


class Scores(NamedTuple):
    """The scores of all passages for one query: of the ranking, and of vectors and plain search from 0 to 1."""

    ranking: NDArray[np.float64]
    near: NDArray[np.float32]
    plain: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Tail:
    """Fills two places of a ranking."""

    terms: RareTerms | None
    """None on a cluster, and where passages are very many: the tenth place is for other documents alone."""
    passages: PassageTable = field(repr=False)

    def fill(self, query: str, scores: Scores, kept: Collection[int]) -> Filled:
        """Move passages up by changing their scores in the ranking; those of ``kept`` stay where they are."""
        order: list[int] = select_top(scores.ranking, _DEPTH).tolist()
        links = {link.row: link for link in self.terms.follow(query, order)} if self.terms else {}
        worth = _Worth(scores, {row: rank for rank, row in enumerate(order, 1)}, links)
        filled = Filled([], [])
        if len(order) > _FIFTH and order[_FIFTH] not in kept:
            above = self._count_documents(order[:_FIFTH])
            headed = [row for row, link in links.items() if link.heading_rarity and not above[self._document(row)]]
            if (row := worth.choose(headed, order, _FIFTH)) is not None:
                filled.links.append(links[row])
                _move(row, order, _FIFTH, scores.ranking)
        if len(order) > TENTH:
            above = self._count_documents(order[:TENTH])
            others = [row for row in order[TENTH:] if not above[self._document(row)]]
            tenth = order[TENTH]
            if others and above[self._document(tenth)] >= _MANY and not self._is_in_book(tenth):
                filled.documents.append(others[0])
                _move(others[0], order, TENTH, scores.ranking)
            elif (row := worth.choose(links, order, TENTH)) is not None:
                filled.links.append(links[row])
                _move(row, order, TENTH, scores.ranking)
        return filled

    def _count_documents(self, rows: Collection[int]) -> Counter[str]:
        return Counter(map(self._document, rows))

    def _is_in_book(self, row: int) -> bool:
        far = (other for other in (row - _BOOK_DISTANCE, row + _BOOK_DISTANCE) if 0 <= other < len(self.passages))
        return any(self._document(other) == self._document(row) for other in far)

    def _document(self, row: int) -> str:
        """Return what a passage belongs to: rows of one title are of one document."""
        return self.passages.titles[row] or self.passages.documents[row]


class _Worth(NamedTuple):
    """What passages are worth for one query."""

    scores: Scores
    ranks: Mapping[int, int]
    links: Mapping[int, RareLink]

    def choose(self, rows: Collection[int], order: list[int], place: int) -> int | None:
        """Return the best of these rows that is not above a place, if it is worth more than what is there."""
        above = order[:place]
        best = max((row for row in rows if row not in above), key=lambda row: (self.of(row), -row), default=None)
        if best is None or best == order[place] or self.of(best) <= self.of(order[place]) + _MARGIN:
            return None
        return best

    def of(self, row: int) -> float:
        """Return what a passage is worth."""
        ranked = _RANK / (_RANK_CONSTANT + self.ranks[row]) if row in self.ranks else 0.0
        link = self.links.get(row)
        shared = link.heading_rarity + _SHARED * min(link.rarity, _MAX_SHARED) if link else 0.0
        return float(ranked + self.scores.near[row] + _PLAIN * self.scores.plain[row] + shared)


def _move(row: int, order: list[int], place: int, scores: NDArray[np.float64]) -> None:
    """Put a row at a place, with a score between its neighbours'."""
    scores[row] = (scores[order[place - 1]] + scores[order[place]]) / 2
    if row in order:
        order.remove(row)
    order.insert(place, row)
