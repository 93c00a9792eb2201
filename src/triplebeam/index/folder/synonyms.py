"""Synonym links: entities whose names are so alike that they may mean the same (HippoRAG's synonymy edges).

Two entities are linked where the cosine of their names' vectors is at least 0.8. An entity chooses its 100 nearest at
the most, and a link that either end chose holds for both. A name of fewer than three letters or digits has none: the
vectors of such names say little. (HippoRAG counts Latin letters alone, and lets such a name be chosen by others.)

Only entities that are new are compared with all others. The choices of the rest are taken over from the last
generation, without those who are gone; where that shortens a list of 100, it is made again. Cosines are computed from
whole numbers and ties are broken by name, so the links are those of an index that is built from nothing.

Up to ``EXACT_UP_TO`` entities every pair is compared, a square of the product at a time. That is quadratic, so above it
the entities are sorted into cells of about 48, each into the 9 nearest to it, and two are compared if they have a cell
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
from triplebeam.index.arrays.keys import read_keys, rows_of
from triplebeam.index.arrays.quantize import lengths, restored
from triplebeam.system.progress import Progress, silent

THRESHOLD = 0.8
AT_MOST = 100
EXACT_UP_TO = 100_000
_SHORTEST = 3
#: Rows and columns of a square: 64 MiB of cosines.
_BLOCK = 4096
#: Links waiting to be cut down to the nearest: names of one kind, such as dates, may all be near each other.
_MOST_WAITING = 20_000_000
#: Entities per cell, the cells that an entity is sorted into, and the groups of cells in which these are looked for.
_CELL = 48
_CELLS_OF_EACH = 9
_GROUPS_OF_EACH = 8
#: Examples per centroid, and rounds of improving it.
_EXAMPLES = 32
_ROUNDS = 4
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

    def at(self, where: NDArray[np.bool_] | NDArray[np.int64]) -> "Links":
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
    progress: Progress = silent,
    at_most: int = AT_MOST,
) -> None:
    """Write the choices of a generation's entities, whose keys are written."""
    before = None
    if all(name in previous for name in ("entity_keys", *(f"synonym_{part}" for part in _PARTS))):
        known = read_keys(previous, "entity_keys")
        chosen = read_choices(previous, len(known))
        before = carry_choices(chosen, rows_of(read_keys(arrays, "entity_keys"), known), at_most)
    write_choices(arrays, choose(names, stored, before=before, at_most=at_most, progress=progress), len(names))


def write_choices(arrays: ArraySet, links: Links, entities: int) -> None:
    """Write who chose whom."""
    links = links.at(np.lexsort((links.chosen, links.chooser)))
    starts = np.searchsorted(links.chooser, np.arange(entities + 1))
    arrays.add_matrix("synonym", links.similarity, links.chosen, starts, _PARTS)


def read_choices(arrays: ArraySet, entities: int) -> "csr_array[np.float32]":
    """Read the entities that each entity of a generation chose."""
    return arrays.matrix("synonym", (entities, entities), _PARTS)


def both_ways(chosen: "csr_array[np.float32]") -> "csr_array[np.float32]":
    """Make links symmetric: one that either end chose holds for both."""
    links = csr_array(chosen.maximum(chosen.T))
    links.sort_indices()
    return links


def choose(
    names: Sequence[str],
    stored: NDArray[np.int8],
    *,
    before: Choices | None = None,
    at_most: int = AT_MOST,
    exact_up_to: int = EXACT_UP_TO,
    progress: Progress = silent,
) -> Links:
    """Choose the synonyms of each entity, in the order of the choosers."""
    if before is not None and 2 * before.open.sum() < len(names) and before.open.sum() <= exact_up_to:
        batches: Iterator[Links] = chain([before.links], _pairs_of_some(stored, before, progress))
    elif len(names) <= exact_up_to:
        batches = _all_pairs(stored, progress)
    else:
        batches = _pairs_in_cells(stored, progress)
    return _nearest_of_each(batches, names, at_most)


def carry_choices(chosen: "csr_array[np.float32]", before: NDArray[np.int64], at_most: int = AT_MOST) -> Choices | None:
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
    links = links.at((links.chosen >= 0) & (links.chooser >= 0))
    return Choices(links.at(~open_[links.chooser]), open_, new)


class _Near(NamedTuple):
    """Pairs from two lists of vectors that are near enough, and their cosines."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    similarity: NDArray[np.float32]


def _near(one: NDArray[np.int8], two: NDArray[np.int8]) -> _Near:
    """Find near pairs of one of these and one of those, with cosines that are the same whichever are compared together:
    the product of whole numbers is exact, and computed again for pairs that seem to be near enough.
    """
    rows = restored(one)
    seeming = np.flatnonzero(rows @ (rows if two is one else restored(two)).T >= THRESHOLD - _ROUNDING)
    rows_, columns = np.divmod(seeming, max(len(two), 1))
    exact = "float32" if one.shape[1] * 127**2 < _EXACT_IN_SINGLE else "float64"
    here, there = one[rows_].astype(exact), two[columns].astype(exact)
    products = np.einsum("ij,ij->i", here, there)
    similarity = (products / (lengths(here) * lengths(there))).astype(np.float32)
    near = similarity >= THRESHOLD
    return _Near(rows_[near], columns[near], similarity[near])


def _all_pairs(stored: NDArray[np.int8], progress: Progress) -> Iterator[Links]:
    """Yield every pair that is near enough, in both directions."""
    blocks = [stored[start : start + _BLOCK] for start in range(0, len(stored), _BLOCK)]
    squares = [(one, two) for one in range(len(blocks)) for two in range(one, len(blocks))]
    for done, (one, two) in enumerate(squares, start=1):
        rows, columns, similarity = _near(blocks[one], blocks[two])
        first, second = rows + one * _BLOCK, columns + two * _BLOCK
        once = first < second  # on the diagonal a pair occurs twice, and each entity with itself
        first, second, similarity = first[once], second[once], similarity[once]
        yield Links(np.append(first, second), np.append(second, first), np.append(similarity, similarity))
        progress("link synonyms", done, len(squares))


def _pairs_of_some(stored: NDArray[np.int8], before: Choices, progress: Progress) -> Iterator[Links]:
    """Yield every pair of an entity that has yet to choose: its own choices, and those of others for a new one."""
    choosing = np.flatnonzero(before.open)
    blocks = [(here, there) for here in range(0, len(choosing), _BLOCK) for there in range(0, len(stored), _BLOCK)]
    for done, (here, there) in enumerate(blocks, start=1):
        some = choosing[here : here + _BLOCK]
        rows, columns, similarity = _near(stored[some], stored[there : there + _BLOCK])
        links = Links(some[rows], columns + there, similarity)
        links = links.at(links.chooser != links.chosen)
        yield links
        back = links.at(before.new[links.chooser] & ~before.open[links.chosen])
        yield Links(back.chosen, back.chooser, back.similarity)
        progress("link synonyms", done, len(blocks))


def _pairs_in_cells(stored: NDArray[np.int8], progress: Progress) -> Iterator[Links]:
    """Yield pairs of entities that have one of the cells nearest to them in common, in both directions."""
    near, cells = _cells_nearby(stored)
    for cell, members in enumerate(_members(near, cells)):
        for links in _all_pairs(stored[members], silent):
            here = Links(members[links.chooser], members[links.chosen], links.similarity)
            yield here.at(_first_in_common(near, here) == cell)  # a pair may have several in common
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
    near = np.full((len(stored), _CELLS_OF_EACH), -1, np.int32)
    cosines = np.full(near.shape, -2, np.float32)
    cells = 0
    for group, visiting in enumerate(_members(groups, int(groups.max()) + 1)):
        at_home = visiting[groups[visiting, 0] == group]
        if len(at_home):
            centroids = _centroids(stored[at_home], -(-len(at_home) // _CELL))
            for start in range(0, len(visiting), _BLOCK):
                _keep_nearest(stored, visiting[start : start + _BLOCK], centroids, cells, near, cosines)
            cells += len(centroids)
    return near, cells


def _keep_nearest(
    stored: NDArray[np.int8],
    rows: NDArray[np.int64],
    centroids: NDArray[np.float32],
    first: int,
    near: NDArray[np.int32],
    cosines: NDArray[np.float32],
) -> None:
    """Keep the nearest of the cells that these rows have, and of those with these centroids, from the first on."""
    here = np.concatenate([cosines[rows], restored(stored[rows]) @ centroids.T], axis=1)
    best = np.argpartition(here, -_CELLS_OF_EACH, axis=1)[:, -_CELLS_OF_EACH:]
    cosines[rows] = np.take_along_axis(here, best, axis=1)
    before = np.take_along_axis(near[rows], np.minimum(best, _CELLS_OF_EACH - 1), axis=1)
    near[rows] = np.where(best < _CELLS_OF_EACH, before, best - _CELLS_OF_EACH + first)


def _groups_nearby(stored: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return the few groups of cells nearest to each entity, nearest first. There are as many as a group has cells."""
    centroids = _centroids(stored, max(1, int(np.sqrt(len(stored) / _CELL))))
    few = min(_GROUPS_OF_EACH, len(centroids))
    groups = np.empty((len(stored), few), np.int16)
    for start in range(0, len(stored), _BLOCK):
        cosines = restored(stored[start : start + _BLOCK]) @ centroids.T
        best = np.argpartition(cosines, -few, axis=1)[:, -few:]
        order = np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1)
        groups[start : start + _BLOCK] = np.take_along_axis(best, order, axis=1)
    return groups


def _centroids(stored: NDArray[np.int8], count: int) -> NDArray[np.float32]:
    """Compute so many centroids by a few rounds of k-means over evenly drawn examples."""
    examples = restored(stored[:: max(1, len(stored) // (count * _EXAMPLES))])
    centroids = examples[:: max(1, len(examples) // count)][:count]
    for _ in range(_ROUNDS):
        cells = np.argmax(examples @ centroids.T, axis=1)
        belongs = csr_array(
            (np.ones(len(cells), np.float32), (cells, np.arange(len(cells)))), shape=(len(centroids), len(cells))
        )
        sums = np.asarray(belongs @ examples)
        lengths_ = np.linalg.norm(sums, axis=1, keepdims=True)
        centroids = np.where(lengths_ > 0, sums / np.where(lengths_ > 0, lengths_, 1), centroids)
    return centroids


def _first_in_common(near: NDArray[np.int32], links: Links) -> NDArray[np.int32]:
    """Find the lowest of the cells that both ends of a link are near to."""
    one, two = near[links.chooser][:, :, None], near[links.chosen][:, None, :]
    none = np.iinfo(np.int32).max
    return np.asarray(np.where((one == two) & (one >= 0), one, none).min(axis=(1, 2), initial=none))


def _nearest_of_each(batches: Iterator[Links], names: Sequence[str], at_most: int) -> Links:
    """Keep each chooser's nearest links between informative names."""
    nearest = Links(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    waiting, count = [nearest], 0
    telling = np.full(len(names), -1, np.int8)  # looked at when a link needs it

    def tells(entities: NDArray[np.int64]) -> NDArray[np.bool_]:
        for entity in np.unique(entities[telling[entities] < 0]).tolist():
            telling[entity] = sum(map(str.isalnum, names[entity])) >= _SHORTEST
        return telling[entities] > 0

    for batch in batches:
        waiting.append(batch.at(tells(batch.chooser) & tells(batch.chosen)))
        count += len(waiting[-1].chooser)
        if count > _MOST_WAITING:
            waiting, count = [_cut(waiting, names, at_most)], 0
    return _cut(waiting, names, at_most)


def _cut(waiting: Sequence[Links], names: Sequence[str], at_most: int) -> Links:
    """Keep each chooser's nearest links, ties by name."""
    links = Links(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
    place_by_name = np.full(len(names), -1)
    place_by_name[links.chosen] = 0
    by_name = sorted(np.flatnonzero(place_by_name == 0).tolist(), key=names.__getitem__)
    place_by_name[by_name] = np.arange(len(by_name))
    order = np.lexsort((place_by_name[links.chosen], -links.similarity, links.chooser))
    ordered = links.chooser[order]
    place = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    return links.at(order[place < at_most])
