"""HippoRAG (Gutiérrez, Shu, Gu, Yasunaga & Su, NeurIPS 2024): PageRank over entities, from those of the query.

Offline: triples make an undirected graph of entities, and names that are alike are joined as synonyms (`EntityGraph`).
Online: a model names the entities of the query; each is linked to the entity of the index nearest to it by embedding;
PageRank is reset to the linked entities; a passage's score is the sum, over its entities, of their probability times
how often they occur in its triples.

Followed to the letter: these steps; damping 0.5; synonyms from cosine 0.8; the reset weight of an entity is its node
specificity, one over the number of passages it occurs in (``node_specificity``); an edge counts the triples that join
its ends, a synonym edge weighs its cosine.

What differs: weights of an edge that is both are added up. The paper links and scores names by ColBERTv2 or Contriever,
we by the index's embedder; names are one entity under the normal form of `triplebeam.text.names.entity_key`, and a name
the index has is linked to itself without a search, since nothing can be nearer. Its option to mix in dense scores where
linking is unsure is left out. Passages that the walk never reaches are not in the ranking. Where the query names
nothing or the graph has no entities the walk cannot start; the paper's code then starts it everywhere at once, which
ranks by popularity. Here the ``fallback`` retrieves instead, and the open account says so.

Ours: a hit shows why the walk came to it, the triples it set out from, as chains of one triple or two (`WalkChains`).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.generate.accounting import note_warning
from triplebeam.index.arrays.rows import list_distinct
from triplebeam.index.folder.entity_graph import TOLERANCE, EntityGraph, OpenGraph
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.synonyms import MIN_COSINE
from triplebeam.index.folder.tables import PassageTable, TripleGraph
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import Dense
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank, Reset, push
from triplebeam.retrieve.question_parts import VerbatimNames
from triplebeam.retrieve.retriever import OneOfMany, Retriever, check_fields
from triplebeam.retrieve.scores import WalkScores, add_chains, no_reasons, rank_positive
from triplebeam.text.names import entity_key
from triplebeam.triple import Chain

#: Chains per passage; more of them explain no more.
MAX_CHAINS = 3
#: Of an entity that occurs in thousands of triples, a few explain enough.
MAX_TRIPLES_PER_ENTITY = 20


class QueryEntities(Protocol):
    """Finds the entities of a query."""

    def entities(self, query: str) -> Sequence[str]:
        """Return the names of entities, each once; none where the query names nothing."""
        ...


@dataclass(frozen=True)
class VerbatimEntities:
    """Needs no model: entities of the index whose normal form occurs in the query's (`VerbatimNames`)."""

    graph: EntityGraph

    def entities(self, query: str) -> Sequence[str]:
        """Return the names as the index has them, the longest first."""
        return [self.graph.names[self.graph.numbers[key]] for key in self._known.within(query)]

    @cached_property
    def _known(self) -> VerbatimNames:
        return VerbatimNames(self.graph.numbers)


@dataclass(frozen=True)
class WalkChains:
    """Explains the hits of a walk."""

    triples: TripleGraph
    graph: EntityGraph

    def from_entities(self, entities: NDArray[np.int64], rows: Sequence[int]) -> dict[int, tuple[Chain, ...]]:
        """Return chains for a walk that started from entities: from their triples."""
        seeds = [self.triples.of_entity(entity)[:MAX_TRIPLES_PER_ENTITY] for entity in entities.tolist()]
        return self.from_triples(list_distinct(np.concatenate(seeds)), rows)

    def from_triples(self, seeds: NDArray[np.int64], rows: Sequence[int]) -> dict[int, tuple[Chain, ...]]:
        """Return for each passage its own seed triples or, where it has none, those that a triple of the passage goes
        on from, each with the first that does.
        """
        at_home: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        wanted = set(rows)
        for seed, row in zip(seeds.tolist(), self.graph.triple_passages[seeds].tolist(), strict=True):
            if row in wanted:
                at_home[row].append((seed,))
        found = at_home | self._find_leading([row for row in rows if row not in at_home], seeds)
        return {
            row: tuple(tuple(map(self.triples.triple, ids)) for ids in found.get(row, [])[:MAX_CHAINS]) for row in rows
        }

    def _find_leading(self, passages: Sequence[int], seeds: NDArray[np.int64]) -> dict[int, list[tuple[int, ...]]]:
        """Find, by passage, a seed and its first triple that shares an entity with it, in the order of the seeds."""
        own = self.triples.triples_at(passages)
        rows, ends_of_own = self.graph.triple_passages[own].tolist(), self.graph.triple_entities[own].tolist()
        shared = {entity for ends in ends_of_own for entity in ends}
        places: dict[int, list[int]] = defaultdict(list)
        for place, ends in enumerate(self.graph.triple_entities[seeds].tolist()):
            for entity in shared.intersection(ends):
                places[entity].append(place)
        first: dict[int, dict[int, int]] = defaultdict(dict)
        for triple_id, row, ends in zip(own.tolist(), rows, ends_of_own, strict=True):
            for place in (place for entity in ends if entity in places for place in places[entity]):
                first[row].setdefault(place, triple_id)
        return {
            row: [(int(seeds[place]), triple_id) for place, triple_id in sorted(found.items())]
            for row, found in first.items()
        }


#: In a large graph: the share of a walk that is worth a look at an edge (`triplebeam.retrieve.personalized_pagerank`).
_MIN_RESIDUAL = 1e-5


@dataclass(frozen=True, kw_only=True)
class EntityWalk(OneOfMany):
    """What HippoRAG and HippoRAG 2 share: passages by a walk over entities, with the chains of those that are shown."""

    graph: EntityGraph
    passages: PassageTable = field(repr=False)
    embedder: Embedder = field(repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "damping", "synonym_threshold")

    def find_many(self, queries: Sequence[str]) -> list[WalkScores | None]:
        """Run the random walk of each query; None where it has nowhere to start."""
        raise NotImplementedError

    def _fall_back(self, query: str, k: int) -> Ranking:
        raise NotImplementedError

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the k passages of highest score for each query."""
        return [
            add_chains(rank_positive(found.scores, self.passages.ids, k), self.passages, found.reasons)
            if found
            else self._fall_back(query, k)
            for query, found in zip(queries, self.find_many(queries), strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class HippoRAG(EntityWalk):
    """Passages by the entities that a walk from the query's entities visits most."""

    query_entities: QueryEntities
    fallback: Retriever | None
    """Retrieves where the walk has nowhere to start; without one nothing comes then."""
    chains: WalkChains | None = field(default=None, repr=False)
    """Where given, a hit shows triples that join it to the query's entities."""
    damping: float = 0.5
    node_specificity: bool = True
    synonym_threshold: float = MIN_COSINE
    max_passages: int | None = None
    """Entities of more passages than this have no edges; None, the paper's: all have."""
    tolerance: float = TOLERANCE

    @classmethod
    def over(cls, index: Snapshot, embedder: Embedder, query_entities: QueryEntities, **parameters: Any) -> "HippoRAG":
        """Build it over an index, with dense retrieval to fall back on unless another is given."""
        parameters.setdefault("fallback", Dense.over_passages(index, embedder))
        parameters.setdefault("chains", WalkChains(index.triples, index.entities))
        return cls(
            query_entities=query_entities,
            graph=index.entities,
            embedder=embedder,
            passages=index.passages,
            **parameters,
        )

    def find_many(self, queries: Sequence[str]) -> list[WalkScores | None]:
        """Run the random walk of each query; None where it has nowhere to start."""
        seeds = [self.link(self.query_entities.entities(query)) for query in queries]
        scores = iter(self.passage_scores([linked for linked in seeds if len(linked)]))
        explain = self.chains.from_entities if self.chains else lambda _, rows: no_reasons(rows)
        return [WalkScores(next(scores), partial(explain, linked)) if len(linked) else None for linked in seeds]

    def _fall_back(self, query: str, k: int) -> Ranking:
        if self.fallback is None:
            return Ranking()
        note_warning(f"no entity of {query!r} is in the graph: falls back to {type(self.fallback).__name__}")
        return self.fallback.retrieve(query, k)

    def link(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the entity nearest to each name, in their order, each once."""
        if not names or not len(self.graph):
            return np.zeros(0, np.int64)
        numbers = {name: self.graph.numbers.get(entity_key(name)) for name in names}
        unknown = [name for name, number in numbers.items() if number is None]
        if unknown:
            found = self.graph.vectors.nearest_many(self.embedder.embed(unknown), 1)
            numbers |= {name: int(rows[0]) for name, (rows, _) in zip(unknown, found, strict=True)}
        return np.array(list(dict.fromkeys(numbers.values())), np.int64)

    def passage_scores(self, seeds: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
        """Return a row of scores per query: the probabilities of a passage's entities, by occurrence."""
        counts = self.graph.passage_counts
        weights = [1 / counts[linked] if self.node_specificity else np.ones(len(linked)) for linked in seeds]
        resets = list(map(Reset, seeds, weights))
        if self.graph.is_large:
            pushed = [self._push_scores(reset) for reset in resets]
            return np.array(pushed, np.float32).reshape(len(resets), len(self.passages))
        scores = self.graph.sum_by_passage(self._walk.probabilities(resets))
        # In single precision, so that what differs by the order of a sum alone is a tie.
        return np.asarray(scores.T, np.float32, order="C")

    def _push_scores(self, reset: Reset) -> NDArray[np.floating]:
        """Compute the scores of one query, in a large graph."""
        walk = push(self._open, reset.nodes, reset.weights, self.damping, _MIN_RESIDUAL * float(reset.weights.sum()))
        visits = walk.visits
        visits[: len(reset.nodes)] += reset.weights
        return self.graph.sum_subset_by_passage(walk.nodes, visits / self._open.visits_together(*reset, self.damping))

    @cached_property
    def _open(self) -> OpenGraph:
        """Entities alone: passages have no edges here."""
        return self.graph.open_graph(self.synonym_threshold, self.max_passages, through_passages=False)

    @cached_property
    def _walk(self) -> PersonalizedPageRank:
        return PersonalizedPageRank(
            weights=self.graph.weights(self.synonym_threshold, max_passages=self.max_passages),
            damping=self.damping,
            tolerance=self.tolerance,
        )
