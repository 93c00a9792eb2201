"""HippoRAG 2 (Gutiérrez, Shu, Qi, Zhou & Su, ICML 2025): PageRank over entities and passages, from triples and texts.

Passages are nodes beside the entities and are joined to those of their triples. The query is held against whole
triples: the 5 nearest are found, a model may filter them, and their entities are where the walk is reset to; so are
all passages, a little, by their similarity to the query. Passages are ranked by the probability of their own node.

Followed to the letter: these steps; an entity's reset weight is the mean similarity of its seed triples divided by the
number of passages it occurs in, and the 5 entities of highest weight are kept; a passage's is 0.05 times its dense
similarity, scaled so that the worst passage has 0 and the best 1; damping 0.5; synonyms from cosine 0.8; dense
retrieval where the filter leaves nothing.

What differs: a triple's similarity is its cosine, where the authors' code scales it over all triples of the index
first; its vector is read in the context of its passage, where the embedder can (`triplebeam.index.content.encoding`).
Edges of two kinds between the same entities are added up; an edge to a passage weighs 1. A similarity below zero counts
as zero. By default there is no filter, since no model is needed for the rest; see `LLMTripleFilter`. Ours beyond the
paper: ``base``, any retriever whose list takes the place of dense similarity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.generate.accounting import note_warning
from triplebeam.index.folder.entity_graph import TOLERANCE, OpenGraph
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.synonyms import MIN_COSINE
from triplebeam.index.folder.tables import TripleGraph
from triplebeam.index.folder.vectors import select_top
from triplebeam.methods.hipporag.hipporag import EntityWalk, WalkChains
from triplebeam.methods.shared.replies import LLMTripleFilter
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import Dense
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank, Reset, push
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever, retrieve_many, scores_many
from triplebeam.retrieve.scores import WalkScores, min_max

#: In a large graph: passages that a walk starts from, and what is worth a look at an edge (`push`).
_MAX_STARTS, _MIN_RESIDUAL = 1000, 1e-4
#: Triples, and the similarity of each to the query.
Seeds: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class HippoRAG2(EntityWalk):
    """Passages that a walk from the nearest triples' entities, and from similar passages, visits most."""

    triples: TripleGraph = field(repr=False)
    base: Retriever
    """Its scores reset the passages, and its list is the result where the walk cannot start; the paper's is dense."""
    base_k: int | None = None
    """Passages of the base's list that are reset; None: all that it gives, or has scores for."""
    triple_filter: LLMTripleFilter | None = None
    seed_triples: int = 5
    seed_entities: int = 5
    passage_weight: float = 0.05
    damping: float = 0.5
    synonym_threshold: float = MIN_COSINE
    tolerance: float = TOLERANCE
    max_passages: int | None = None
    """Entities of more passages than this have no edges; None, the paper's: all have."""

    @classmethod
    def over(cls, index: Snapshot, embedder: Embedder, **parameters: Any) -> "HippoRAG2":
        """Build it over an index; the base is dense retrieval unless another is given."""
        parameters.setdefault("base", Dense.over_passages(index, embedder))
        return cls(
            graph=index.entities,
            triples=index.triples,
            passages=index.passages,
            embedder=embedder,
            **parameters,
        )

    def find_many(self, queries: Sequence[str]) -> list[WalkScores | None]:
        """Run the random walk of each query; None where no triple is relevant."""
        seeds = self._seeds(queries)
        walking = [place for place, (_, similarity) in enumerate(seeds) if similarity.any()]
        visited = self._passage_probabilities(
            [queries[place] for place in walking], [seeds[place] for place in walking]
        )
        chains = WalkChains(self.triples, self.graph)
        found = {
            place: WalkScores(scores, partial(chains.from_triples, seeds[place][0]))
            for place, scores in zip(walking, visited, strict=True)
        }
        return [found.get(place) for place in range(len(queries))]

    def _fall_back(self, query: str, k: int) -> Ranking:
        note_warning(f"no triple matches {query!r}: falls back to the base")
        return self.base.retrieve(query, k)

    def _seeds(self, queries: Sequence[str]) -> list[Seeds]:
        """Return for each query the nearest triples that the filter leaves, and their similarity, at least zero."""
        vectors = self.embedder.embed(queries, kind="query")
        nearest = self.triples.nearest(vectors, self.seed_triples)
        kept = [self._filter_triples(query, found) for query, found in zip(queries, nearest, strict=True)]
        return [
            (found, np.maximum(self.triples.vectors(found) @ vector, 0).astype(np.float64))
            for vector, found in zip(vectors, kept, strict=True)
        ]

    def _filter_triples(self, query: str, found: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.triple_filter or not len(found):
            return found
        return found[list(self.triple_filter.keep(query, [self.triples.triple(id_) for id_ in found.tolist()]))]

    def _passage_probabilities(self, queries: Sequence[str], seeds: Sequence[Seeds]) -> NDArray[np.float32]:
        """Return a row for each query: how much of the random walk is spent on each passage."""
        both = zip(seeds, self._base_scores(queries), strict=True)
        if self.graph.is_large:
            pushed = [self._push_scores(*own, of_base) for own, of_base in both]
            return np.array(pushed, np.float32).reshape(len(pushed), len(self.passages))
        visited = self._walk.probabilities([self._reset(*own, of_base) for own, of_base in both])
        return np.asarray(visited.T, np.float32, order="C")  # one query's scores lie together

    def _reset(self, seeds: NDArray[np.int64], similarity: NDArray[np.float64], of_base: NDArray[np.float32]) -> Reset:
        """Compute the reset weights: to entities, then to passages."""
        entities, weights = self.entity_weights(seeds, similarity)
        passages = self.passage_weight * min_max(of_base)
        nodes = np.concatenate([entities, np.arange(len(self.graph), len(self.graph) + len(passages))])
        return Reset(nodes, np.concatenate([weights, passages], dtype=np.float32))

    def _push_scores(
        self, seeds: NDArray[np.int64], similarity: NDArray[np.float64], of_base: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Compute how much of the walk is spent on each passage of a large graph. From entities and the best passages
        it is pushed. The others are reset by about the same: what comes of their mean, everywhere, is known beforehand.
        """
        entities, weights = self.entity_weights(seeds, similarity)
        reset = self.passage_weight * min_max(of_base).astype(np.float64)
        best = select_top(reset, _MAX_STARTS)
        mean = (reset.sum() - reset[best].sum()) / max(len(reset) - len(best), 1)
        nodes = np.concatenate([entities, best + len(self.graph)])
        walk = push(self._open, nodes, np.concatenate([weights, reset[best] - mean]), self.damping, _MIN_RESIDUAL)
        visits: NDArray[np.float64] = reset + mean * self._spread
        rows = walk.nodes - len(self.graph)
        visits[rows[rows >= 0]] += walk.visits[rows >= 0]
        together = self._open.visits_together(entities, weights, self.damping)
        together += self._open.visits_together(slice(len(self.graph), None), reset, self.damping)
        return visits / together

    @cached_property
    def _open(self) -> OpenGraph:
        return self.graph.open_graph(self.synonym_threshold, self.max_passages)

    @cached_property
    def _spread(self) -> NDArray[np.float64]:
        """What comes to each passage of a walk from all passages alike."""
        return self._open.spread_evenly(slice(len(self.graph), None), self.damping, self.tolerance)

    def entity_weights(
        self, seeds: NDArray[np.int64], similarity: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return entities and their reset weights: mean similarity of their seed triples per passage."""
        entities, places = np.unique(self.graph.triple_entities[seeds], return_inverse=True)
        total = np.bincount(places.ravel(), np.repeat(similarity, 2))
        weights = total / (np.bincount(places.ravel()) * self.graph.passage_counts[entities])
        best = select_top(weights, self.seed_entities)
        return entities[best], weights[best]

    def _base_scores(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each query; what the base does not list is as bad as its worst, and not above zero."""
        if self.base_k is None and isinstance(self.base, ScoringRetriever):
            return scores_many(self.base, queries)
        rankings = retrieve_many(self.base, queries, self.base_k or len(self.passages))
        scores = np.zeros((len(queries), len(self.passages)), np.float32)
        for row, ranking in zip(scores, rankings, strict=True):
            row[:] = min([0.0, *(hit.score for hit in ranking)])
            row[[self.passages.row(passage_id) for passage_id in ranking.ids]] = [hit.score for hit in ranking]
        return scores

    @cached_property
    def _walk(self) -> PersonalizedPageRank:
        """Entities first, then passages, which alone are ranked."""
        return PersonalizedPageRank(
            weights=self.graph.weights(self.synonym_threshold, with_passages=True, max_passages=self.max_passages),
            damping=self.damping,
            tolerance=self.tolerance,
            wanted_from=len(self.graph),
        )
