"""Indexes of every format there was: each opens, or is refused with the command that brings it up to date."""

import json
import sqlite3
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from triplebeam.assemble.index import Index
from triplebeam.errors import IndexFormatError, IndexTooNewError
from triplebeam.extract.extractor import Extraction
from triplebeam.index.build import IndexBuilder
from triplebeam.index.manifest import FORMAT, MANIFEST, OLDEST_READ, read_manifest
from triplebeam.index.schema import UPGRADES
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.writing import looking
from triplebeam.passage import Document, Passage
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords

KEPT = {
    int(path.name[len("index-") : -len(".tar.xz")]): path
    for path in Path(__file__).parents[1].glob("data/formats/*.xz")
}
OLDER = sorted(version for version in KEPT if version < OLDEST_READ)
READ = sorted(KEPT.keys() - {*OLDER})
QUESTION = "Who discovered the seventh planet from the Sun?"
METHODS = ("bm25", "dense", "hybrid+naive_ge", "hipporag2", "gnn_ret", "blend")


class Unwanted:
    """What was extracted is not extracted again."""

    name = "local:written"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            pytest.fail(f"{passage.id} was extracted again")
            yield


def unpacked(version: int, folder: Path) -> Path:
    with tarfile.open(KEPT[version]) as packed:
        packed.extractall(folder / "my.index", filter="data")
    return folder / "my.index"


def builder(folder: Path) -> IndexBuilder:
    return IndexBuilder(folder=folder, embedder=HashedWords(), extractor=Unwanted())


def check(folder: Path) -> None:
    """All that is in it is found."""
    index = Index.of(Snapshot.open(folder), Settings(), HashedWords())
    assert sorted(index.documents()) == ["bath", "herschel", "uranus"]  # formats before 5 had them as they came
    assert {str(index.triples.triple(number)) for number in range(3)} == {
        "William Herschel discovered Uranus",
        "Uranus is the seventh planet from the Sun",
        "William Herschel played the organ in Bath",
    }
    for method in METHODS:
        assert "uranus" in [hit.passage.document_id for hit in index.search(QUESTION, method, k=2)], method


def test_this_format_is_kept() -> None:
    assert FORMAT in KEPT, "a new format needs an index of its own: run tests/data/formats/make.py"


@pytest.mark.parametrize("version", READ)
def test_an_index_of_a_format_that_is_read_opens_and_grows(version: int, tmp_path: Path) -> None:
    folder = unpacked(version, tmp_path)
    assert read_manifest(folder).format == version
    check(folder)
    IndexBuilder(folder=folder, embedder=HashedWords()).build([Document(id="sun", text="The Sun is a star.")])
    assert len(Snapshot.open(folder).passages) == 4
    assert read_manifest(folder).format == FORMAT


def test_the_store_has_the_format_of_this_version(tmp_path: Path) -> None:
    with closing(sqlite3.connect(unpacked(FORMAT, tmp_path) / "store.sqlite")) as db:
        kept = db.execute("PRAGMA user_version").fetchone()[0]
    assert kept == 1 + len(UPGRADES), "a new format of the store needs a new index: run tests/data/formats/make.py"


@pytest.mark.parametrize("version", OLDER)
def test_an_older_index_is_refused_with_the_command_to_run(version: int, tmp_path: Path) -> None:
    folder = unpacked(version, tmp_path)
    with pytest.raises(
        IndexFormatError,
        match=rf"has format {version}, .* reads formats {OLDEST_READ} to {FORMAT}: .*`triplebeam repair`",
    ):
        Snapshot.open(folder)


@pytest.mark.parametrize("version", OLDER)
def test_repairing_an_older_index_brings_it_up_to_date(version: int, tmp_path: Path) -> None:
    folder = unpacked(version, tmp_path)
    report = builder(folder).repair()
    assert (report.published, report.texts_encoded, report.passages_extracted) == (True, 0, 0)
    assert read_manifest(folder).format == FORMAT
    check(folder)


@pytest.mark.parametrize("version", OLDER)
def test_an_older_store_can_be_looked_at_without_changing_it(version: int, tmp_path: Path) -> None:
    folder = unpacked(version, tmp_path)
    before = (folder / "store.sqlite").read_bytes()
    with looking(folder) as store:
        assert len(list(store.passages())) == 3
    assert (folder / "store.sqlite").read_bytes() == before


def test_an_index_of_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    folder = unpacked(FORMAT, tmp_path)
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"format": FORMAT + 1}))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for use in (Snapshot.open, lambda folder: builder(folder).repair(), lambda folder: builder(folder).build([])):
        with pytest.raises(IndexTooNewError, match="upgrade Triplebeam"):
            use(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_store_of_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    folder = unpacked(FORMAT, tmp_path)
    with closing(sqlite3.connect(folder / "store.sqlite")) as db:
        db.execute(f"PRAGMA user_version = {2 + len(UPGRADES)}")
    check(folder)
    with pytest.raises(IndexTooNewError, match=r"store\.sqlite has format .*: upgrade Triplebeam"):
        builder(folder).build([])
