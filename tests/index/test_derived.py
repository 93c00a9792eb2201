"""What a large index stores so that no question waits for it: it is what would be derived, bit for bit."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from triplebeam.assemble.context import Context
from triplebeam.assemble.retrievers import blend
from triplebeam.embed.embedder import Embedder
from triplebeam.index.arrays.array_set import SortedNames
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.folder.manifest import generation_folder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.synonyms import MIN_COSINE
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.settings import Settings


@pytest.fixture(scope="module")
def stored(world: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The small world, published as a large index is."""
    folder = tmp_path_factory.mktemp("large") / "generation"
    shutil.copytree(generation_folder(world.folder, world.manifest.generation), folder)
    arrays = FolderArrays(folder)
    world.passages.write_derived(arrays)
    world.entities.write_derived(arrays, world.passages.rows_by_title)
    return Snapshot.read(world.folder, world.manifest, arrays)


def test_names_passages_and_titles_have_the_same_numbers(world: Snapshot, stored: Snapshot) -> None:
    for derived, mapped in (
        (world.entities.numbers, stored.entities.numbers),
        (world.passages._rows, stored.passages._rows),
        (world.passages.rows_by_title, stored.passages.rows_by_title),
    ):
        assert isinstance(mapped, SortedNames)
        assert dict(mapped) == derived
        assert "no such name" not in mapped
    titled = (snapshot.entities.find_titled(snapshot.passages.rows_by_title) for snapshot in (world, stored))
    np.testing.assert_array_equal(*titled)


def same(one: "csr_array[np.float64]", two: "csr_array[np.float64]") -> None:
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))


def test_graphs_are_the_same(world: Snapshot, stored: Snapshot) -> None:
    same(stored.entities.weights(with_passages=True), world.entities.weights(with_passages=True))
    same(stored.entities.passages_by_entity, world.entities.passages_by_entity)
    np.testing.assert_array_equal(stored.entities.passage_counts, world.entities.passage_counts)
    np.testing.assert_array_equal(stored.entities.topics.of_passages, world.entities.topics.of_passages)


def test_walks_need_not_look_at_all_edges(world: Snapshot, stored: Snapshot, words: Embedder) -> None:
    """What they need of all nodes is stored, with the settings of `blend` and of `hipporag2`."""
    walks = [
        [HippoRAG2.over(snapshot, words), *blend(Context(snapshot, Settings(), words)).walks.values()]
        for snapshot in (world, stored)
    ]
    for derived, mapped in zip(*walks, strict=True):
        if isinstance(derived, HippoRAG | HippoRAG2):
            assert isinstance(mapped, HippoRAG | HippoRAG2)
            assert isinstance(mapped._open.leaving.base, np.memmap)
            np.testing.assert_array_equal(mapped._open.leaving, derived._open.leaving)
        if isinstance(derived, HippoRAG2):
            assert isinstance(mapped, HippoRAG2)
            assert isinstance(mapped._spread.base, np.memmap)
            np.testing.assert_array_equal(mapped._spread, derived._spread)


def test_the_default_search_finds_the_same(world: Snapshot, stored: Snapshot, words: Embedder) -> None:
    one, two = (blend(Context(snapshot, Settings(), words)) for snapshot in (world, stored))
    for passage in world.passages:
        query = f"What is {passage.title} known for?"
        assert one.retrieve(query) == two.retrieve(query)


def test_what_is_half_removed_is_derived(world: Snapshot, stored: Snapshot, tmp_path: Path) -> None:
    """The next generation removes the files of one that is open, in any order, while a question is answered."""
    assert isinstance(stored.arrays, FolderArrays)
    folder = shutil.copytree(stored.arrays.folder, tmp_path / "generation")
    opened = Snapshot.read(world.folder, world.manifest, FolderArrays(folder))
    for file in ("id_lookup.utf8", "entity_lookup.offsets.npy", "title_lookup.starts.npy", "walk_values.npy"):
        (folder / file).unlink()
    for file in (*folder.glob("walk_*_leaving.npy"), *folder.glob("entity_passages_*values.npy")):
        file.unlink()
    assert opened.passages.row("film") == world.passages.row("film")
    assert opened.passages.rows_by_title == world.passages.rows_by_title
    assert opened.entities.numbers == world.entities.numbers
    same(opened.entities.weights(with_passages=True), world.entities.weights(with_passages=True))
    same(opened.entities.passages_by_entity, world.entities.passages_by_entity)
    graphs = (snapshot.entities.open_graph(MIN_COSINE, 30) for snapshot in (opened, world))
    np.testing.assert_array_equal(*(graph.leaving for graph in graphs))
