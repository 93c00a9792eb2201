"""Damage that leaves a file's size alone: it is noticed, named, and repaired from what is not damaged."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from triplebeam.errors import IndexDamagedError
from triplebeam.index.build import IndexBuilder
from triplebeam.index.compact import compact
from triplebeam.index.manifest import generation_folder, read_manifest
from triplebeam.index.snapshot import Snapshot


@pytest.fixture
def folder(world: Snapshot, tmp_path: Path) -> Path:
    return shutil.copytree(world.folder, tmp_path / "copy")


def builder(folder: Path) -> IndexBuilder:
    return IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=TableExtractor(TRIPLES))


def files(folder: Path) -> dict[str, bytes]:
    generation = generation_folder(folder, read_manifest(folder).generation)
    return {name: (generation / name).read_bytes() for name in read_manifest(folder).files}


def flip(path: Path, place: float) -> None:
    """One bit, in the middle or wherever."""
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 0x40
    path.write_bytes(content)


def test_a_flipped_bit_in_any_file_is_noticed_named_and_repaired(folder: Path) -> None:
    before = files(folder)
    for name in [name for name, content in before.items() if content]:
        for place in (0.1, 0.9):
            generation = generation_folder(folder, read_manifest(folder).generation)
            flip(generation / name, place)
            if not name.endswith("_vectors.npy"):
                with pytest.raises(IndexDamagedError, match=Path(name).name):
                    Snapshot.open(folder)
            report = builder(folder).repair()
            assert (report.damaged, report.published) == ([name], True)
            assert files(folder) == before


def test_indexing_again_repairs_as_well(folder: Path) -> None:
    before = files(folder)
    flip(generation_folder(folder, read_manifest(folder).generation) / "triple_vectors.npy", 0.9)
    assert builder(folder).build(world_documents()).published
    assert files(folder) == before


def test_what_is_sound_is_left_alone(folder: Path) -> None:
    report = builder(folder).repair()
    assert (report.damaged, report.published, report.texts_encoded) == ([], False, 0)


def test_missing_files_are_repaired(folder: Path) -> None:
    before = files(folder)
    shutil.rmtree(folder / "generations")
    report = builder(folder).repair()
    assert set(report.damaged) == set(before)
    assert files(folder) == before


def test_a_damaged_store_is_named(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as db:
        size, root = db.execute(
            "SELECT page_size, rootpage FROM pragma_page_size, sqlite_schema WHERE name = 'triple'"
        ).fetchone()
    content = bytearray((folder / "store.sqlite").read_bytes())
    content[(root - 1) * size : (root - 1) * size + 64] = b"\xff" * 64
    (folder / "store.sqlite").write_bytes(content)
    with pytest.raises(IndexDamagedError, match=r"the store of the index is damaged .* restore store\.sqlite"):
        builder(folder).repair()


def test_an_empty_store_is_not_taken_for_a_new_one(folder: Path) -> None:
    before = files(folder)
    (folder / "store.sqlite").write_bytes(b"")
    for write in (lambda: builder(folder).build(world_documents()), builder(folder).repair, lambda: compact(folder)):
        with pytest.raises(IndexDamagedError, match=r"store\.sqlite is empty, .* restore the file"):
            write()
    assert files(folder) == before


def test_a_store_restored_from_a_copy_is_not_taken_for_the_published_one(folder: Path) -> None:
    """The copy is older than what is published, and then another document is added to it."""
    from triplebeam.passage import Document

    shutil.copy(folder / "store.sqlite", folder.parent / "copy.sqlite")
    builder(folder).build([Document(id="b", text="Borin lives in Velmora.")])
    shutil.copy(folder.parent / "copy.sqlite", folder / "store.sqlite")
    builder(folder).build([Document(id="c", text="Cesta lives in Karsund.")])
    documents = Snapshot.open(folder).passages.document_ids
    assert "c" in documents
    assert "b" not in documents
