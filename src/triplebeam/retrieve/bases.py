"""Base retrievers: BM25 (Robertson & Zaragoza, 2009), dense retrieval, and hybrids of the two.

A hybrid fuses by reciprocal rank (Cormack, Clarke & Büttcher, 2009) or adds scaled scores.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.index.source import Found, HybridSource, Query, Source, TermSearch
from triplebeam.passage import Passages
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import (
    OneOfMany,
    OneScoreOfMany,
    Retriever,
    ScoringRetriever,
    check_fields,
    check_not_negative,
    retrieve_many,
    scores_many,
)
from triplebeam.retrieve.scores import PassageOf, RankedByScores, min_max, rank_passages
from triplebeam.triple import Chain

#: Cormack's constant.
RRF_CONSTANT = 60


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking], constant: float = RRF_CONSTANT, weights: Sequence[float] | None = None
) -> Ranking:
    """RRF(d) = Σ weight / (constant + rank of d), over the rankings that hold d; ranks begin at 1, a weight is 1 by
    default.

    The sum is rounded once (`math.fsum`), so equal contributions tie whatever the order of the lists.
    """
    parts: dict[str, list[float]] = {}
    chains: dict[str, list[Chain]] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, hit in enumerate(ranking, start=1):
            parts.setdefault(hit.passage_id, []).append(weight / (constant + rank))
            chains.setdefault(hit.passage_id, []).extend(hit.chains)
    return Ranking.of(
        Hit(passage_id, math.fsum(terms), tuple(dict.fromkeys(chains[passage_id])))
        for passage_id, terms in parts.items()
    )


def in_turn(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the best passage of each list, then the second best of each, and so on; each passage once."""
    rows = zip_longest(*lists)
    return list(dict.fromkeys(id_ for row in rows for id_ in row if id_ is not None))


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
        """Return the k passages of highest BM25."""
        return rank_passages(lambda wanted: self.terms.search(query, wanted), self.passage_of, k)

    def scores(self, query: str, matches: int = SCORED_MATCHES) -> NDArray[np.float32]:
        """Return the BM25 of the passages that match best, and 0 for all others."""
        if self.over != "passages":
            raise BadInputError(f"bm25 over {self.over} has no score for every passage: use bm25 over passages here.")
        scores = np.zeros(len(self.terms), np.float32)
        rows, matched = self.terms.search(query, matches)
        scores[rows] = matched
        return scores


#: Called with a vector and k: the nearest rows and their cosines.
Nearest: TypeAlias = Callable[[NDArray[np.float32], int], Found]
#: The same for each row of several vectors.
NearestMany: TypeAlias = Callable[[NDArray[np.float32], int], Sequence[Found]]


@dataclass(frozen=True, kw_only=True)
class Dense(OneOfMany, OneScoreOfMany):
    """Cosine similarity over passages or over triples."""

    embedder: Embedder = field(repr=False)
    nearest: Nearest = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    over: str = "passages"
    passages: Passages | None = field(default=None, repr=False)
    """The texts of the passages, where an index is searched."""
    passage_vectors: VectorIndex | None = field(default=None, repr=False)
    """Where passages are searched, their vectors, if they are here and not on a cluster."""
    nearest_many: NearestMany | None = field(default=None, repr=False)
    """Where it is set, many queries are searched together."""

    @classmethod
    def over_passages(cls, index: Source, embedder: Embedder) -> "Dense":
        """Search the passages."""
        vectors = index.passage_vectors
        return cls(
            embedder=embedder,
            nearest=vectors.nearest,
            passage_of=index.passages.ids,
            passages=index.passages,
            passage_vectors=vectors if isinstance(vectors, VectorIndex) else None,
            nearest_many=vectors.nearest_many,
        )

    @classmethod
    def over_triples(cls, index: Source, embedder: Embedder) -> "Dense":
        """Search the triples, and return the passages of the best."""
        return cls(
            embedder=embedder,
            nearest=index.triples.search,
            passage_of=index.triples.passage_of,
            over="triples",
            passages=index.passages,
        )

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the k passages of highest cosine for each query, encoded and, where possible, searched together."""
        vectors = self.embedder.embed(queries, kind="query")
        first = self.nearest_many(vectors, k + 1) if self.nearest_many else [None] * len(vectors)
        return [
            rank_passages(partial(self.nearest, vector), self.passage_of, k, found)
            for vector, found in zip(vectors, first, strict=True)
        ]

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of cosines per query, as `VectorIndex.cosines` has them."""
        if self.passage_vectors is None:
            raise BadInputError(f"dense over {self.over} has no score for every passage: use dense over passages here.")
        return self.passage_vectors.cosines(self.embedder.embed(queries, kind="query"))


@dataclass(frozen=True)
class Hybrid(OneOfMany):
    """The fusion of two lists of ``depth`` passages each (GeAR's hybrid base: BM25 and SBERT)."""

    sparse: Retriever
    dense: Retriever
    depth: int = 15
    constant: float = RRF_CONSTANT

    def __post_init__(self) -> None:
        check_fields(self)
        check_not_negative(self, "constant")

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the best k of both lists. Asking for fewer than ``depth`` returns the head of the same ranking."""
        depth = max(k, self.depth)
        both = (retrieve_many(retriever, queries, depth) for retriever in (self.sparse, self.dense))
        return [reciprocal_rank_fusion(lists, self.constant).top(k) for lists in zip(*both, strict=True)]


@dataclass(frozen=True, kw_only=True)
class ScaledHybrid(RankedByScores):
    """The mean of both retrievers' min-max-scaled scores. Unlike a fusion of ranks it has a score for every passage."""

    sparse: ScoringRetriever
    dense: ScoringRetriever
    passage_of: PassageOf = field(repr=False)

    def passage_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the passages at these rows."""
        return self.passage_of(rows)

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of scores per query, from 0 to 1."""
        both = zip(scores_many(self.sparse, queries), scores_many(self.dense, queries), strict=True)
        return np.array([(min_max(sparse) + min_max(dense)) / np.float32(2) for sparse, dense in both], np.float32)


@dataclass(frozen=True, kw_only=True)
class SearchedHybrid:
    """The ranking of `ScaledHybrid`, over a source that searches it."""

    source: HybridSource = field(repr=False)
    embedder: Embedder = field(repr=False)

    @property
    def passages(self) -> Passages:
        """The texts of what it finds."""
        return self.source.passages

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the k passages of highest score."""
        [vector] = self.embedder.embed([query], kind="query")
        asked = Query(query, vector)
        return rank_passages(
            lambda wanted: self.source.search_hybrid(asked, wanted, SCORED_MATCHES), self.source.passages.ids, k
        )
