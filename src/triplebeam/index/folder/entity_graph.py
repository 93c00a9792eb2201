"""The entities of an index as a graph: which triples join them, which are synonyms, and which passages mention them.

Synonym links and vectors are stored. What the triples say already (which entities are joined, which
passages mention them) is derived from their columns at first use. Of a large graph that is stored, too, since it would
take the first question to an index of millions of triples half a minute.

`OpenGraph` is what walks are pushed over (`personalized_pagerank.push`): a walk reads the edges of the nodes it comes
to. What it needs to know of every node beforehand takes several passes over all edges. Of a large index that is stored,
for the walks of STORED_WALKS.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array

from triplebeam.errors import BadInputError
from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays, read_numbers, write_numbers
from triplebeam.index.arrays.rows import expand_rows
from triplebeam.index.content.entities import Topics
from triplebeam.index.folder.synonyms import MIN_COSINE, make_symmetric, read_choices
from triplebeam.index.folder.tables import TripleGraph
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.text.names import entity_key

_DAMPING = 0.5
#: How near to the end of a walk its result is, by default. A fusion looks at ranks alone: for the blend, four steps of
#: a walk instead of nine give the same passages but for one in 300.
TOLERANCE, BLENDED_TOLERANCE = 1e-5, 5e-3
#: An entity of more passages than this leads nowhere in particular: walks of the blend pass it by.
BLENDED_PASSAGES = 30
#: Walks of `hipporag2`, and of `blend` from triples and from names: the most passages of an entity, whether they go
#: through passages, as `EntityGraph.open_graph` has them, and the tolerance where they start everywhere alike.
STORED_WALKS: tuple[tuple[int | None, bool, float | None], ...] = (
    (None, True, TOLERANCE),
    (BLENDED_PASSAGES, True, BLENDED_TOLERANCE),
    (BLENDED_PASSAGES, False, None),
)
#: Where names that were found in a passage, and are in no triple of it, are stored.
MENTIONS = "passage_mentions"
#: Where other names of entities are stored, if there are any, and the entities they belong to.
_ALIASES, _ALIAS_ENTITIES = "entity_aliases", "entity_alias_numbers"
#: Where it is stored, of a large graph, which numbers names have, which passages entities occur in, what walks go over,
#: which topic each passage has, and which entities are titles.
_LOOKUP, _BY_ENTITY, _WALK = "entity_lookup", "entity_passages", "walk"
_TOPICS, _TITLED = "passage_topics", "titled_entities"
#: The number of triples from which on walks stay where they come to.
MIN_LARGE_GRAPH = 500_000
#: A walk that reached fewer than one entity in this many is sparse.
_MIN_SPARSITY = 32


def scale_edges(weights: "csr_array[np.float64]", factors: NDArray[np.float64]) -> "csr_array[np.float64]":
    """Multiply the weight of every edge by the factors of its two ends."""
    scaled = weights.copy()
    scaled.data = np.repeat(factors, np.diff(weights.indptr)) * weights.data * factors[weights.indices]
    return scaled


@dataclass(frozen=True)
class OpenGraph:
    """A symmetric matrix of weights, read where a walk comes; nodes that are not ``open`` have no edges."""

    weights: "csr_array[np.float64]" = field(repr=False)
    open: NDArray[np.bool_] = field(repr=False)
    arrays: ArraySet = field(default_factory=MemoryArrays, repr=False)
    """Where it is stored what is derived, if it is."""
    name: str = "walk"
    """What the names of these arrays begin with."""

    @cached_property
    def leaving(self) -> NDArray[np.float64]:
        """The weights of a node's edges together."""
        if (stored := self.arrays.find(f"{self.name}_leaving")) is not None:
            return stored
        return np.asarray(np.where(self.open, self.weights @ self.open.astype(np.float64), 0.0))

    def edges(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the edges of open nodes: the position of the node, the other end, and the weight of each."""
        positions, places = expand_rows(self.weights.indptr, nodes)
        ends = self.weights.indices[places]
        there = self.open[ends]
        return positions[there], ends[there], self.weights.data[places[there]]

    def visits_together(self, nodes: slice | NDArray[np.int64], start: NDArray[np.floating], damping: float) -> float:
        """Compute visits of all nodes, the start included, in an exact random walk. Nodes without edges absorb."""
        return float((start / np.where(self.leaving[nodes] > 0, 1 - damping, 1)).sum())

    def spread_evenly(self, nodes: slice, damping: float, tolerance: float) -> NDArray[np.float64]:
        """Compute visits of these nodes, by way of edges, in a random walk that starts with 1 at every one of them.

        What `write` stored is taken as it is: ask for the nodes that were given there.
        """
        if (stored := self.arrays.find(f"{self.name}_spread_{damping}_{tolerance}")) is not None:
            return stored
        arriving, visits = np.zeros(len(self.open)), np.zeros(len(self.open))
        arriving[nodes] = 1
        shares = np.divide(damping, self.leaving, out=np.zeros_like(visits), where=self.leaving > 0)
        for _ in range(math.ceil(math.log(tolerance) / math.log(damping)) if damping else 0):
            arriving = np.where(self.open, np.asarray(self.weights @ (arriving * shares)), 0.0)
            visits += arriving
        return visits[nodes]

    def write(self, arrays: ArraySet, nodes: slice, tolerance: float | None) -> None:
        """Store what is derived, for walks from all these nodes alike where there is a tolerance."""
        arrays.add(f"{self.name}_leaving", self.leaving)
        if tolerance is not None:
            spread = self.spread_evenly(nodes, _DAMPING, tolerance)
            arrays.add(f"{self.name}_spread_{_DAMPING}_{tolerance}", spread)


@dataclass(frozen=True, kw_only=True)
class EntityGraph:
    """Entities by number, as `triplebeam.index.content.entities.number_entities` numbers them."""

    names: Sequence[str] = field(repr=False)
    vectors: VectorIndex = field(repr=False)
    triple_entities: NDArray[np.int64] = field(repr=False)
    """Subject and object of every triple."""
    triple_passages: NDArray[np.int64] = field(repr=False)
    """The passage of every triple, by row."""
    mentions: NDArray[np.int64] = field(repr=False)
    """Pairs of passage, by row, and entity: names found in a passage in which no triple has them."""
    chosen: "csr_array[np.float32]" = field(repr=False)
    """Whom each entity chose as its synonyms."""
    passages: int
    counted: NDArray[np.int64] | None = field(default=None, repr=False)
    """How many passages mention each entity in the index that this graph is a part of, if it is one."""
    aliases: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Entities by the normal form of other names, which corrections merged into theirs."""
    large: int = MIN_LARGE_GRAPH
    """How many triples make a large graph."""
    arrays: ArraySet = field(default_factory=MemoryArrays, repr=False)
    """Where it is stored what is derived, if it is."""

    _graphs: "dict[tuple[float, bool, int | None], csr_array[np.float64]]" = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Graphs built already: retrievers over one index share them."""

    @classmethod
    def open(cls, arrays: ArraySet, triples: TripleGraph) -> "EntityGraph":
        """Open the graph of a generation, whose triples are open already."""
        aliases: dict[str, int] = {}
        if (entities := arrays.find(_ALIAS_ENTITIES)) is not None:
            aliases = dict(zip(map(entity_key, arrays.strings(_ALIASES)), entities.tolist(), strict=True))
        return cls(
            names=triples.entity_names,
            vectors=VectorIndex(arrays, "entity_vectors"),
            triple_entities=triples.triple_entities,
            triple_passages=triples.triple_passages,
            mentions=arrays.array(MENTIONS),
            chosen=read_choices(arrays, len(triples.entity_names)),
            passages=len(triples.passages),
            aliases=aliases,
            arrays=arrays,
        )

    def write_derived(self, arrays: ArraySet, rows_by_title: Mapping[str, Sequence[int]]) -> None:
        """Store what would be derived at first use."""
        arrays.add(_TITLED, self.find_titled(rows_by_title))
        write_numbers(arrays, _LOOKUP, self.numbers)
        for name, matrix in ((_BY_ENTITY, self.passages_by_entity), (_WALK, self.weights(with_passages=True))):
            arrays.add_matrix(name, matrix.data, matrix.indices, matrix.indptr)
        arrays.add(_TOPICS, self.topics.of_passages)
        for max_passages, through_passages, tolerance in STORED_WALKS:
            graph = self.open_graph(MIN_COSINE, max_passages, through_passages=through_passages)
            graph.write(arrays, slice(len(self), None), tolerance)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each entity, by the normal form of each of its names."""
        stored = read_numbers(self.arrays, _LOOKUP)
        return stored or {**self.aliases, **{entity_key(name): number for number, name in enumerate(self.names)}}

    def find_titled(self, rows_by_title: Mapping[str, Sequence[int]]) -> NDArray[np.int64]:
        """Find entities that are titles of passages: the entity, a row, and how many passages have this title."""
        if (stored := self.arrays.find(_TITLED)) is not None:
            return stored
        found = [
            (self.numbers[title], row, len(rows))
            for title, rows in rows_by_title.items()
            if title in self.numbers
            for row in rows
        ]
        return np.array(found, np.int64).reshape(-1, 3)

    @cached_property
    def synonyms(self) -> "csr_array[np.float32]":
        """A symmetric matrix of cosines, empty but for synonyms."""
        return make_symmetric(self.chosen)

    @cached_property
    def incidence(self) -> "csr_array[np.float64]":
        """Passages by entities: how often an entity occurs in the triples of a passage, as subject or object; once
        where it is only named there.
        """
        entities = np.append(self.triple_entities.ravel(), self.mentions[:, 1])
        rows = np.append(np.repeat(self.triple_passages, 2), self.mentions[:, 0])
        # Built from coordinates: repeated entries are added up.
        return csr_array((np.ones(len(entities)), (rows, entities)), shape=(self.passages, len(self)))

    def sum_by_passage(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Sum non-negative values of entities, in columns, for each passage, as often as they occur there.
        Where most are 0, as in a walk that stayed near, the passages of the others alone are looked at.
        """
        # A product with ones: NumPy is many times slower to ask of each short row whether it has `any`.
        reached = np.flatnonzero(values @ np.ones(values.shape[1], values.dtype) > 0)
        if _MIN_SPARSITY * len(reached) > len(self):
            return np.asarray(self.incidence @ values)
        return self.sum_subset_by_passage(reached, values[reached])

    def sum_subset_by_passage(self, entities: NDArray[np.int64], values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Sum the values of some entities for each passage, where all others have 0."""
        return np.asarray(self.passages_by_entity[entities].T @ values)

    @cached_property
    def passages_by_entity(self) -> "csr_array[np.float64]":
        """Entities by passages: the incidence, from the other side."""
        stored = self._load_stored(_BY_ENTITY, (len(self), self.passages))
        return csr_array(self.incidence.T) if stored is None else stored

    def list_named_entities(self, row: int) -> list[int]:
        """List the entities that are named in a passage and in no triple of it."""
        start, end = np.searchsorted(self.mentions[:, 0], [row, row + 1])
        entities: list[int] = self.mentions[start:end, 1].tolist()
        return entities

    @cached_property
    def passage_counts(self) -> NDArray[np.int64]:
        """How many passages mention each entity."""
        if self.counted is not None:
            return self.counted
        return np.diff(self.passages_by_entity.indptr).astype(np.int64)

    @cached_property
    def topics(self) -> Topics:
        """The topic of every passage."""
        topics = Topics(self.triple_entities, self.triple_passages, self.passages, len(self))
        if (stored := self.arrays.find(_TOPICS)) is not None:
            topics.__dict__["of_passages"] = stored
        return topics

    def weights(
        self, synonym_threshold: float = MIN_COSINE, *, with_passages: bool = False, max_passages: int | None = None
    ) -> "csr_array[np.float64]":
        """Return the undirected graph: two entities are joined by the number of their triples, plus their cosine where
        they are synonyms. A triple of an entity with itself joins nothing.

        With passages, they are nodes behind the entities, each joined by 1 to those it mentions. An entity that occurs
        in more than ``max_passages`` is a hub, through which one gets anywhere: it has no edges then.
        """
        key = synonym_threshold, with_passages, max_passages
        if key not in self._graphs:
            self._graphs[key] = self._build_weights(*key)
        return self._graphs[key]

    @property
    def is_large(self) -> bool:
        """Whether walks over it are better made where they come to than over the whole (`push`)."""
        return len(self.triple_entities) >= self.large

    def open_graph(
        self, synonym_threshold: float, max_passages: int | None, *, through_passages: bool = True
    ) -> OpenGraph:
        """Return the graph with passages, without edges of entities that occur in more of these, and without those of
        passages, too, where walks do not go through them.
        """
        hubs = self.passage_counts > (self.passages if max_passages is None else max_passages)
        nodes = np.append(~hubs, np.full(self.passages, through_passages))
        name = f"{_WALK}_{synonym_threshold}_{max_passages}_{'passages' if through_passages else 'entities'}"
        return OpenGraph(self.weights(synonym_threshold, with_passages=True), nodes, self.arrays, name)

    def _build_weights(
        self, synonym_threshold: float, with_passages: bool, max_passages: int | None
    ) -> "csr_array[np.float64]":
        if max_passages is not None:
            whole = self.weights(synonym_threshold, with_passages=with_passages)
            kept = np.ones(whole.shape[0])
            kept[: len(self)] = self.passage_counts <= max_passages
            pruned = scale_edges(whole, kept)
            pruned.eliminate_zeros()
            return pruned
        if synonym_threshold < MIN_COSINE:
            raise BadInputError(
                f"synonym_threshold must be at least {MIN_COSINE}, got {synonym_threshold}: no links are stored below."
            )
        if not with_passages:
            one, two = self.triple_entities[self.triple_entities[:, 0] != self.triple_entities[:, 1]].T
            joined = csr_array((np.ones(len(one)), (one, two)), shape=(len(self), len(self)))
            return csr_array(joined + joined.T + self.synonyms.multiply(self.synonyms >= synonym_threshold))
        nodes = len(self) + self.passages
        if synonym_threshold == MIN_COSINE and (stored := self._load_stored(_WALK, (nodes, nodes))) is not None:
            return stored
        mentions = (self.incidence > 0).astype(np.float64)
        among = self.weights(synonym_threshold)
        return block_array([[among, mentions.T], [mentions, None]], format="csr", dtype=np.float64)

    def _load_stored(self, name: str, shape: tuple[int, int]) -> "csr_array[np.float64] | None":
        try:
            return self.arrays.matrix(name, shape)
        except FileNotFoundError:  # not stored, or removed by the next generation
            return None


def write_aliases(arrays: ArraySet, aliases: Mapping[str, str], numbers: Mapping[str, int]) -> None:
    """Write the other names of entities that the index has; ``numbers`` are by normal form."""
    entities = {alias: numbers[key] for alias, name in aliases.items() if (key := entity_key(name)) in numbers}
    if entities:
        arrays.add_strings(_ALIASES, entities)
        arrays.add(_ALIAS_ENTITIES, np.array(list(entities.values()), np.int64))
