"""What it costs that a power cut loses nothing: the same work with and without flushing, in one run.

    python benchmarks/durability.py FOLDER [--documents 2000]

FOLDER is on the disk to be measured. Prints seconds and their ratios as JSON; only the ratios say something on a busy
machine. Without flushing, SQLite's `synchronous` is NORMAL and files of a generation are left to the system.
"""

import argparse
import json
import shutil
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from triplebeam.extract.extractor import Extraction
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Passage
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.triple import Triple

_REPLIES = 200
_ROUNDS = 5


@contextmanager
def unflushed() -> Iterator[None]:
    """Leave it to the system when the disk writes."""
    connect = sqlite3.connect

    class Careless(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            return super().execute(sql.replace("synchronous = FULL", "synchronous = NORMAL"), *values)  # type: ignore[arg-type]

    with (
        mock.patch("sqlite3.connect", lambda *values, **options: connect(*values, factory=Careless, **options)),
        mock.patch("os.fsync", return_value=None),
    ):
        yield


class OneFact:
    """A fact per passage."""

    name = "one-fact:1"

    def extract(self, passages: Iterator[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            first, _, second = passage.text.partition(" knows ")
            yield Extraction(passage_id=passage.id, triples=(Triple(first, "knows", second.rstrip(".")),))


def keep_replies(folder: Path, threads: int) -> None:
    """Keep replies that were paid for, as they arrive from so many requests at once."""
    with CompletionStore(folder / "completions.sqlite") as store, ThreadPoolExecutor(threads) as pool:

        def put(number: int) -> None:
            prompt = Prompt(system="s", user=f"question {number}")
            store.put(number.to_bytes(20, "big"), "m", prompt, Completion(text="a reply " * 50, usage=Usage(calls=1)))

        list(pool.map(put, range(_REPLIES)))


def build(folder: Path, documents: int) -> None:
    """Index documents into a new folder."""
    texts = [f"Person {number} knows person {number * 7 % documents}." for number in range(documents)]
    builder = IndexBuilder(folder=folder / "my.index", embedder=HashedWords(), extractor=OneFact())
    builder.build([Document(id=f"d{number}", text=text) for number, text in enumerate(texts)])


def seconds(folder: Path, work: Callable[[Path], None]) -> float:
    """How long it takes in an empty folder."""
    folder.mkdir(parents=True)
    started = time.perf_counter()
    work(folder)
    taken = time.perf_counter() - started
    shutil.rmtree(folder)
    return taken


def compared(folder: Path, work: Callable[[Path], None]) -> dict[str, float]:
    """Return the medians of rounds in which both take turns."""
    flushed, not_flushed = [], []
    for _ in range(_ROUNDS):
        flushed.append(seconds(folder, work))
        with unflushed():
            not_flushed.append(seconds(folder, work))
    one, two = statistics.median(flushed), statistics.median(not_flushed)
    return {"flushed": round(one, 3), "not flushed": round(two, 3), "ratio": round(one / two, 2)}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=2000)
    arguments = parser.parse_args()
    scratch = arguments.folder / "durability"
    report = {
        f"{_REPLIES} replies, one request at a time": compared(scratch, lambda folder: keep_replies(folder, 1)),
        f"{_REPLIES} replies, 16 requests at once": compared(scratch, lambda folder: keep_replies(folder, 16)),
        f"an index of {arguments.documents:,} passages": compared(scratch, lambda f: build(f, arguments.documents)),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
