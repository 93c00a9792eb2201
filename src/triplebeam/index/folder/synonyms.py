"""Synonym links: entities whose names are so alike that they may mean the same (HippoRAG's synonymy edges).

Two entities are linked where the cosine of their names' vectors is at least 0.8. An entity chooses its 100 nearest at
the most, and a link that either end chose holds for both. A name of fewer than three letters or digits has none: the
vectors of such names say little. (HippoRAG counts Latin letters alone, and lets such a name be chosen by others.)

Only entities that are new are compared with all others. The choices of the rest are taken over from the last
generation, without those who are gone; where that shortens a list of 100, it is made again. Cosines are computed from
whole numbers and ties are broken by name, so the links are those of an index that is built from nothing.

Up to ``MAX_EXACT_ENTITIES`` entities every pair is compared, a block at a time. That is quadratic: above,
entities are sorted into cells of about 48, each into the 9 nearest to it, and two are compared if they have a cell
in common: some 4,000 comparisons per entity, however many there are. Cells are found in two steps, by way of the 8
nearest of √cells groups. Of the pairs as near as 0.8 that finds 98 % (docs/scale.md). What is added later is compared
with everything, so such an index may have a few links more than one that is built from nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.rows import compute_norms, dequantize, find_rows, read_keys
from triplebeam.system.work import Progress, ignore_progress

MIN_COSINE = 0.8
MAX_SYNONYMS = 100
MAX_EXACT_ENTITIES = 100_000
_MIN_NAME_CHARACTERS = 3
#: Rows and columns of a square: 64 MiB of cosines.
_BLOCK_ROWS = 4096
#: Links waiting to be cut down to the nearest: names of one kind, such as dates, may all be near each other.
_MAX_WAITING_LINKS = 20_000_000
#: Entities per cell, the cells that an entity is sorted into, and the groups of cells in which these are looked for.
_CELL_ROWS = 48
_CELLS_PER_ENTITY = 9
_GROUPS_PER_ENTITY = 8
#: Examples per centroid, and rounds of improving it.
_EXAMPLES_PER_CELL = 32
_KMEANS_ROUNDS = 4
#: What the arrays of the choices are called, behind "synonym".
_PARTS = ("similarities", "entities", "starts")
#: By which a cosine in single precision may be wrong, and more.
_ROUNDING = 1e-4
#: Whole numbers up to this are exact in single precision.
_EXACT_IN_SINGLE = 2**24


class Links(NamedTuple):
    """Who chose whom, and how near they are."""

    chooser: NDArray[np.int64]
    chosen: NDArray[np.int64]
    similarity: NDArray[np.float32]

    def take(self, where: NDArray[np.bool_] | NDArray[np.int64]) -> "Links":
        """Take some of the links."""
        return Links(self.chooser[where], self.chosen[where], self.similarity[where])


class Choices(NamedTuple):
    """Choices that were made before."""

    links: Links
    """Between entities that are still there, by their numbers now."""
    open: NDArray[np.bool_]
    """Entities whose choice is to be made: they are new, or lost one of a full list."""
    new: NDArray[np.bool_]


def write_synonyms(
    arrays: ArraySet,
    names: Sequence[str],
    stored: NDArray[np.int8],
    previous: ArraySet,
    progress: Progress = ignore_progress,
    at_most: int = MAX_SYNONYMS,
) -> None:
    """Write the choices of a generation's entities, whose keys are written."""
    before = None
    if all(name in previous for name in ("entity_keys", *(f"synonym_{part}" for part in _PARTS))):
        known = read_keys(previous, "entity_keys")
        chosen = read_choices(previous, len(known))
        before = carry_choices(chosen, find_rows(read_keys(arrays, "entity_keys"), known), at_most)
    write_choices(arrays, choose(names, stored, before=before, at_most=at_most, progress=progress), len(names))


def write_choices(arrays: ArraySet, links: Links, entities: int) -> None:
    """Write who chose whom."""
    links = links.take(np.lexsort((links.chosen, links.chooser)))
    starts = np.searchsorted(links.chooser, np.arange(entities + 1))
    arrays.add_matrix("synonym", links.similarity, links.chosen, starts, _PARTS)


def read_choices(arrays: ArraySet, entities: int) -> "csr_array[np.float32]":
    """Read the entities that each entity of a generation chose."""
    return arrays.matrix("synonym", (entities, entities), _PARTS)


def make_symmetric(chosen: "csr_array[np.float32]") -> "csr_array[np.float32]":
    """Make links symmetric: one that either end chose holds for both."""
    links = csr_array(chosen.maximum(chosen.T))
    links.sort_indices()
    return links


def choose(
    names: Sequence[str],
    stored: NDArray[np.int8],
    *,
    before: Choices | None = None,
    at_most: int = MAX_SYNONYMS,
    exact_up_to: int = MAX_EXACT_ENTITIES,
    progress: Progress = ignore_progress,
) -> Links:
    """Choose the synonyms of each entity, in the order of the choosers."""
    if before is not None and 2 * before.open.sum() < len(names) and before.open.sum() <= exact_up_to:
        batches: Iterator[Links] = chain([before.links], _pairs_of_some(stored, before, progress))
    elif len(names) <= exact_up_to:
        batches = _compare_all_pairs(stored, progress)
    else:
        batches = _pairs_in_cells(stored, progress)
    return _nearest_of_each(batches, names, at_most)


def carry_choices(
    chosen: "csr_array[np.float32]", before: NDArray[np.int64], at_most: int = MAX_SYNONYMS
) -> Choices | None:
    """Carry over choices made before, for entities of which ``before`` are the numbers they had then, or -1."""
    known = chosen.shape[0]
    if not known:
        return None
    number = np.full(known, -1)
    number[before[before >= 0]] = np.flatnonzero(before >= 0)
    counts = np.diff(chosen.indptr)
    choosers = np.repeat(np.arange(known), counts)
    links = Links(number[choosers], number[chosen.indices], chosen.data)
    shortened = np.bincount(choosers[links.chosen < 0], minlength=known) > 0
    new = before < 0
    open_ = new | (shortened & (counts >= at_most))[before]
    links = links.take((links.chosen >= 0) & (links.chooser >= 0))
    return Choices(links.take(~open_[links.chooser]), open_, new)


def _find_near_pairs(one: NDArray[np.int8], two: NDArray[np.int8]) -> Links:
    """Find near pairs of one of these and one of those, by row, with cosines that are the same whichever are compared
    together: the product of whole numbers is exact, and computed again for pairs that seem to be near enough.
    """
    rows = dequantize(one)
    seeming = np.flatnonzero(rows @ (rows if two is one else dequantize(two)).T >= MIN_COSINE - _ROUNDING)
    rows_, columns = np.divmod(seeming, max(len(two), 1))
    exact = "float32" if one.shape[1] * 127**2 < _EXACT_IN_SINGLE else "float64"
    here, there = one[rows_].astype(exact), two[columns].astype(exact)
    products = np.einsum("ij,ij->i", here, there)
    similarity = (products / (compute_norms(here) * compute_norms(there))).astype(np.float32)
    near = similarity >= MIN_COSINE
    return Links(rows_[near], columns[near], similarity[near])


def _compare_all_pairs(stored: NDArray[np.int8], progress: Progress) -> Iterator[Links]:
    """Yield every pair that is near enough, in both directions."""
    blocks = [stored[start : start + _BLOCK_ROWS] for start in range(0, len(stored), _BLOCK_ROWS)]
    squares = [(one, two) for one in range(len(blocks)) for two in range(one, len(blocks))]
    for done, (one, two) in enumerate(squares, start=1):
        rows, columns, similarity = _find_near_pairs(blocks[one], blocks[two])
        first, second = rows + one * _BLOCK_ROWS, columns + two * _BLOCK_ROWS
        once = first < second  # on the diagonal a pair occurs twice, and each entity with itself
        first, second, similarity = first[once], second[once], similarity[once]
        yield Links(np.append(first, second), np.append(second, first), np.append(similarity, similarity))
        progress("link synonyms", done, len(squares))


def _pairs_of_some(stored: NDArray[np.int8], before: Choices, progress: Progress) -> Iterator[Links]:
    """Yield every pair of an entity that has yet to choose: its own choices, and those of others for a new one."""
    choosing = np.flatnonzero(before.open)
    blocks = [
        (here, there) for here in range(0, len(choosing), _BLOCK_ROWS) for there in range(0, len(stored), _BLOCK_ROWS)
    ]
    for done, (here, there) in enumerate(blocks, start=1):
        some = choosing[here : here + _BLOCK_ROWS]
        rows, columns, similarity = _find_near_pairs(stored[some], stored[there : there + _BLOCK_ROWS])
        links = Links(some[rows], columns + there, similarity)
        links = links.take(links.chooser != links.chosen)
        yield links
        back = links.take(before.new[links.chooser] & ~before.open[links.chosen])
        yield Links(back.chosen, back.chooser, back.similarity)
        progress("link synonyms", done, len(blocks))


def _pairs_in_cells(stored: NDArray[np.int8], progress: Progress) -> Iterator[Links]:
    """Yield pairs of entities that have one of the cells nearest to them in common, in both directions."""
    near, cells = _cells_nearby(stored)
    for cell, members in enumerate(_members(near, cells)):
        for links in _compare_all_pairs(stored[members], ignore_progress):
            here = Links(members[links.chooser], members[links.chosen], links.similarity)
            yield here.take(_find_first_common(near, here) == cell)  # a pair may have several in common
        progress("link synonyms", cell + 1, cells)


def _members(near: NDArray[np.integer], count: int) -> Iterator[NDArray[np.int64]]:
    """Return for each cell the rows that are near to it, in ascending order; -1 is none."""
    order = np.argsort(near, axis=None, kind="stable")
    starts = np.searchsorted(near.ravel()[order], np.arange(count + 1))
    order //= near.shape[1]
    return (order[start:end] for start, end in pairwise(starts))


def _cells_nearby(stored: NDArray[np.int8]) -> tuple[NDArray[np.int32], int]:
    """Return the few cells nearest to each entity, in no particular order, and how many cells there are."""
    groups = _groups_nearby(stored)
    near = np.full((len(stored), _CELLS_PER_ENTITY), -1, np.int32)
    cosines = np.full(near.shape, -2, np.float32)
    cells = 0
    for group, visiting in enumerate(_members(groups, int(groups.max()) + 1)):
        at_home = visiting[groups[visiting, 0] == group]
        if len(at_home):
            centroids = _centroids(stored[at_home], -(-len(at_home) // _CELL_ROWS))
            for start in range(0, len(visiting), _BLOCK_ROWS):
                rows = visiting[start : start + _BLOCK_ROWS]
                # The nearest of the cells that these rows have, and of those of this group.
                here = np.concatenate([cosines[rows], dequantize(stored[rows]) @ centroids.T], axis=1)
                best = np.argpartition(here, -_CELLS_PER_ENTITY, axis=1)[:, -_CELLS_PER_ENTITY:]
                cosines[rows] = np.take_along_axis(here, best, axis=1)
                before = np.take_along_axis(near[rows], np.minimum(best, _CELLS_PER_ENTITY - 1), axis=1)
                near[rows] = np.where(best < _CELLS_PER_ENTITY, before, best - _CELLS_PER_ENTITY + cells)
            cells += len(centroids)
    return near, cells


def _groups_nearby(stored: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return the few groups of cells nearest to each entity, nearest first. There are as many as a group has cells."""
    centroids = _centroids(stored, max(1, int(np.sqrt(len(stored) / _CELL_ROWS))))
    few = min(_GROUPS_PER_ENTITY, len(centroids))
    groups = np.empty((len(stored), few), np.int16)
    for start in range(0, len(stored), _BLOCK_ROWS):
        cosines = dequantize(stored[start : start + _BLOCK_ROWS]) @ centroids.T
        best = np.argpartition(cosines, -few, axis=1)[:, -few:]
        order = np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1)
        groups[start : start + _BLOCK_ROWS] = np.take_along_axis(best, order, axis=1)
    return groups


def _centroids(stored: NDArray[np.int8], count: int) -> NDArray[np.float32]:
    """Compute centroids by a few rounds of k-means over evenly drawn examples."""
    examples = dequantize(stored[:: max(1, len(stored) // (count * _EXAMPLES_PER_CELL))])
    centroids = examples[:: max(1, len(examples) // count)][:count]
    for _ in range(_KMEANS_ROUNDS):
        cells = np.argmax(examples @ centroids.T, axis=1)
        belongs = csr_array(
            (np.ones(len(cells), np.float32), (cells, np.arange(len(cells)))), shape=(len(centroids), len(cells))
        )
        sums = np.asarray(belongs @ examples)
        lengths_ = np.linalg.norm(sums, axis=1, keepdims=True)
        centroids = np.where(lengths_ > 0, sums / np.where(lengths_ > 0, lengths_, 1), centroids)
    return centroids


def _find_first_common(near: NDArray[np.int32], links: Links) -> NDArray[np.int32]:
    """Find the lowest of the cells that both ends of a link are near to."""
    one, two = near[links.chooser][:, :, None], near[links.chosen][:, None, :]
    none = np.iinfo(np.int32).max
    return np.asarray(np.where((one == two) & (one >= 0), one, none).min(axis=(1, 2), initial=none))


def _nearest_of_each(batches: Iterator[Links], names: Sequence[str], at_most: int) -> Links:
    """Keep each chooser's nearest links between informative names."""
    nearest = Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    waiting, count = [nearest], 0
    telling = np.full(len(names), -1, np.int8)  # looked at when a link needs it

    def find_informative(entities: NDArray[np.int64]) -> NDArray[np.bool_]:
        for entity in np.unique(entities[telling[entities] < 0]).tolist():
            telling[entity] = sum(map(str.isalnum, names[entity])) >= _MIN_NAME_CHARACTERS
        return telling[entities] > 0

    for batch in batches:
        waiting.append(batch.take(find_informative(batch.chooser) & find_informative(batch.chosen)))
        count += len(waiting[-1].chooser)
        if count > _MAX_WAITING_LINKS:
            waiting, count = [_keep_nearest_links(waiting, names, at_most)], 0
    return _keep_nearest_links(waiting, names, at_most)


def _keep_nearest_links(waiting: Sequence[Links], names: Sequence[str], at_most: int) -> Links:
    """Keep each chooser's nearest links, ties by name."""
    links = Links(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
    place_by_name = np.full(len(names), -1)
    place_by_name[links.chosen] = 0
    by_name = sorted(np.flatnonzero(place_by_name == 0).tolist(), key=names.__getitem__)
    place_by_name[by_name] = np.arange(len(by_name))
    order = np.lexsort((place_by_name[links.chosen], -links.similarity, links.chooser))
    ordered = links.chooser[order]
    place = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    return links.take(order[place < at_most])
