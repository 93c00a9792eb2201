"""HippoRAG 2 (Gutiérrez, Shu, Qi, Zhou & Su, ICML 2025): PageRank over entities and passages, from triples and texts.

Passages are nodes beside the entities and are joined to those of their triples. The query is held against whole
triples: the 5 nearest are found, a model may filter them, and their entities are where the walk is reset to; so are
all passages, a little, by their similarity to the query. Passages are ranked by the probability of their own node.

Followed to the letter: these steps; an entity's reset weight is the mean similarity of its seed triples divided by the
number of passages it stands in, and the 5 entities of highest weight are kept; a passage's is 0.05 times its dense
similarity, scaled so that the worst passage has 0 and the best 1; damping 0.5; synonyms from cosine 0.8; dense
retrieval where the filter leaves nothing.

What differs: a triple's similarity is its cosine, where the authors' code scales it over all triples of the index
first. Edges of two kinds between the same entities are added up; an edge to a passage weighs 1. A similarity below zero
counts as zero. By default there is no filter, since no model is needed for the rest; see `triple_filter`. Ours beyond
the paper: ``base``, any retriever whose list takes the place of dense similarity.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array

from triplebeam.embed.embedder import Embedder
from triplebeam.generate.accounting import remark
from triplebeam.index.entity_graph import EntityGraph
from triplebeam.index.opened import Index
from triplebeam.index.passages import PassageTable
from triplebeam.index.synonyms import THRESHOLD
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.index.vectors import top
from triplebeam.methods.triple_filter import TripleFilter
from triplebeam.ranking import Ranking
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.retrieve.scores import min_max, rank_scores
from triplebeam.triple import Chain


@dataclass(frozen=True, kw_only=True)
class HippoRAG2:
    """Passages that a walk from the nearest triples' entities, and from similar passages, visits most."""

    graph: EntityGraph
    triples: TripleGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    embedder: Embedder = field(repr=False)
    base: Retriever
    """Its scores reset the passages, and its list stands in where the walk cannot start; the paper's is dense."""
    base_k: int | None = None
    """Passages of the base's list that are reset; None: all that it gives, or has scores for."""
    triple_filter: TripleFilter | None = None
    seed_triples: int = 5
    seed_entities: int = 5
    passage_weight: float = 0.05
    damping: float = 0.5
    synonym_threshold: float = THRESHOLD

    @classmethod
    def over(cls, index: Index, embedder: Embedder, **parameters: Any) -> "HippoRAG2":
        """Over an index; the base is dense retrieval unless another is given."""
        parameters.setdefault("base", Dense.over_passages(index, embedder))
        return cls(
            graph=index.entities,
            triples=index.triples,
            passages=index.passages,
            embedder=embedder,
            **parameters,
        )

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest probability; a hit's chains are how seed triples lead to it, in a step or two."""
        (vector,) = self.embedder.embed([query], kind="query")
        seeds, similarity = self._seeds(query, vector)
        if not similarity.any():
            remark(f"no triple bears on {query!r}: the passages are those of the base alone")
            return self.base.retrieve(query, k)
        of_passages = self.passage_weight * min_max(self._base_scores(query))
        reset = np.append(self.entity_weights(seeds, similarity), of_passages)
        scores = self._walk.probabilities(reset)[len(self.graph) :].astype(np.float32)
        ranking = rank_scores(scores, self.passages.ids, min(k, int(np.count_nonzero(scores))))
        return self._explained(ranking, seeds)

    def _seeds(self, query: str, vector: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The nearest triples that the filter leaves, and their similarity, at least zero."""
        found, cosines = self.triples.search(vector, self.seed_triples)
        if self.triple_filter and len(found):
            kept = list(self.triple_filter.keep(query, [self.triples.triple(id_) for id_ in found.tolist()]))
            found, cosines = found[kept], cosines[kept]
        return found, np.maximum(cosines, 0).astype(np.float64)

    def entity_weights(self, seeds: NDArray[np.int64], similarity: NDArray[np.float64]) -> NDArray[np.float64]:
        """The reset weights of the entities: mean similarity of their seed triples over their number of passages."""
        entities = self.graph.triple_entities[seeds].ravel()
        times = np.bincount(entities, minlength=len(self.graph))
        total = np.bincount(entities, np.repeat(similarity, 2), minlength=len(self.graph))
        weights = total / np.maximum(times * self.graph.passage_counts, 1)
        best = top(weights, self.seed_entities)
        kept = np.zeros(len(self.graph))
        kept[best] = weights[best]
        return kept

    def _base_scores(self, query: str) -> NDArray[np.float32]:
        """One a passage; what the base does not list is as bad as its worst, and not above zero."""
        if self.base_k is None and isinstance(self.base, ScoringRetriever):
            return self.base.scores(query)
        ranking = self.base.retrieve(query, self.base_k or len(self.passages))
        scores = np.full(len(self.passages), min([0.0, *(hit.score for hit in ranking)]), np.float32)
        scores[[self.passages.row(passage_id) for passage_id in ranking.ids]] = [hit.score for hit in ranking]
        return scores

    def _explained(self, ranking: Ranking, seeds: NDArray[np.int64]) -> Ranking:
        return Ranking(hit._replace(chains=tuple(self._chains(hit.passage_id, seeds))) for hit in ranking)

    def _chains(self, passage_id: str, seeds: NDArray[np.int64]) -> Iterator[Chain]:
        """The seed triples of the passage or, where it has none, each that a triple of the passage goes on from."""
        own, ends = self.triples.triples_of([passage_id]), self.graph.triple_entities
        at_home = seeds[np.isin(seeds, own)].tolist()
        yield from ((self.triples.triple(seed),) for seed in at_home)
        for seed in [] if at_home else seeds.tolist():
            sharing = own[np.isin(ends[own], ends[seed]).any(axis=1)]
            if len(sharing):
                yield self.triples.triple(seed), self.triples.triple(sharing[0])

    @cached_property
    def _walk(self) -> PersonalizedPageRank:
        """Entities first, then passages."""
        mentions = (self.graph.incidence > 0).astype(np.float64)
        among = self.graph.weights(self.synonym_threshold)
        weights = block_array([[among, mentions.T], [mentions, None]], format="csr", dtype=np.float64)
        return PersonalizedPageRank(weights=weights, damping=self.damping)
