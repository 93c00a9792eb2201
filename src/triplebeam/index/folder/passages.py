"""The passages as readers see them: columns of the published generation, looked up by id or by row."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.arrays.array_set import ArraySet, read_numbers, read_rows, write_numbers, write_rows
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key, strip_qualifier
from triplebeam.where import Where

_COLUMNS = (
    *("passage_ids", "passage_texts", "passage_titles", "passage_documents", "passage_sections"),
    "passage_metadata",
)
#: Where it is stored, of a large index, which passage has an id, and which have a title.
_IDS, _TITLES = "id_lookup", "title_lookup"


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
