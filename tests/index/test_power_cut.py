"""Writers that are killed at any instant lose nothing, leave nothing half done, and repeat no work. A power cut loses
what the disk was not asked to write, and nothing that was acknowledged is among it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from small_world import world_builder, world_documents
from trials import FULL
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document

HERE = Path(__file__).parent
MOUNTS = os.name == "posix" and sys.platform == "linux" and os.geteuid() == 0


OPERATIONS = {"index", "remove", "sync", "compact", "correct", "repair"}


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
    assert {end.partition(":")[0] for end in ends} == OPERATIONS
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
