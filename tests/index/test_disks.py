"""Writers that are killed at any instant lose nothing, leave nothing half done, and repeat no work. A power cut loses
what the disk was not asked to write, and nothing that was acknowledged is among it. A full or read-only disk: one
sentence, nothing lost, and the same command again does the rest. Transactions of SQLite are all or nothing.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from killing import OPERATIONS, Counting, builder, copy_world, documents, make, read_published

from small_disk import SmallDisk, small_disk
from small_world import world_builder, world_documents
from trials import FULL
from triplebeam.errors import CannotWriteError, DiskFullError, IndexDamagedError, IndexMissingError, TriplebeamError
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.system.durable import raise_cannot_write, transaction

HERE = Path(__file__).parent
MOUNTS = os.name == "posix" and sys.platform == "linux" and os.geteuid() == 0


def run_trials(script: str, seed: int, count: int, **environment: str) -> dict[str, Any]:
    """Run a program that ends its output with a report, and return that."""
    command = [sys.executable, HERE / script, str(seed), str(count)]
    environment |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert sum(report["ends"].values()) == count
    return report


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="it forks")
@pytest.mark.parametrize("seed", [1, 2] if FULL else [1])
def test_killed_at_any_instant(seed: int) -> None:
    ends = run_trials("killing.py", seed, 120 if FULL else 12)["ends"]
    assert {end.partition(":")[0] for end in ends} == set(OPERATIONS)
    assert any(end.endswith(": before") for end in ends)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="it preloads a library that it compiles")
def test_cut_at_any_flush(tmp_path: Path) -> None:
    library = tmp_path / "power_cut.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "power_cut.c", "-ldl", "-lpthread"], check=True)
    report = run_trials("power_cutting.py", 1, 90 if FULL else 16, LD_PRELOAD=str(library))
    assert set(report["ends"]) == {"new", "replies", *OPERATIONS}
    assert report["flushes"]["new"] > 50, "the flushes were not seen"


@contextmanager
def mount_image(image: Path, place: Path) -> Iterator[Path]:
    """A file system that writes to its disk only what it is asked to, for five minutes."""
    place.mkdir()
    done = subprocess.run(["mount", "-o", "loop,commit=300", image, place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr!r}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.skipif(not MOUNTS or not shutil.which("mkfs.ext4"), reason="it mounts a file system, as root on Linux")
def test_a_real_disk_has_what_was_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image of a disk, copied while the file system is in use, is what a power cut leaves of it."""
    monkeypatch.setattr(os, "fsync", import_module("posix").fsync)  # which other tests leave out
    image = tmp_path / "disk"
    image.write_bytes(bytes(64_000_000))
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    with mount_image(image, tmp_path / "before") as disk:
        builder = world_builder(disk / "my.index")
        builder.build(world_documents())
        builder.build([Document(id="late", text="Borin lives in Velmora.")])
        with CompletionStore(disk / "completions.sqlite") as store:
            for number in range(20):
                prompt = Prompt(system="s", user=str(number))
                store.put(bytes([number]), "m", prompt, Completion(text="paid", usage=Usage(calls=1)))
            shutil.copyfile(image, tmp_path / "copy")
    with mount_image(tmp_path / "copy", tmp_path / "after") as disk:
        snapshot = Snapshot.open(disk / "my.index")
        assert list(snapshot.passages.document_ids) == sorted([*(each.id for each in world_documents()), "late"])
        with CompletionStore(disk / "completions.sqlite") as store:
            assert store.count() == 20
        del snapshot  # its files are in use until then


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
