"""BM25: passages that use the query's words (Robertson & Zaragoza, 2009), by tantivy."""

from dataclasses import dataclass, field

from triplebeam.index.opened import Index
from triplebeam.index.terms import TermIndex
from triplebeam.ranking import Ranking
from triplebeam.retrieve.rows import PassageOf, rank_passages


@dataclass(frozen=True, kw_only=True)
class BM25:
    """Term matching over passages or over triples."""

    terms: TermIndex = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    over: str = "passages"

    @classmethod
    def over_passages(cls, index: Index) -> "BM25":
        """Search the passages."""
        return cls(terms=index.passage_terms, passage_of=index.passages.ids)

    @classmethod
    def over_triples(cls, index: Index) -> "BM25":
        """Search the triples, and give the passages of the best."""
        return cls(terms=index.triple_terms, passage_of=index.triples.passage_of, over="triples")

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest BM25."""
        return rank_passages(lambda wanted: self.terms.search(query, wanted), self.passage_of, k)
