"""An index of another format is neither read nor written: one sentence says to index again."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from small_world import WordEmbedder, world_documents
from triplebeam.errors import IndexFormatError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.manifest import MANIFEST
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.manifest import FORMAT

AGAIN = "this Triplebeam reads format 1: index the documents again into a new folder"


def build(folder: Path) -> None:
    IndexBuilder(folder=folder, embedder=WordEmbedder()).build(world_documents()[:1])


def repair(folder: Path) -> None:
    IndexBuilder(folder=folder, embedder=WordEmbedder()).repair()


@pytest.fixture
def folder(world: Snapshot, tmp_path: Path) -> Path:
    return shutil.copytree(world.folder, tmp_path / "copy.index")


def test_the_format_starts_at_one(world: Snapshot) -> None:
    assert world.manifest.format == FORMAT == 1


@pytest.mark.parametrize("number", [0, 6, 99])
@pytest.mark.parametrize("use", [Snapshot.open, build, repair])
def test_a_manifest_of_another_format(folder: Path, number: int, use: Callable[[Path], object]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"format": number}))
    before = (folder / MANIFEST).read_bytes()
    with pytest.raises(IndexFormatError, match=rf"manifest\.json has format {number}, {AGAIN}"):
        use(folder)
    assert (folder / MANIFEST).read_bytes() == before


@pytest.mark.parametrize("use", [build, repair])
def test_a_store_of_another_format(folder: Path, use: Callable[[Path], object]) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as db:
        db.execute("PRAGMA user_version = 4")
    with pytest.raises(IndexFormatError, match=rf"store\.sqlite has format 4, {AGAIN}"):
        use(folder)
    assert len(Snapshot.open(folder).passages) == 6, "it can still be searched"
