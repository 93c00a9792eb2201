"""The triple store of an index folder.

Triples are numbered in the order of their passages, so a passage's triples are a range. From an entity to its triples
leads an adjacency in compressed sparse rows: ``entity_triples[entity_starts[e] : entity_starts[e + 1]]``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet, StringColumn, concatenate
from triplebeam.index.arrays.rows import expand_rows, renumber
from triplebeam.index.folder.passages import PassageTable
from triplebeam.index.folder.vectors import VectorIndex, select_top
from triplebeam.triple import Triple

_COLUMNS = ("triple_subjects", "triple_predicates", "triple_objects")


def write_triple_graph(
    arrays: ArraySet,
    triples: Sequence[Triple],
    passage_rows: Sequence[int],
    passages: int,
    names: Sequence[str],
    ends: NDArray[np.int64],
) -> None:
    """Write the columns and adjacencies of triples and of their entities, as `number_entities` numbers them."""
    for place, name in enumerate(_COLUMNS):
        arrays.add_strings(name, (triple[place] for triple in triples))
    _write_adjacencies(arrays, np.array(passage_rows, np.int64), passages, names, ends)


def _write_adjacencies(
    arrays: ArraySet, passage_rows: NDArray[np.int64], passages: int, names: Sequence[str], ends: NDArray[np.int64]
) -> None:
    arrays.add_strings("entity_names", names)
    arrays.add("triple_entities", ends)
    arrays.add("triple_passages", passage_rows)
    arrays.add("passage_triple_starts", np.searchsorted(passage_rows, np.arange(passages + 1)))
    # Entities by triples, each once even where it is both subject and object.
    size = max(len(ends), 1)
    pairs = np.unique(ends.ravel() * size + np.repeat(np.arange(len(ends)), 2))
    arrays.add("entity_starts", np.searchsorted(pairs, np.arange(len(names) + 1) * size))
    arrays.add("entity_triples", pairs % size)


class TripleGraph:
    """`TripleStore` over arrays."""

    def __init__(self, arrays: ArraySet, passages: PassageTable) -> None:
        self.passages = passages
        self._columns = [arrays.strings(name) for name in _COLUMNS]
        self._subjects, self._predicates, self._objects = self._columns
        self.entity_names = arrays.strings("entity_names")
        self.vector_index = VectorIndex(arrays, "triple_vectors")
        self.triple_entities: NDArray[np.int64] = arrays.array("triple_entities")
        self.triple_passages: NDArray[np.int64] = arrays.array("triple_passages")
        self._passage_starts: NDArray[np.int64] = arrays.array("passage_triple_starts")
        self._entity_starts: NDArray[np.int64] = arrays.array("entity_starts")
        self._entity_triples: NDArray[np.int64] = arrays.array("entity_triples")

    def __len__(self) -> int:
        return len(self._subjects)

    def triple(self, triple_id: int) -> Triple:
        """Return the triple itself."""
        row = int(triple_id)
        return Triple(self._subjects[row], self._predicates[row], self._objects[row])

    def take(self, arrays: ArraySet, rows: NDArray[np.int64], names: Sequence[str], ends: NDArray[np.int64]) -> None:
        """Write the triples of the passages at these rows, which are in rising order, as a graph of their own.

        ``names`` and ``ends`` are their entities, as `number_visible` numbers them.
        """
        triples = self.triples_at(rows)
        for name, column in zip(_COLUMNS, self._columns, strict=True):
            arrays.add_strings(name, column.take(triples))
        _write_adjacencies(arrays, np.searchsorted(rows, self.triple_passages[triples]), len(rows), names, ends)

    def number_visible(self, triples: NDArray[np.int64]) -> tuple[NDArray[np.int64], StringColumn, NDArray[np.int64]]:
        """Assign numbers to the entities of some triples as `number_entities` would: the number that each has here, the
        name that the first of these triples has for it, and the two ends of each triple.
        """
        ends = self.triple_entities[triples]
        first = np.full(len(self.entity_names), -1)
        first[ends.ravel()[::-1]] = np.arange(ends.size)[::-1]  # of several, the last assigned stays: the first end
        known = np.flatnonzero(first >= 0)
        known = known[np.argsort(first[known])]
        found, sides = np.divmod(first[known], 2)
        by_side = np.argsort(sides, kind="stable")
        subjects, objects = np.split(triples[found[by_side]], [np.count_nonzero(sides == 0)])
        names = concatenate(self._subjects.take(subjects), self._objects.take(objects)).take(np.argsort(by_side))
        return known, names, renumber(known, len(first)).astype(np.int64)[ends]

    def get_ends(self, triple_ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Subject and object of each triple, by number: a row of two each."""
        return np.asarray(self.triple_entities[np.asarray(triple_ids, np.int64)])

    def triples_of(self, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the triples of these passages."""
        return self.triples_at([self.passages.row(passage_id) for passage_id in passage_ids])

    def triples_at(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the triples of the passages at these rows."""
        return expand_rows(self._passage_starts, np.asarray(rows, np.int64))[1]

    def passage_of(self, triple_ids: Sequence[int] | NDArray[np.int64]) -> list[str]:
        """Return the passage of each triple."""
        return self.passages.ids(self.triple_passages[np.asarray(triple_ids, np.int64)])

    def vectors(self, triple_ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the stored unit vector of each triple."""
        return self.vector_index.get_vectors(np.asarray(triple_ids, np.int64))

    def nearest(self, vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Find for each vector the k triples nearest to it, best first."""
        rows = [found for found, _ in self.vector_index.nearest_many(vectors, k)]
        return np.array(rows, np.int64).reshape(len(rows), max(0, min(k, len(self))))

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find the k triples nearest to one vector, with their cosines."""
        return self.vector_index.nearest(vector, k)

    def neighbours(
        self, triple_ids: Sequence[int] | NDArray[np.int64], query: NDArray[np.float32], limit: int
    ) -> list[NDArray[np.int64]]:
        """Find the most similar to the query among the triples that share an entity with each of these."""
        around = []
        for triple_id in triple_ids:
            shared = np.unique(np.concatenate([self.of_entity(int(each)) for each in self.triple_entities[triple_id]]))
            around.append(shared[shared != triple_id])
        # One gather for all: beams often share a hub.
        pool = np.unique(np.concatenate(around)) if around else np.zeros(0, np.int64)
        similarity = np.asarray(self.vector_index.get_vectors(pool) @ query)
        return [ids[select_top(similarity[np.searchsorted(pool, ids)], limit)] for ids in around]

    def of_entity(self, entity: int) -> NDArray[np.int64]:
        """Return the triples with this entity, by number, as subject or object, in ascending order."""
        return self._entity_triples[self._entity_starts[entity] : self._entity_starts[entity + 1]]
