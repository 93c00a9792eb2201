"""Rare terms: from the best hits of a search to other passages that have a term in common with them.

Ours, no paper's. A manual names a person in a byline, a page an option, a film its director: a term that stands in a
handful of passages joins them, whether or not a triple was read there. The terms are those of the term index, so that
their rarity is known, and nothing else is stored. A term of the query leads nowhere new, since the first search has
looked for it; a bare number says nothing.

Passages beside a hit in its document share its terms because they go on about the same: they do not count.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.tables import PassageTable
from triplebeam.index.folder.terms import MAX_RARE_TEXTS, TermIndex
from triplebeam.ranking import Hop
from triplebeam.retrieve.retriever import check_fields
from triplebeam.text.terms import locate_words, query_words, text_words

#: Letters at the beginning of a word that its stem has, too.
_MIN_STEM = 2


class RareLink(NamedTuple):
    """A passage that shares rare terms with a hit: its row, the row of the hit, and the term, as the index has it, that
    is rarest among those in the passage's title or heading, else rarest of all.
    """

    row: int
    sender: int
    term: str
    rarity: float
    """The sum over all of them of the inverse document frequency, as a share of the largest possible."""
    heading_rarity: float
    """The same of the rarest term in the title or heading alone; 0 without one."""


@dataclass(frozen=True, kw_only=True)
class RareTerms:
    """Finds the passages that rare terms of hits lead to."""

    terms: TermIndex = field(repr=False)
    passages: PassageTable = field(repr=False)
    max_passages: int = MAX_RARE_TEXTS
    """A term that more passages have leads nowhere in particular."""
    senders: int = 3
    """Hits whose terms are followed."""
    min_distance: int = 3
    """How far apart, in passages, two passages of one document are at least."""

    def __post_init__(self) -> None:
        check_fields(self)

    def follow(self, query: str, rows: Sequence[int] | NDArray[np.int64]) -> list[RareLink]:
        """Return the passages that the first of these rows lead to, each once, by its best link, in order of rows."""
        found: dict[int, RareLink] = {}
        asked = frozenset(query_words(query))
        for sender in map(int, rows[: self.senders]):
            for link in self._follow_one(sender, asked):
                found[link.row] = max(found.get(link.row, link), link, key=lambda each: each[:-3:-1])
        return [found[row] for row in sorted(found)]

    def hop(self, link: RareLink) -> Hop:
        """Return where a link starts, and the term as its passage writes it."""
        sender = self.passages.read_row(link.sender)
        (stemmer,) = self.terms.stemmers_of([link.sender])
        text = sender.term_text
        written = (text[start:end] for start, end, word in locate_words(text, stemmer) if word == link.term)
        return Hop(sender.id, next(written, link.term))

    def _follow_one(self, sender: int, asked: frozenset[str]) -> list[RareLink]:
        """Return the links of one hit."""
        shared: dict[int, list[tuple[float, str]]] = {}
        starts, places = self._rare_words
        for place in places[starts[sender] : starts[sender + 1]].tolist():
            term = self.terms.words[place]
            if term in asked or term.isdigit():
                continue
            rows: list[int] = self.terms.rows[self.terms.starts[place] : self.terms.starts[place + 1]].tolist()
            rarity = self.terms.rarity(len(rows)) / math.log1p(len(self.terms))
            for row in rows:
                if self._is_elsewhere(sender, row):
                    shared.setdefault(row, []).append((rarity, term))
        return [self._make_link(row, sender, terms) for row, terms in shared.items()]

    @cached_property
    def _rare_words(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the rare words of all passages, one passage after the other, and where each begins."""
        counts, rare = np.diff(self.terms.starts), self.terms.find_rare(self.max_passages)
        rows = self.terms.rows[np.repeat(rare, counts)]
        places = np.repeat(np.flatnonzero(rare), counts[rare])[np.argsort(rows, kind="stable")]
        return np.append(0, np.cumsum(np.bincount(rows, minlength=len(self.terms)))), places

    def _make_link(self, row: int, sender: int, terms: Sequence[tuple[float, str]]) -> RareLink:
        heading = self._find_heading_words(row, terms)
        rarity, term = max(((rarity, term) for rarity, term in terms if term in heading), default=(0.0, ""))
        return RareLink(row, sender, term or max(terms)[1], sum(each for each, _ in terms), rarity)

    def _find_heading_words(self, row: int, terms: Sequence[tuple[float, str]]) -> Collection[str]:
        """Return the words of a passage's title and heading; none, and quickly, where no term can be one of them."""
        heading = f"{self.passages.titles[row]}\n{self.passages.sections[row]}"
        lower = heading.lower()
        if heading.isascii() and not any(term[:_MIN_STEM] in lower for _, term in terms):
            return ()
        return text_words(heading, *self.terms.stemmers_of([row]))

    def _is_elsewhere(self, sender: int, row: int) -> bool:
        """In another document, or far away in the same one; rows of one title are of one document."""
        if abs(sender - row) >= self.min_distance:
            return True
        titles, documents = self.passages.titles, self.passages.documents
        return documents[sender] != documents[row] and not (titles[row] and titles[sender] == titles[row])
