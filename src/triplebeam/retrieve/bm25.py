"""BM25: passages that use the query's words (Robertson & Zaragoza, 2009)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.protocols import Source, TermSearch
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.scores import PassageOf, rank_passages

#: Matches that count in `BM25.scores`. A question's common words match a third of a corpus, and reading a match costs
#: ten microseconds; on MuSiQue those behind the first thousand change no recall by more than 0.2.
SCORED_MATCHES = 1000


@dataclass(frozen=True, kw_only=True)
class BM25:
    """Term matching over passages or over triples."""

    terms: TermSearch = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    over: str = "passages"
    passages: Passages | None = field(default=None, repr=False)
    """The texts of the passages, where an index is searched."""

    @classmethod
    def over_passages(cls, index: Source) -> "BM25":
        """Search the passages."""
        return cls(terms=index.passage_terms, passage_of=index.passages.ids, passages=index.passages)

    @classmethod
    def over_triples(cls, index: Source) -> "BM25":
        """Search the triples, and return the passages of the best."""
        return cls(
            terms=index.triple_terms, passage_of=index.triples.passage_of, over="triples", passages=index.passages
        )

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest BM25."""
        return rank_passages(lambda wanted: self.terms.search(query, wanted), self.passage_of, k)

    def scores(self, query: str, matches: int = SCORED_MATCHES) -> NDArray[np.float32]:
        """The BM25 of the passages that match best, and 0 for all others."""
        if self.over != "passages":
            raise BadInputError(f"bm25 over {self.over} has no score for every passage: use bm25 over passages here.")
        scores = np.zeros(len(self.terms), np.float32)
        rows, matched = self.terms.search(query, matches)
        scores[rows] = matched
        return scores
