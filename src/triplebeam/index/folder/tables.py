"""Passages and triples as readers see them: columns of the published generation.

Passages are looked up by id or by row. Triples are numbered in the order of their passages, so a passage's triples are
a range. From an entity to its triples leads an adjacency in compressed sparse rows:
``entity_triples[entity_starts[e] : entity_starts[e + 1]]``.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.arrays.array_set import (
    ArraySet,
    StringColumn,
    concatenate,
    read_numbers,
    read_rows,
    write_numbers,
    write_rows,
)
from triplebeam.index.arrays.rows import expand_rows, renumber
from triplebeam.index.folder.vectors import VectorIndex, select_top
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key, strip_qualifier
from triplebeam.triple import Triple
from triplebeam.where import Where

_COLUMNS = (
    *("passage_ids", "passage_texts", "passage_titles", "passage_documents", "passage_sections"),
    "passage_metadata",
)
#: Where it is stored, of a large index, which passage has an id, and which have a title.
_IDS, _TITLES = "id_lookup", "title_lookup"
_TRIPLE_COLUMNS = ("triple_subjects", "triple_predicates", "triple_objects")


def write_passages(arrays: ArraySet, passages: Sequence[Passage] | Iterable[Passage]) -> None:
    """Write the columns."""
    listed = list(passages)
    metadata = [json.dumps(dict(p.metadata), ensure_ascii=False) if p.metadata else "" for p in listed]
    rows = [(p.id, p.text, p.title, p.document_id, p.section, own) for p, own in zip(listed, metadata, strict=True)]
    for place, name in enumerate(_COLUMNS):
        arrays.add_strings(name, (row[place] for row in rows))
    places = np.array([(p.position, p.start, p.end) for p in listed], np.int64).reshape(-1, 3)
    arrays.add("passage_places", places)


def title_keys(title: str) -> list[str]:
    """Return the normal forms that a title is found by, "Mercury (planet)" also without it; none where it is empty."""
    return [key for key in dict.fromkeys((entity_key(title), entity_key(strip_qualifier(title)))) if key]


def collect_filter_fields(title: str, section: str, document_id: str, metadata: Mapping[str, str]) -> dict[str, str]:
    """Collect the fields that filters compare: metadata, and where these have no such field the title, the section and
    the id of its document.
    """
    own = {"title": title, "section": section, "document": document_id}
    return {name: value for name, value in own.items() if value} | dict(metadata)


class PassageTable:
    """Passages by id."""

    def __init__(self, arrays: ArraySet) -> None:
        self._arrays = arrays
        self._columns = {name: arrays.strings(name) for name in _COLUMNS}
        self._ids, self._texts, self.titles, self.documents, self.sections, self._metadata = self._columns.values()
        self._places: NDArray[np.int64] = arrays.array("passage_places")

    def __len__(self) -> int:
        return len(self._ids)

    def take(self, arrays: ArraySet, rows: NDArray[np.int64]) -> None:
        """Write the passages at these rows as a table of their own."""
        for name, column in self._columns.items():
            arrays.add_strings(name, column.take(rows))
        arrays.add("passage_places", self._places[rows])

    @property
    def has_sections(self) -> bool:
        """Is any passage in a section?"""
        return len(self.sections.body) > 0

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return read_numbers(self._arrays, _IDS) or {id_: row for row, id_ in enumerate(self._ids)}

    @cached_property
    def rows_by_title(self) -> Mapping[str, list[int]]:
        """The rows of each title, by its normal form; "Mercury (planet)" is found as "mercury" too."""
        if stored := read_rows(self._arrays, _TITLES):
            return stored
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self.titles):
            for key in title_keys(title):
                rows.setdefault(key, []).append(row)
        return rows

    def write_derived(self, arrays: ArraySet) -> None:
        """Store what would be derived at first use."""
        write_numbers(arrays, _IDS, self._rows)
        write_rows(arrays, _TITLES, self.rows_by_title)

    @cached_property
    def document_ids(self) -> dict[str, None]:
        """The ids of the documents, in their order."""
        return dict.fromkeys(self.documents)

    def __iter__(self) -> Iterator[Passage]:
        return map(self.read_row, range(len(self)))

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._rows

    def __getitem__(self, passage_id: str) -> Passage:
        return self.read_row(self.row(passage_id))

    def row(self, passage_id: str) -> int:
        """Return the row of a passage."""
        row = self._rows.get(passage_id)
        if row is None:
            raise BadInputError(
                f"there is no passage {passage_id!r} in this index: ids must be those that were indexed"
                f" (such as {self._ids[0]!r})."
                if len(self)
                else f"there is no passage {passage_id!r}: this index is empty."
            )
        return row

    def rows(self, passage_ids: Iterable[str]) -> list[int]:
        """Return the rows of these passages."""
        return list(map(self.row, passage_ids))

    def ids(self, rows: Iterable[int] | NDArray[np.int64]) -> list[str]:
        """Return the ids at these rows."""
        return [self._ids[int(row)] for row in rows]

    def of_document(self, document_id: str) -> list[Passage]:
        """Return the passages of a document, in their order."""
        rows = (row for row, document in enumerate(self.documents) if document == document_id)
        return sorted(map(self.read_row, rows), key=lambda passage: passage.position)

    def find_rows(self, where: Where) -> NDArray[np.int64]:
        """Find the rows of the passages for which a filter holds; there must be one."""
        fields = list(self.fields())
        known: dict[str, set[str]] = {}
        for each in fields:
            for name, value in each.items():
                known.setdefault(name, set()).add(value)
        where.check(known)
        rows = [row for row, each in enumerate(fields) if where.matches(each)]
        if not rows:
            meant = "".join(f" (did you mean {value!r}?)" for value in where.find_case_mismatches(known)[:1])
            raise BadInputError(
                f"no passage matches the filter {str(where)!r}{meant}: change a value or drop a condition."
            )
        return np.array(rows, np.int64)

    def fields(self) -> Iterator[dict[str, str]]:
        """Yield the fields that filters compare, of every passage."""
        columns = zip(self.titles, self.sections, self.documents, self._metadata, strict=True)
        decode = cache(json.loads)  # many passages have the same
        for title, section, document, metadata in columns:
            yield collect_filter_fields(title, section, document, decode(metadata) if metadata else {})

    def read_row(self, row: int) -> Passage:
        """Read the passage at a row."""
        id_, text, title, document_id, section, metadata = (column[row] for column in self._columns.values())
        position, start, end = self._places[row].tolist()
        fields = json.loads(metadata) if metadata else {}
        return Passage(id_, text, title, document_id, position, start, end, fields, section)


def write_triple_graph(
    arrays: ArraySet,
    triples: Sequence[Triple],
    passage_rows: Sequence[int],
    passages: int,
    names: Sequence[str],
    ends: NDArray[np.int64],
) -> None:
    """Write the columns and adjacencies of triples and of their entities, as `number_entities` numbers them."""
    for place, name in enumerate(_TRIPLE_COLUMNS):
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
        self._columns = [arrays.strings(name) for name in _TRIPLE_COLUMNS]
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
        for name, column in zip(_TRIPLE_COLUMNS, self._columns, strict=True):
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
