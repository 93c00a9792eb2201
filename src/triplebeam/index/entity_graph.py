"""The entities of an index as a graph: which triples join them, which are synonyms, and which passages mention them.

Synonym links and vectors are stored. What the triples say already (which entities are joined, which
passages mention them) is derived from their columns at first use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array, diags_array

from triplebeam.errors import BadInputError
from triplebeam.index.columns import StringColumn, loaded, mapped, write_strings
from triplebeam.index.ownership import Topics
from triplebeam.index.synonyms import THRESHOLD, both_ways, read_choices
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.index.vectors import VectorIndex
from triplebeam.triple import entity_key

#: Where names that were found in a passage, and are in no triple of it, are stored.
MENTIONS = "passage_mentions.npy"
#: Where other names of entities are stored, if there are any, and the entities they belong to.
_ALIASES, _ALIAS_ENTITIES = "entity_aliases", "entity_alias_numbers.npy"
#: Entities are few where they are no more than one in so many.
_FEW = 32


@dataclass(frozen=True, kw_only=True)
class EntityGraph:
    """Entities by number, as `triplebeam.index.triple_graph.number_entities` numbers them."""

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
    _graphs: "dict[tuple[float, bool, int | None], csr_array[np.float64]]" = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Graphs built already: retrievers over one index share them."""

    @classmethod
    def open(cls, folder: Path, triples: TripleGraph) -> "EntityGraph":
        """The graph of a generation; its triples are open already."""
        return cls(
            names=triples.entity_names,
            vectors=VectorIndex(folder / "entity_vectors.npy"),
            triple_entities=triples.triple_entities,
            triple_passages=triples.triple_passages,
            mentions=mapped(folder / MENTIONS),
            chosen=read_choices(folder, len(triples.entity_names)),
            passages=len(triples.passages),
            aliases=_read_aliases(folder),
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each entity, by the normal form of each of its names."""
        return {**self.aliases, **{entity_key(name): number for number, name in enumerate(self.names)}}

    def other_names(self) -> dict[str, str]:
        """Names that corrections merged into others, by their normal forms."""
        return {alias: self.names[number] for alias, number in self.aliases.items()}

    @cached_property
    def synonyms(self) -> "csr_array[np.float32]":
        """A symmetric matrix of cosines, empty but for synonyms."""
        return both_ways(self.chosen)

    @cached_property
    def incidence(self) -> "csr_array[np.float64]":
        """Passages by entities: how often an entity occurs in the triples of a passage, as subject or object; once
        where it is only named there.
        """
        entities = np.append(self.triple_entities.ravel(), self.mentions[:, 1])
        rows = np.append(np.repeat(self.triple_passages, 2), self.mentions[:, 0])
        # Built from coordinates: repeated entries are added up.
        return csr_array((np.ones(len(entities)), (rows, entities)), shape=(self.passages, len(self)))

    def at_passages(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Values of entities, in columns, added up for each passage, as often as they occur there. Where most are 0, as
        in a walk that stayed near, the passages of the others alone are looked at.
        """
        reached = np.flatnonzero(values.any(axis=1))
        if _FEW * len(reached) > len(self):
            return np.asarray(self.incidence @ values)
        return np.asarray(self._passages_by_entity[reached].T @ values[reached])

    @cached_property
    def _passages_by_entity(self) -> "csr_array[np.float64]":
        return csr_array(self.incidence.T)

    def named_in(self, row: int) -> list[int]:
        """The entities that are named in a passage and in no triple of it."""
        start, end = np.searchsorted(self.mentions[:, 0], [row, row + 1])
        entities: list[int] = self.mentions[start:end, 1].tolist()
        return entities

    @cached_property
    def passage_counts(self) -> NDArray[np.int64]:
        """How many passages mention each entity."""
        if self.counted is not None:
            return self.counted
        return np.bincount(self.incidence.indices, minlength=len(self)).astype(np.int64)

    @cached_property
    def topics(self) -> Topics:
        """The topic of every passage."""
        return Topics(self.triple_entities, self.triple_passages, self.passages, len(self))

    def weights(
        self, synonym_threshold: float = THRESHOLD, *, with_passages: bool = False, max_passages: int | None = None
    ) -> "csr_array[np.float64]":
        """The undirected graph: two entities are joined by the number of their triples, plus their cosine where they
        are synonyms. A triple of an entity with itself joins nothing.

        With passages, they are nodes behind the entities, each joined by 1 to those it mentions. An entity that occurs
        in more than ``max_passages`` is a hub, through which one gets anywhere: it has no edges then.
        """
        key = synonym_threshold, with_passages, max_passages
        if key not in self._graphs:
            self._graphs[key] = self._built(*key)
        return self._graphs[key]

    def _built(
        self, synonym_threshold: float, with_passages: bool, max_passages: int | None
    ) -> "csr_array[np.float64]":
        if max_passages is not None:
            whole = self.weights(synonym_threshold, with_passages=with_passages)
            kept = np.ones(whole.shape[0])
            kept[: len(self)] = self.passage_counts <= max_passages
            pruned = csr_array(diags_array(kept) @ whole @ diags_array(kept))
            pruned.eliminate_zeros()
            return pruned
        if not with_passages:
            return self._among_entities(synonym_threshold)
        mentions = (self.incidence > 0).astype(np.float64)
        among = self.weights(synonym_threshold)
        return block_array([[among, mentions.T], [mentions, None]], format="csr", dtype=np.float64)

    def _among_entities(self, synonym_threshold: float) -> "csr_array[np.float64]":
        if synonym_threshold < THRESHOLD:
            raise BadInputError(
                f"a synonym threshold of {synonym_threshold} is below {THRESHOLD}, the least for which an index keeps"
                f" links: choose {THRESHOLD} or more."
            )
        one, two = self.triple_entities[self.triple_entities[:, 0] != self.triple_entities[:, 1]].T
        joined = csr_array((np.ones(len(one)), (one, two)), shape=(len(self), len(self)))
        near = self.synonyms >= synonym_threshold
        return csr_array(joined + joined.T + self.synonyms.multiply(near))


def write_aliases(folder: Path, aliases: Mapping[str, str], numbers: Mapping[str, int]) -> None:
    """Write other names of entities, as far as the index has these. ``numbers`` are by normal form."""
    entities = {alias: numbers[key] for alias, name in aliases.items() if (key := entity_key(name)) in numbers}
    if entities:
        write_strings(folder / _ALIASES, entities)
        np.save(folder / _ALIAS_ENTITIES, np.array(list(entities.values()), np.int64))


def _read_aliases(folder: Path) -> dict[str, int]:
    if not (folder / _ALIAS_ENTITIES).is_file():
        return {}
    names, entities = StringColumn(folder / _ALIASES), loaded(folder / _ALIAS_ENTITIES).tolist()
    return dict(zip(map(entity_key, names), entities, strict=True))
