"""Cuts the power of a writer at its n-th flush, and looks at what the disk is sure to have: a process of its own.

    LD_PRELOAD=power_cut.so python tests/index/power_cutting.py SEED CUTS

Each trial works in a forked process, which is killed when it is about to flush for the n-th time. What was written and
not flushed is lost. Of the names of files, either those are left that were flushed, or all of them: a disk may write
names early. What is left is opened, and the same work is done again. The last line of the output is JSON.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from killing import OPERATIONS, Counting, copy_world, documents, make, read_published, repeat, run_forked

from triplebeam.errors import IndexMissingError
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.testing.hashed_words import HashedWords

_REPLIES = 12
_NEVER = 10**9
#: Says how much of the work has returned.
Acknowledge: TypeAlias = Callable[[int], object]
#: Works in a folder.
Work: TypeAlias = Callable[[Path, Acknowledge], None]


class Disk:
    """What is sure to be there of everything under a folder."""

    def __init__(self, folder: Path, kept: Path) -> None:
        """All that is there now was flushed long ago."""
        self.folder, self._kept = folder, kept
        kept.mkdir()
        (kept / "count").write_text("0")
        paths = [folder, *folder.rglob("*")]
        self._held = [os.open(path, os.O_RDONLY) for path in paths]  # so that no other file gets their numbers
        for path in paths:
            content = _names(path).encode() if path.is_dir() else path.read_bytes()
            (kept / str(path.stat().st_ino)).write_bytes(content)

    def cut(self, at: int, work: Work) -> int:
        """Work in another process until its n-th flush; how much of it was acknowledged, -1 if it was done."""
        acknowledged = self._kept / "acknowledged"
        acknowledged.write_text("0")

        def watched() -> None:
            os.environ |= {"POWER_CUT_KEPT": str(self._kept), "POWER_CUT_AT": str(at)}
            work(self.folder, lambda done: acknowledged.write_text(str(done)))

        status = run_forked(watched)
        assert status in (0, -signal.SIGKILL), "it failed by itself"
        return int(acknowledged.read_text()) if status else -1

    def flushes(self) -> int:
        return int((self._kept / "count").read_text())

    def after(self, place: Path, *, early_names: bool) -> Path:
        """The folder as it is found when the power is back."""
        self._restore(self.folder.stat().st_ino, self.folder if early_names else None, place)
        for document in self.folder.glob("docs/*"):  # times are part of what is published
            shutil.copystat(document, place / "docs" / document.name)
        return place

    def _restore(self, inode: int, real: Path | None, place: Path) -> None:
        place.mkdir()
        for line in (_names(real) if real else self._content(inode).decode()).splitlines():
            number, is_folder, name = line.split(" ", 2)
            if int(is_folder):
                self._restore(int(number), real / name if real else None, place / name)
            else:
                (place / name).write_bytes(self._content(int(number)))

    def _content(self, inode: int) -> bytes:
        kept = self._kept / str(inode)
        return kept.read_bytes() if kept.exists() else b""

    def close(self) -> None:
        for handle in self._held:
            os.close(handle)


def _names(folder: Path) -> str:
    with os.scandir(folder) as entries:
        return "".join(f"{each.inode()} {int(each.is_dir())} {each.name}\n" for each in entries)


class Change:
    """An operation on an index that is there: readers see the old one or the new one, and never less work is kept."""

    def __init__(self, operation: str, world: Path, scratch: Path) -> None:
        self._operation, self._world = operation, world
        index = self.prepared(scratch / f"whole-{operation}") / "my.index"
        self._before = read_published(index)
        OPERATIONS[operation](index, Counting())
        self._expected = read_published(index)

    def prepared(self, place: Path) -> Path:
        return copy_world(self._world, place, self._operation).parent

    def work(self, folder: Path, acknowledge: Acknowledge) -> None:
        OPERATIONS[self._operation](folder / "my.index", Counting())

    def check(self, folder: Path, acknowledged: int) -> None:
        index = folder / "my.index"
        Snapshot.open(index)
        seen = read_published(index)
        assert seen in ((self._expected,) if acknowledged < 0 else (self._before, self._expected))
        repeat(self._operation, index, self._expected)


class FromNothing:
    """Work in a new folder."""

    def prepared(self, place: Path) -> Path:
        place.mkdir()
        return place


class First(FromNothing):
    """A new index: every extraction that was acknowledged is there."""

    def work(self, folder: Path, acknowledge: Acknowledge) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            if stage == "extract":
                acknowledge(done)

        self._build(folder, Counting(), progress)

    def check(self, folder: Path, acknowledged: int) -> None:
        index, extractor = folder / "new" / "my.index", Counting()
        if acknowledged < 0:
            Snapshot.open(index)
        with suppress(IndexMissingError):  # any other error is damage
            Snapshot.open(index)
        self._build(folder, extractor, lambda stage, done, total: None)
        assert len(Snapshot.open(index).passages) == 40
        assert len(extractor.asked) <= (0 if acknowledged < 0 else 40 - acknowledged), "paid work was lost"

    def _build(self, folder: Path, extractor: Counting, progress: Callable[[str, int, int], None]) -> None:
        index = folder / "new" / "my.index"
        builder = IndexBuilder(folder=index, embedder=HashedWords(), extractor=extractor, progress=progress)
        builder.build(documents(range(40)))


class Replies(FromNothing):
    """Replies that were paid for, each of which is there as soon as it was kept."""

    def work(self, folder: Path, acknowledge: Acknowledge) -> None:
        with CompletionStore(folder / "cache" / "completions.sqlite") as store:
            for number in range(_REPLIES):
                prompt = Prompt(system="s", user=f"question {number}")
                store.put(bytes([number]), "m", prompt, Completion(text="paid", usage=Usage(calls=1)))
                acknowledge(number + 1)

    def check(self, folder: Path, acknowledged: int) -> None:
        with CompletionStore(folder / "cache" / "completions.sqlite") as store:
            assert store.count() >= (_REPLIES if acknowledged < 0 else acknowledged), "a reply was paid for and lost"


def trial(task: "Change | First | Replies", at: int, place: Path) -> tuple[int, int]:
    """Cut the power once, and check both disks; how much was acknowledged, and the number of flushes."""
    place.mkdir()
    disk = Disk(task.prepared(place / "work"), place / "kept")
    try:
        acknowledged = disk.cut(at, task.work)
        for early_names in (False, True):
            task.check(disk.after(place / f"after-{early_names}", early_names=early_names), acknowledged)
        return acknowledged, disk.flushes()
    finally:
        disk.close()
        shutil.rmtree(place)


def main() -> None:
    seed, cuts = map(int, sys.argv[1:])
    chosen = random.Random(seed)
    memory = Path("/dev/shm")  # where real flushes cost nothing
    with tempfile.TemporaryDirectory(prefix="power-cut-", dir=memory if memory.is_dir() else None) as name:
        scratch = Path(name)
        make(scratch / "world" / "my.index")
        tasks: dict[str, Change | First | Replies] = {"new": First(), "replies": Replies()}
        tasks |= {operation: Change(operation, scratch / "world", scratch) for operation in OPERATIONS}
        flushes = {task: trial(tasks[task], _NEVER, scratch / "trial")[1] for task in tasks}
        ends: Counter[str] = Counter()
        for number in range(cuts):
            task = list(tasks)[number % len(tasks)]
            at = chosen.randint(1, flushes[task])
            try:
                assert trial(tasks[task], at, scratch / "trial")[0] >= 0, "it was not cut"
            except BaseException:
                print(f"{task}, cut at flush {at} of {flushes[task]}", file=sys.stderr)
                raise
            ends[task] += 1
    print(json.dumps({"cuts": cuts, "flushes": flushes, "ends": dict(sorted(ends.items()))}))


if __name__ == "__main__":
    main()
