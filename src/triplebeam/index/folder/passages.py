"""The passages as readers see them: columns of the published generation, looked up by id or by row."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.arrays.columns import StringColumn, read_array, write_strings
from triplebeam.index.arrays.names import read_numbers, read_rows, write_numbers, write_rows
from triplebeam.passage import Passage
from triplebeam.triple import entity_key

#: Where it is stored, of a large index, which passage has an id, and which have a title.
_IDS, _TITLES = "id_lookup", "title_lookup"
#: What distinguishes two pages of one name, as in "Mercury (planet)"; texts leave it out.
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")


def write_passages(folder: Path, passages: Sequence[Passage] | Iterable[Passage]) -> None:
    """Write the columns."""
    listed = list(passages)
    write_strings(folder / "passage_ids", (p.id for p in listed))
    write_strings(folder / "passage_texts", (p.text for p in listed))
    write_strings(folder / "passage_titles", (p.title for p in listed))
    write_strings(folder / "passage_documents", (p.document_id for p in listed))
    write_strings(folder / "passage_sections", (p.section for p in listed))
    write_strings(
        folder / "passage_metadata",
        (json.dumps(dict(p.metadata), ensure_ascii=False) if p.metadata else "" for p in listed),
    )
    places = np.array([(p.position, p.start, p.end) for p in listed], np.int64).reshape(-1, 3)
    np.save(folder / "passage_places.npy", places)


def title_keys(title: str) -> list[str]:
    """The normal forms that a title is found by; none where it is empty."""
    return [key for key in dict.fromkeys((entity_key(title), entity_key(_QUALIFIER.sub("", title)))) if key]


def compared_fields(title: str, section: str, document_id: str, metadata: Mapping[str, str]) -> dict[str, str]:
    """What filters compare: the metadata of a passage, and where these have no such field its title, its section and
    the id of its document.
    """
    own = {"title": title, "section": section, "document": document_id}
    return {name: value for name, value in own.items() if value} | dict(metadata)


class PassageTable:
    """Passages by id."""

    def __init__(self, folder: Path, *, in_memory: bool = False) -> None:
        self._folder = folder
        self._ids = StringColumn(folder / "passage_ids", in_memory=in_memory)
        self._texts = StringColumn(folder / "passage_texts", in_memory=in_memory)
        self.titles = StringColumn(folder / "passage_titles", in_memory=in_memory)
        self.documents = StringColumn(folder / "passage_documents", in_memory=in_memory)
        self._sections = StringColumn(folder / "passage_sections", in_memory=in_memory)
        self._metadata = StringColumn(folder / "passage_metadata", in_memory=in_memory)
        self._places: NDArray[np.int64] = read_array(folder / "passage_places.npy", in_memory=in_memory)

    def __len__(self) -> int:
        return len(self._ids)

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return read_numbers(self._folder / _IDS) or {id_: row for row, id_ in enumerate(self._ids)}

    @cached_property
    def rows_by_title(self) -> Mapping[str, list[int]]:
        """The rows of each title, by its normal form; "Mercury (planet)" is found as "mercury" too."""
        if stored := read_rows(self._folder / _TITLES):
            return stored
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self.titles):
            for key in title_keys(title):
                rows.setdefault(key, []).append(row)
        return rows

    def write_derived(self, folder: Path) -> None:
        """Store what would be derived at first use."""
        write_numbers(folder / _IDS, self._rows)
        write_rows(folder / _TITLES, self.rows_by_title)

    @cached_property
    def document_ids(self) -> dict[str, None]:
        """The ids of the documents, in their order."""
        return dict.fromkeys(self.documents)

    def __iter__(self) -> Iterator[Passage]:
        return map(self.at, range(len(self)))

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._rows

    def __getitem__(self, passage_id: str) -> Passage:
        return self.at(self.row(passage_id))

    def row(self, passage_id: str) -> int:
        """The row of a passage."""
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
        """The rows of these passages."""
        return list(map(self.row, passage_ids))

    def ids(self, rows: Iterable[int] | NDArray[np.int64]) -> list[str]:
        """The ids at these rows."""
        return [self._ids[int(row)] for row in rows]

    def of_document(self, document_id: str) -> list[Passage]:
        """The passages of a document, in their order."""
        rows = (row for row, document in enumerate(self.documents) if document == document_id)
        return sorted(map(self.at, rows), key=lambda passage: passage.position)

    def fields(self) -> Iterator[dict[str, str]]:
        """What filters compare, of every passage."""
        columns = zip(self.titles, self._sections, self.documents, self._metadata, strict=True)
        for title, section, document, metadata in columns:
            yield compared_fields(title, section, document, json.loads(metadata) if metadata else {})

    def at(self, row: int) -> Passage:
        """The passage at a row."""
        position, start, end = (int(place) for place in self._places[row])
        metadata = self._metadata[row]
        return Passage(
            self._ids[row],
            self._texts[row],
            self.titles[row],
            self.documents[row],
            position,
            start,
            end,
            json.loads(metadata) if metadata else {},
            self._sections[row],
        )
