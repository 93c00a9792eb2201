"""A full or read-only disk: one sentence, nothing lost, and the same command again does the rest."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from killing import OPERATIONS, Counting, builder, copy_world, documents, make, read_published

from small_disk import small_disk
from trials import FULL
from triplebeam.errors import CannotWriteError, DiskFullError, IndexMissingError
from triplebeam.index.folder.snapshot import Snapshot

#: Kilobytes that are left: none, a little less or more than each stage needs, and enough.
LEFT = (0, 4, 12, 24, 36, 60, 84, 108, 132, 156, 180, 250, 400, 600, 1200)[:: 1 if FULL else 2]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    make(folder / "in" / "my.index")
    return folder / "in"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_full_disk(operation: str, world: Path, tmp_path: Path) -> None:
    whole = copy_world(world, tmp_path / "whole", operation)
    before = read_published(whole)
    OPERATIONS[operation](whole, Counting())
    expected, said = read_published(whole), []
    with small_disk(tmp_path / "disk") as disk:
        for left in LEFT:
            index = copy_world(world, disk.folder / "trial", operation)
            disk.fill(left)
            try:
                OPERATIONS[operation](index, Counting())
            except DiskFullError as error:
                said.append(str(error))
            Snapshot.open(index)
            assert read_published(index) in (before, expected)
            assert len(list((index / "generations").iterdir())) == 1, "half a generation fills the disk"
            disk.free()
            OPERATIONS[operation](index, Counting())
            assert read_published(index) == expected
            shutil.rmtree(disk.folder / "trial")
    assert 2 < len(said) < len(LEFT)
    assert all(each.startswith(f"{index} cannot be written to (") for each in said)
    assert all("): free some space on its disk, then do the same again;" in each for each in said)


def test_a_full_disk_for_a_new_index(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        for left in LEFT:
            disk.fill(left)
            index = disk.folder / "new.index"
            try:
                builder(index).build(documents(range(12)))
            except DiskFullError:
                with pytest.raises(IndexMissingError, match="triplebeam index"):
                    Snapshot.open(index)
            disk.free()
            builder(index).build(documents(range(12)))
            assert len(Snapshot.open(index).passages) == 12
            shutil.rmtree(index)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_read_only_disk(operation: str, world: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        index = copy_world(world, disk.folder / "trial", operation)
        before = read_published(index)
        disk.read_only(True)
        with pytest.raises(CannotWriteError, match=r"cannot be written to \(.*\): check its permissions") as caught:
            OPERATIONS[operation](index, Counting())
        assert not isinstance(caught.value, DiskFullError)
        Snapshot.open(index)
        disk.read_only(False)
        assert read_published(index) == before


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may become larger than this: what a full disk does, on any machine with POSIX."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("operation", ["index", "remove"])
def test_files_that_cannot_grow(operation: str, world: Path, tmp_path: Path) -> None:
    whole = copy_world(world, tmp_path / "whole", operation)
    before = read_published(whole)
    OPERATIONS[operation](whole, Counting())
    expected, said = read_published(whole), []
    for most in (0, 1000, 8000, 33_000, 80_000):
        index = copy_world(world, tmp_path / "trial", operation)
        try:
            with small_files(most):
                OPERATIONS[operation](index, Counting())
        except DiskFullError as error:
            said.append(str(error))
        Snapshot.open(index)
        assert read_published(index) in (before, expected)
        OPERATIONS[operation](index, Counting())
        assert read_published(index) == expected
        shutil.rmtree(tmp_path / "trial")
    assert len(said) > 2
    assert all("free some space" in each for each in said)
