"""GeAR, Eq. 2, 3 and 8: graph expansion around any base retriever, and from what a reader said back to the index.

Followed to the letter: `NaiveGE` starts the beam search from all triples of the base passages; `SyncGE` from the stored
triples most similar to what a reader found in them (tripleLink, Eq. 1, 2); the beams, flattened breadth first, give
passages that are fused with the base list by RRF (Eq. 3); passageLink fuses what passages and triples give for a triple
as a query (Eq. 8, 10, 11). Ours where the paper is silent: 15 base passages for a single step, the RRF constant 60, and
breadth first means by depth, then by beam; similarity is the cosine of the embeddings, and two proximal triples that
link to the same stored triple start one beam, not two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.index.source import Found, TripleStore
from triplebeam.methods.gear.beam_search import Beams, ChainScorer, DiverseTripleBeamSearch
from triplebeam.methods.gear.reason import Reader
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import Dense, reciprocal_rank_fusion
from triplebeam.retrieve.retriever import OneOfMany, Retriever, check_fields, for_question, retrieve_many
from triplebeam.triple import Chain, Triple


def triple_link(proximal: Sequence[Triple], triples: TripleStore, embedder: Embedder) -> NDArray[np.int64]:
    """Eq. 2: the stored triple nearest to each proximal triple, in their order, each once."""
    if not proximal:
        return np.zeros(0, np.int64)
    nearest = triples.nearest(embedder.embed([str(triple) for triple in proximal]), 1)
    return np.array(list(dict.fromkeys(nearest.ravel().tolist())), np.int64)


@dataclass(frozen=True, kw_only=True)
class PassageLink:
    """Eq. 8: the passages that a triple is linked to."""

    passages: Retriever
    """Searches the passages (C)."""
    triples: Retriever | None = None
    """Searches the triples and gives their passages (T); without one, what the passages give is all."""

    def link(self, triple: Triple, k: int = 10) -> Ranking:
        """Eq. 10, 11: RRF of the passages that C and T give for the triple's text."""
        searched = [retriever for retriever in (self.passages, self.triples) if retriever is not None]
        lists = [retriever.retrieve(str(triple), k) for retriever in searched]
        return reciprocal_rank_fusion(lists).top(k)


def passages_along(beams: Beams, triples: TripleStore) -> Ranking:
    """Compute C̃: the passages of the beams' triples, breadth first, each once, with the chains that pass through it."""
    flat = beams.chains.T.ravel()  # by depth, then by beam
    chains: dict[str, dict[Chain, None]] = {passage_id: {} for passage_id in triples.passage_of(flat)}
    for row in beams.chains.tolist():
        chain = tuple(triples.triple(triple_id) for triple_id in row)
        for passage_id in triples.passage_of(row):
            chains[passage_id][chain] = None
    # Ranks alone count in the fusion; the scores say just that.
    return Ranking(Hit(id_, 1 / rank, tuple(through)) for rank, (id_, through) in enumerate(chains.items(), start=1))


@dataclass(frozen=True, kw_only=True)
class _GraphExpansion(OneOfMany):
    """What both forms share: a base, a graph, and the walk from the base's triples."""

    base: Retriever
    triples: TripleStore
    scorer: ChainScorer
    base_k: int = 15
    """Passages taken from the base. More are taken only where the walk could not make up the number asked for."""
    width: int = 10
    length: int = 2
    neighbours: int = 100
    diversity: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        _ = self._search  # which refuses what it cannot search with

    def begin(self) -> Self:
        """Begin the steps of one question; the base may learn from its queries."""
        return replace(self, base=for_question(self.base))

    def build_triple_search(self) -> Dense:
        """Build a search for the passages of the triples nearest to a query, without graph expansion."""

        def nearest(vector: NDArray[np.float32], k: int) -> Found:
            [found] = self.triples.nearest(vector[np.newaxis], k)
            return found, self.triples.vectors(found) @ vector

        return Dense(
            embedder=self.scorer.embedder,
            nearest=nearest,
            passage_of=self.triples.passage_of,
            over="triples",
        )

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Eq. 3 for each query: RRF of the passages along the beams and of the base list."""
        bases = retrieve_many(self.base, queries, max(self.base_k, k - self.width))
        return [
            self.expand(query, base, self._find_initial_triples(query, base.ids)).top(k)
            for query, base in zip(queries, bases, strict=True)
        ]

    def expand(self, query: str, base: Ranking, initial: NDArray[np.int64]) -> Ranking:
        """Eq. 3 for a base list and initial triples that are there already."""
        (vector,) = self.scorer.embedder.embed([query], kind="query")
        beams = self._search.search(vector, initial)
        return reciprocal_rank_fusion([passages_along(beams, self.triples), base])

    @cached_property
    def _search(self) -> DiverseTripleBeamSearch:
        return DiverseTripleBeamSearch(
            triples=self.triples,
            scorer=self.scorer,
            width=self.width,
            length=self.length,
            neighbours=self.neighbours,
            diversity=self.diversity,
        )

    def _find_initial_triples(self, query: str, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class NaiveGE(_GraphExpansion):
    """Graph expansion without a model: the walk starts from every triple of the base passages."""

    def _find_initial_triples(self, query: str, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        return self.triples.triples_of(passage_ids)


@dataclass(frozen=True, kw_only=True)
class SyncGE(_GraphExpansion):
    """Synchronised graph expansion: a reader says which facts matter, and the walk starts from those."""

    reader: Reader

    def _find_initial_triples(self, query: str, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        """Eq. 1 and 2."""
        return self.link([fact.triple for fact in self.reader.read(query, passage_ids)])

    def link(self, proximal: Sequence[Triple]) -> NDArray[np.int64]:
        """Eq. 2: where the walk starts."""
        return triple_link(proximal, self.triples, self.scorer.embedder)


def derive_passage_link(retriever: Retriever) -> PassageLink:
    """Eq. 8 over a retriever: of an expansion over its base and its triples."""
    if isinstance(retriever, _GraphExpansion):
        return PassageLink(passages=retriever.base, triples=retriever.build_triple_search())
    return PassageLink(passages=retriever)
