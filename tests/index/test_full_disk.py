"""A full or read-only disk: one sentence, nothing lost, and the same command again does the rest. What the errors of a
disk mean; transactions of SQLite are all or nothing, also where SQLite gives up first.
"""

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from killing import OPERATIONS, Counting, builder, copy_world, documents, make, read_published

from small_disk import SmallDisk, small_disk
from trials import FULL
from triplebeam.errors import CannotWriteError, DiskFullError, IndexDamagedError, IndexMissingError, TriplebeamError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.system.durable import raise_cannot_write, transaction

#: Kilobytes that are left: none, a little less or more than each stage needs, and enough.
LEFT = (0, 4, 12, 24, 36, 60, 84, 108, 132, 156, 180, 250, 400, 600, 1200)[:: 1 if FULL else 2]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    make(folder / "in" / "my.index")
    return folder / "in"


@contextmanager
def filled(disk: SmallDisk, left: int) -> Iterator[None]:
    disk.fill(left)
    try:
        yield
    finally:
        disk.free()


def try_again(operation: str, world: Path, folder: Path, limits: Iterable[AbstractContextManager[object]]) -> list[str]:
    """Do something under each limit and again without it: readers see all of it or nothing. Return what was said."""
    whole = copy_world(world, folder / "whole", operation)
    before = read_published(whole)
    OPERATIONS[operation](whole, Counting())
    expected, said = read_published(whole), []
    shutil.rmtree(folder / "whole")
    for limit in limits:
        index = copy_world(world, folder / "trial", operation)
        with limit:
            try:
                OPERATIONS[operation](index, Counting())
            except DiskFullError as error:
                said.append(str(error))
            Snapshot.open(index)
        assert read_published(index) in (before, expected)
        assert len(list((index / "generations").iterdir())) == 1, "half a generation fills the disk"
        OPERATIONS[operation](index, Counting())
        assert read_published(index) == expected
        shutil.rmtree(folder / "trial")
    assert all(each.startswith(f"{index} cannot be written to (") for each in said)
    assert all("): free some space on its disk, then do the same again;" in each for each in said)
    return said


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_full_disk(operation: str, world: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        said = try_again(operation, world, disk.folder, (filled(disk, left) for left in LEFT))
    assert 2 < len(said) < len(LEFT)


def test_a_full_disk_for_a_new_index(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        for left in LEFT:
            index = disk.folder / "new.index"
            with filled(disk, left):
                try:
                    builder(index).build(documents(range(12)))
                except DiskFullError:
                    with pytest.raises(IndexMissingError, match="triplebeam index"):
                        Snapshot.open(index)
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
    said = try_again(operation, world, tmp_path, map(small_files, (0, 1000, 8000, 33_000, 80_000)))
    assert len(said) > 2


PLACE = Path("my.index")


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("SQLITE_FULL", DiskFullError, "free some space"),
        ("SQLITE_IOERR_WRITE", DiskFullError, "free some space"),
        ("SQLITE_IOERR_SHMSIZE", DiskFullError, "free some space"),
        ("SQLITE_READONLY_DBMOVED", CannotWriteError, "check its permissions"),
        ("SQLITE_IOERR_READ", IndexDamagedError, "the disk of my.index reports an error"),
        ("SQLITE_IOERR_SHORT_READ", IndexDamagedError, "look into the system's log"),
        ("SQLITE_IOERR_LOCK", IndexDamagedError, "SQLITE_IOERR_LOCK"),
    ],
)
def test_an_error_of_sqlite_is_explained_by_its_name(name: str, kind: type[TriplebeamError], said: str) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    with pytest.raises(TriplebeamError, match=said) as raised:
        raise_cannot_write(error, PLACE)
    assert type(raised.value) is kind


def test_other_errors_are_left_to_their_callers() -> None:
    error = sqlite3.OperationalError("no such table")
    error.sqlite_errorname = "SQLITE_ERROR"
    raise_cannot_write(error, PLACE)
    raise_cannot_write(FileNotFoundError(2, "no such file"), PLACE)


def test_a_failed_commit_is_reported_as_it_is_and_leaves_no_transaction_open() -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(
        "PRAGMA foreign_keys = ON; CREATE TABLE a (id PRIMARY KEY);"
        " CREATE TABLE b (a REFERENCES a DEFERRABLE INITIALLY DEFERRED)"
    )
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), transaction(db):
        db.execute("INSERT INTO b VALUES (1)")
    with transaction(db):
        assert db.execute("SELECT count(*) FROM b").fetchone() == (0,)


def _full(db: sqlite3.Connection) -> None:
    with transaction(db):
        db.execute("ROLLBACK")  # as SQLite does by itself on a full disk
        raise RuntimeError("the disk is full")


def test_what_ended_the_transaction_already_is_what_is_reported() -> None:
    with pytest.raises(RuntimeError, match="disk"):
        _full(sqlite3.connect(":memory:", isolation_level=None))
