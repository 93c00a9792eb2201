"""Synonym links: entities whose names are so alike that they may mean the same (HippoRAG's synonymy edges).

Two entities are linked where the cosine of their names' vectors is at least 0.8. An entity chooses its 100 nearest at
the most, and a link that either end chose holds for both. A name of fewer than three letters or digits has none: the
vectors of such names say little. (HippoRAG counts Latin letters alone, and lets such a name be chosen by others.)

Up to ``EXACT_UP_TO`` entities every pair is compared, a square of the product at a time. That is quadratic, so above it
the entities are sorted into about 2√n cells around centroids (faiss, inverted lists), and each is compared with those
of the 16 cells nearest to it: n√n comparisons. Of pairs as near as 0.8 that misses few, since both ends lie close to
the same centroids.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from triplebeam.index.columns import mapped
from triplebeam.progress import Progress, silent

THRESHOLD = 0.8
AT_MOST = 100
EXACT_UP_TO = 200_000
_SHORTEST = 3
#: Rows and columns of a square: 64 MiB of cosines.
_BLOCK = 4096
#: Links waiting to be cut down to the nearest: names of one kind, such as dates, may all be near each other.
_MOST_WAITING = 20_000_000
_CELLS_SEARCHED = 16
_EXAMPLES_A_CELL = 64


class Links(NamedTuple):
    """Who chose whom, and how near they are."""

    chooser: NDArray[np.int64]
    chosen: NDArray[np.int64]
    similarity: NDArray[np.float32]

    def at(self, where: NDArray[np.bool_] | NDArray[np.int64]) -> "Links":
        """Some of them."""
        return Links(self.chooser[where], self.chosen[where], self.similarity[where])


def write_synonyms(folder: Path, names: Sequence[str], progress: Progress = silent) -> None:
    """Link the entities of a generation whose vectors are written: compressed sparse rows, in three files."""
    links = link_synonyms(names, mapped(folder / "entity_vectors.npy"), progress=progress)
    np.save(folder / "synonym_starts.npy", links.indptr)
    np.save(folder / "synonym_entities.npy", links.indices)
    np.save(folder / "synonym_similarities.npy", links.data)


def read_synonyms(folder: Path, entities: int) -> "csr_array[np.float32]":
    """The links of a generation, memory-mapped."""
    files = [f"synonym_{part}.npy" for part in ("similarities", "entities", "starts")]
    data, indices, starts = (mapped(folder / file) for file in files)
    return csr_array((data, indices, starts), shape=(entities, entities))


def link_synonyms(
    names: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    at_most: int = AT_MOST,
    exact_up_to: int = EXACT_UP_TO,
    progress: Progress = silent,
) -> "csr_array[np.float32]":
    """A symmetric matrix of cosines, empty but for synonyms."""
    entities = len(names)
    telling = np.array([sum(map(str.isalnum, name)) >= _SHORTEST for name in names], bool)
    few = entities <= exact_up_to
    batches = _all_pairs(vectors, progress) if few else _pairs_in_cells(vectors, at_most, progress)
    kept = _nearest_of_each(batches, telling, at_most)
    chosen = csr_array((kept.similarity, (kept.chooser, kept.chosen)), shape=(entities, entities))
    links = csr_array(chosen.maximum(chosen.T))
    links.sort_indices()
    return links


def _all_pairs(vectors: NDArray[np.float32], progress: Progress) -> Iterator[Links]:
    """Every pair that is near enough, in both directions."""
    starts = range(0, len(vectors), _BLOCK)
    squares = [(one, two) for one in starts for two in starts if one <= two]
    for done, (one, two) in enumerate(squares, start=1):
        cosines = vectors[one : one + _BLOCK] @ vectors[two : two + _BLOCK].T
        rows, columns = np.nonzero(cosines >= THRESHOLD)
        once = rows + one < columns + two  # on the diagonal a pair occurs twice, and each entity with itself
        rows, columns = rows[once], columns[once]
        first, second, similarity = rows + one, columns + two, cosines[rows, columns]
        yield Links(np.append(first, second), np.append(second, first), np.append(similarity, similarity))
        progress("link synonyms", done, len(squares))


def _pairs_in_cells(vectors: NDArray[np.float32], at_most: int, progress: Progress) -> Iterator[Links]:
    """What each entity finds in the cells nearest to it."""
    import faiss

    entities, dimension = vectors.shape
    cells = max(1, int(2 * np.sqrt(entities)))
    lists = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimension), dimension, cells, faiss.METRIC_INNER_PRODUCT)
    lists.nprobe = _CELLS_SEARCHED
    lists.train(np.ascontiguousarray(vectors[:: max(1, entities // (cells * _EXAMPLES_A_CELL))]))
    for start in range(0, entities, _BLOCK):
        lists.add(np.ascontiguousarray(vectors[start : start + _BLOCK]))
    for start in range(0, entities, _BLOCK):
        block = np.ascontiguousarray(vectors[start : start + _BLOCK])
        cosines, found = lists.search(block, at_most + 1)  # it finds itself too
        own = np.arange(start, start + len(block))[:, None]
        rows, places = np.nonzero((cosines >= THRESHOLD) & (found != own) & (found >= 0))
        yield Links(rows + start, found[rows, places], cosines[rows, places])
        progress("link synonyms", start + len(block), entities)


def _nearest_of_each(batches: Iterator[Links], telling: NDArray[np.bool_], at_most: int) -> Links:
    """Of each chooser's links the nearest, between names that are informative."""
    nearest = Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    waiting: list[Links] = []
    for batch in batches:
        waiting.append(batch.at(telling[batch.chooser] & telling[batch.chosen]))
        if sum(len(links.chooser) for links in waiting) > _MOST_WAITING:
            nearest, waiting = _cut([nearest, *waiting], at_most), []
    return _cut([nearest, *waiting], at_most)


def _cut(waiting: Sequence[Links], at_most: int) -> Links:
    links = Links(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
    order = np.lexsort((links.chosen, -links.similarity, links.chooser))
    ordered = links.chooser[order]
    place = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    return links.at(order[place < at_most])
