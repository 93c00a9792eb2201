"""What a generation keeps of its passages beside the search structures that were derived from it.

Who extracted the triples of a passage, the names and keywords that were found in it, and its links: with the texts and
the triples that is all that a generation is made from. So readers, who never open the store, can derive the structures
of some of the passages (`triplebeam.index.folder.view`).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.rows import renumber

if TYPE_CHECKING:
    from triplebeam.index.store.store import Store

_EXTRACTIONS, _LINKS = "passage_extractions", "passage_links"


@dataclass(frozen=True)
class Annotations:
    """By the rows of passages."""

    extractors: list[str] = field(repr=False)
    """Who extracted the triples of each passage; empty where nobody did yet, or it failed."""
    names: list[list[str]] = field(repr=False)
    """The names that the local extractor found in each passage, sorted, whether a triple has them or not."""
    keywords: list[list[str]] = field(repr=False)
    """The keywords that a model gave each passage."""
    links: NDArray[np.int64] = field(repr=False)
    """Pairs of passages of which the first links to the second, sorted."""

    @classmethod
    def of(cls, store: "Store", row_of: Mapping[int, int], rename: Callable[[str], str]) -> "Annotations":
        """Collect the annotations of all passages in the store, which has them by number; names and keywords are called
        what ``rename`` returns.
        """
        extractors = store.extractions.extractors()
        names = _group_by_row(store.extractions.names(), row_of, rename)
        keywords = _group_by_row(store.extractions.keywords(), row_of, rename)
        links = [(row_of[here], row_of[there]) for here, there in store.links()]
        return cls(
            extractors=[extractors.get(number, "") for number in row_of],
            names=[sorted(names.get(row, ())) for row in range(len(row_of))],
            keywords=[keywords.get(row, []) for row in range(len(row_of))],
            links=np.array(sorted(links), np.int64).reshape(-1, 2),
        )

    def write(self, arrays: ArraySet) -> None:
        """Write a column and an array."""
        rows = zip(self.extractors, self.names, self.keywords, strict=True)
        arrays.add_strings(_EXTRACTIONS, (json.dumps(row, ensure_ascii=False) for row in rows))
        arrays.add(_LINKS, self.links)


class AnnotationTable:
    """What `Annotations.write` wrote, by the rows of passages."""

    def __init__(self, arrays: ArraySet) -> None:
        self._extractions, self._links = arrays.strings(_EXTRACTIONS), arrays.array(_LINKS)

    def take_rows(self, rows: NDArray[np.int64]) -> Annotations:
        """Read those of some passages, which get the rows 0, 1, 2 and so on."""
        read = [json.loads(each) for each in self._extractions.take(rows)]
        return Annotations(
            extractors=[extractor for extractor, _, _ in read],
            names=[names for _, names, _ in read],
            keywords=[keywords for _, _, keywords in read],
            links=_renumber_links(self._links, renumber(rows, len(self._extractions))),
        )

    def take(self, arrays: ArraySet, rows: NDArray[np.int64]) -> None:
        """Write those of some passages."""
        arrays.add_strings(_EXTRACTIONS, self._extractions.take(rows))
        arrays.add(_LINKS, _renumber_links(self._links, renumber(rows, len(self._extractions))))


def list_pairs(by_row: Iterable[Iterable[str]]) -> list[tuple[int, str]]:
    """Return the rows of passages, each with one of its names or keywords."""
    return [(row, name) for row, names in enumerate(by_row) for name in names]


def _group_by_row(
    found: Iterable[tuple[int, str]], row_of: Mapping[int, int], rename: Callable[[str], str]
) -> dict[int, list[str]]:
    by_row: dict[int, dict[str, None]] = {}
    for number, name in found:
        by_row.setdefault(row_of[number], {})[rename(name)] = None
    return {row: list(names) for row, names in by_row.items()}


def _renumber_links(links: NDArray[np.int64], numbers: NDArray[np.int32]) -> NDArray[np.int64]:
    """Renumber the links between passages that have a number."""
    renumbered = numbers[links].astype(np.int64)
    return np.asarray(renumbered[(renumbered >= 0).all(axis=1)])
