"""Two places near the end for passages that the first search ranks too low: the fifth and the tenth.

Ours, no paper's. The rest of a ranking is left as it is, so that a wrong choice costs one place.

- The fifth is for a passage of a document that has none above, if a rare term of the first three hits stands in its
  title or heading (`RareTerms`), or for one of another document that one of the first two hits links to, or that links
  to one of them.
- The tenth is for the best passage of a document that has none above, where the passage that is there comes from a
  document that has two already, unless that is as long as a book: a question about a book seldom needs another one.
  Else it is for a passage with any rare term of the first three hits.

A rare term or a link gets a place if its passage is worth clearly more than the one that is there. With r = 1 / (3 +
rank) in the ranking, D and S the scaled scores of vectors and of plain search, h the rarity of the rarest term in the
heading, t that of all shared terms (each from 0 to 1, at most 3 in all) and l = 1 for a passage that is linked, a
passage is worth 2.6·r + D + 1.75·S + h + 0.16·t + 0.8·l.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.passage_graph import Edges
from triplebeam.index.folder.tables import PassageTable
from triplebeam.index.folder.vectors import select_top
from triplebeam.ranking import LINKING_HITS
from triplebeam.retrieve.rare_terms import RareLink, RareTerms

#: What a passage is worth: by its rank and its constant, by plain search, by the terms that it shares, by a link.
_RANK, _RANK_CONSTANT, _PLAIN, _SHARED, _MAX_SHARED, _LINKED = 2.6, 3, 1.75, 0.16, 3.0, 0.8
#: How much more than the passage that is there.
_MIN_MARGIN = 0.28
_FIFTH, TENTH = 4, 9
#: The names of the lists that a hit in these places is in.
TAIL_LISTS = frozenset({"documents", "links", "terms"})
#: Passages of the ranking that may move up.
_MAX_DEPTH = 30
#: Passages above from which on a document makes room for another.
_MIN_OTHERS_OF_DOCUMENT = 2
#: The distance, in passages, between two of one document that makes it as long as a book.
_BOOK_DISTANCE = 100


class Filled(NamedTuple):
    """What was placed: links of rare terms, rows of other documents, and rows that are linked."""

    terms: list[RareLink]
    documents: list[int]
    links: list[int]


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
    links: Edges = field(repr=False)
    """From passages to those that they link to, and back."""
    passages: PassageTable = field(repr=False)

    def fill(self, query: str, scores: Scores, kept: Collection[int]) -> Filled:
        """Move passages up by changing their scores in the ranking; those of ``kept`` stay where they are."""
        order: list[int] = select_top(scores.ranking, _MAX_DEPTH).tolist()
        terms = {link.row: link for link in self.terms.follow(query, order)} if self.terms else {}
        linked = self._find_linked(order[:LINKING_HITS])
        worth = _Worth(scores, {row: rank for rank, row in enumerate(order, 1)}, terms, linked)
        filled = Filled([], [], [])
        if len(order) > _FIFTH and order[_FIFTH] not in kept:
            above = self._count_documents(order[:_FIFTH])
            headed = {row for row, link in terms.items() if link.heading_rarity and not above[self._document(row)]}
            if (row := worth.choose(headed | linked, order, _FIFTH)) is not None:
                if row in linked:
                    filled.links.append(row)
                else:
                    filled.terms.append(terms[row])
                _move(row, order, _FIFTH, scores.ranking)
        if len(order) > TENTH:
            above = self._count_documents(order[:TENTH])
            others = [row for row in order[TENTH:] if not above[self._document(row)]]
            tenth = order[TENTH]
            if others and above[self._document(tenth)] >= _MIN_OTHERS_OF_DOCUMENT and not self._is_in_book(tenth):
                filled.documents.append(others[0])
                _move(others[0], order, TENTH, scores.ranking)
            elif (row := worth.choose(terms, order, TENTH)) is not None:
                filled.terms.append(terms[row])
                _move(row, order, TENTH, scores.ranking)
        return filled

    def _find_linked(self, rows: Sequence[int]) -> set[int]:
        """Return the rows of other documents that these link to, or that link to these."""
        pairs = zip(*self.links.find_incident(np.array(rows, np.int64)), strict=True)
        return {int(row) for place, row in pairs if self._document(row) != self._document(rows[place])}

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
    terms: Mapping[int, RareLink]
    linked: Collection[int]

    def choose(self, rows: Collection[int], order: list[int], place: int) -> int | None:
        """Return the best of these rows that is not above a place, if it is worth more than what is there."""
        above = order[:place]
        best = max((row for row in rows if row not in above), key=lambda row: (self.of(row), -row), default=None)
        if best is None or best == order[place] or self.of(best) <= self.of(order[place]) + _MIN_MARGIN:
            return None
        return best

    def of(self, row: int) -> float:
        """Return what a passage is worth."""
        ranked = _RANK / (_RANK_CONSTANT + self.ranks[row]) if row in self.ranks else 0.0
        link = self.terms.get(row)
        shared = link.heading_rarity + _SHARED * min(link.rarity, _MAX_SHARED) if link else 0.0
        linked = _LINKED if row in self.linked else 0.0
        return float(ranked + self.scores.near[row] + _PLAIN * self.scores.plain[row] + shared + linked)


def _move(row: int, order: list[int], place: int, scores: NDArray[np.float64]) -> None:
    """Put a row at a place, with a score between its neighbours'."""
    scores[row] = (scores[order[place - 1]] + scores[order[place]]) / 2
    if row in order:
        order.remove(row)
    order.insert(place, row)
