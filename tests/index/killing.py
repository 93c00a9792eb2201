"""Kills a writer at chosen instants, and looks at what is left: a process of its own, since it forks.

    python tests/index/killing.py SEED KILLS

Each trial copies an index, changes it in a forked process, and sends that SIGKILL when it opens, renames or deletes its
n-th file or runs its n-th SQL statement. Then the index is opened, the change is made again, and the result is compared
with an index that was never interrupted. The last line of the output is JSON.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from triplebeam.extract.extractor import Extraction
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.writing import purge
from triplebeam.index.content import encoding
from triplebeam.index.folder.manifest import generation_folder, read_manifest
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.store import store
from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.store import Store
from triplebeam.ingest import FolderFiles, SourceNames
from triplebeam.passage import Document, Passage
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.triple import Triple

_EVENTS = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "sqlite3.connect"))
_PEOPLE = [f"Person {number}" for number in range(40)]


class Counting:
    """A fact per passage, and the passages that were asked for."""

    name = "counting:1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            self.asked.append((passage.id, passage.text))
            first, second = passage.text.split(" knows ")
            yield Extraction(passage_id=passage.id, triples=(Triple(first, "knows", second.rstrip(".")),))


def text_of(number: int, version: int = 0) -> str:
    return f"{_PEOPLE[number]} knows {_PEOPLE[(number * 7 + version + 1) % 40]}."


def documents(numbers: Iterable[int], version: int = 0) -> list[Document]:
    return [Document(id=f"d{number}", text=text_of(number, version)) for number in numbers]


def builder(index: Path, extractor: Counting | None = None) -> IndexBuilder:
    return IndexBuilder(folder=index, embedder=HashedWords(), extractor=extractor or Counting())


def make(index: Path) -> None:
    """The index that is changed: documents by themselves, and a folder beside it."""
    docs = index.parent / "docs"
    docs.mkdir(parents=True)
    for number in range(20, 26):
        (docs / f"{number}.md").write_text(text_of(number))
    builder(index).build(documents(range(20)))
    sync(index, Counting())
    builder(index).remove(["d0", "d1"])


def add(index: Path, extractor: Counting) -> None:
    builder(index, extractor).build([*documents([2, 3], version=1), *documents(range(30, 40))])


def sync(index: Path, extractor: Counting) -> None:
    docs = index.parent / "docs"
    builder(index, extractor).sync(FolderFiles.of([docs], SourceNames({str(docs): "docs"})))


def correct(index: Path, extractor: Counting) -> None:
    rows = [
        {"drop": [_PEOPLE[6], "*", "*"]},
        {"merge": [_PEOPLE[7]], "into": _PEOPLE[8]},
        {"add": [_PEOPLE[9], "knows", _PEOPLE[3]], "document": "d9"},
    ]
    builder(index, extractor).correct(Corrections.of(rows))


OPERATIONS: dict[str, Callable[[Path, Counting], object]] = {
    "index": add,
    "remove": lambda index, extractor: builder(index, extractor).remove(["d4", "d5"]),
    "sync": sync,
    "compact": lambda index, extractor: purge(index),
    "correct": correct,
    "repair": lambda index, extractor: builder(index, extractor).repair(),
}


def count_events(at: int) -> Callable[[], int]:
    """Counts what happens to files; the process is killed at the given event."""
    events = 0

    def happened() -> None:
        nonlocal events
        events += 1
        if events == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event in _EVENTS:
            happened()

    sys.addaudithook(audit)
    for module in (store, encoding):
        original = module.open_database

        def opened(*arguments: object, original: Callable[..., sqlite3.Connection] = original) -> sqlite3.Connection:
            db = original(*arguments)
            db.set_trace_callback(lambda statement: happened())
            return db

        module.open_database = opened  # type: ignore[assignment]
    return lambda: events


def run_forked(work: Callable[[], None]) -> int:
    """Run something in a process of its own; the status it ended with."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a forked process must not go on with the parent's work
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def read_published(index: Path) -> tuple[tuple[str, bytes], ...]:
    """Everything that readers see, except the number of the generation and when it was made."""
    manifest = read_manifest(index)
    generation = generation_folder(index, manifest.generation)
    return tuple((name, (generation / name).read_bytes()) for name in sorted(manifest.files))


def events_of(operation: str, world: Path, scratch: Path) -> int:
    """How many events an operation has that is not interrupted."""
    index = copy_world(world, scratch / f"count-{operation}", operation)
    counts = scratch / "events"

    def work() -> None:
        count = count_events(0)
        OPERATIONS[operation](index, Counting())
        counts.write_text(str(count()))

    assert run_forked(work) == 0, f"{operation} fails"
    return int(counts.read_text())


def copy_world(world: Path, place: Path, operation: str) -> Path:
    """A copy of the index, and of its folder after somebody has changed that; a bit of what is repaired is flipped."""
    shutil.copytree(world, place)
    docs = place / "docs"
    (docs / "20.md").unlink()
    (docs / "21.md").rename(docs / "moved.md")
    (docs / "new.md").write_text(text_of(27))
    os.utime(docs / "new.md", (10**9, 10**9))  # the time is part of what is published
    index = place / "my.index"
    if operation == "repair":
        vectors = generation_folder(index, read_manifest(index).generation) / "passage_vectors.npy"
        content = vectors.read_bytes()
        vectors.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    return index


def repeat(operation: str, index: Path, expected: tuple[tuple[str, bytes], ...]) -> None:
    """Make a change again that was interrupted: no work is done twice, and the index is as without the interruption."""
    with closing(Store(index / "store.sqlite")) as opened:
        made, there = opened.extractions.extractors(), dict(opened.passages())
    extractor = Counting()
    OPERATIONS[operation](index, extractor)
    done = {(there[number].id, there[number].text) for number in made}
    assert not done.intersection(extractor.asked), "work was repeated"
    other = [one[0] for one, two in zip(read_published(index), expected, strict=True) if one != two]
    assert not other, f"the result of {operation} is another: {other}"
    assert len(list((index / "generations").iterdir())) == 1, "an old generation is left"


def trial(operation: str, at: int, world: Path, place: Path, expected: tuple[tuple[str, bytes], ...]) -> str:
    """What became of an index whose writer was killed: how it ended, in a word."""
    index = copy_world(world, place, operation)
    before = read_published(index)

    def work() -> None:
        count_events(at)
        OPERATIONS[operation](index, Counting())

    assert run_forked(work) == -signal.SIGKILL, "it was not killed"
    Snapshot.open(index)
    seen = read_published(index)
    assert seen in (before, expected), "readers saw half of a change"
    repeat(operation, index, expected)
    assert not (index / "encoded.sqlite").exists(), f"vectors are left over after {operation} killed at {at}"
    return "after" if seen == expected != before else "before"


def main() -> None:
    seed, kills = map(int, sys.argv[1:])
    chosen = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="killing-") as folder:
        scratch = Path(folder)
        world = scratch / "world"
        make(world / "my.index")
        ends: Counter[str] = Counter()
        events = {operation: events_of(operation, world, scratch) for operation in OPERATIONS}
        expected = {}
        for operation in OPERATIONS:
            OPERATIONS[operation](index := copy_world(world, scratch / f"whole-{operation}", operation), Counting())
            expected[operation] = read_published(index)
        for number in range(kills):
            operation = list(OPERATIONS)[number % len(OPERATIONS)]
            at = chosen.randint(1, events[operation])
            place = scratch / "trial"
            ends[f"{operation}: {trial(operation, at, world, place, expected[operation])}"] += 1
            shutil.rmtree(place)
    print(json.dumps({"kills": kills, "events": events, "ends": dict(sorted(ends.items()))}))


if __name__ == "__main__":
    main()
