"""Where a query's time goes, method by method, side by side in one run.

    python benchmarks/query_time.py INDEX QUESTIONS [--count 50]

Without arguments it indexes the toy corpus into a temporary folder. Times are of this machine and of this run:
compare the rows with each other, not with another run.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from triplebeam import assemble, demo
from triplebeam.embed.onnx_embedder import OnnxEmbedder
from triplebeam.evaluate.questions import read_questions
from triplebeam.index.passages import PassageTable
from triplebeam.index.terms import TermIndex
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.index.vectors import VectorIndex
from triplebeam.methods.gear.beam_search import DiverseTripleBeamSearch
from triplebeam.settings import read_settings

METHODS = (
    "bm25",
    "dense",
    "hybrid",
    "hybrid+naive_ge[scorer=pooled]",
    "hybrid+naive_ge",
    "hybrid+naive_ge[scorer=exact]",
)
#: What is timed; time inside an inner part is not counted again in the outer one.
PARTS: dict[str, tuple[type, str]] = {
    "BM25": (TermIndex, "search"),
    "encoding": (OnnxEmbedder, "embed"),
    "vector search": (VectorIndex, "nearest"),
    "neighbours": (TripleGraph, "neighbours"),
    "beam search": (DiverseTripleBeamSearch, "search"),
    "text lookup": (PassageTable, "__getitem__"),
}


class Clock:
    """Self time of nested parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                took = time.perf_counter() - start
                self.seconds[part] += took - self._inner.pop()
                self._inner[-1] += took

        return run


@contextmanager
def clocked() -> Iterator[Clock]:
    """Time the parts while this lasts."""
    clock, originals = Clock(), {part: getattr(*place) for part, place in PARTS.items()}
    for part, (owner, name) in PARTS.items():
        setattr(owner, name, clock.timed(part, originals[part]))
    try:
        yield clock
    finally:
        for part, (owner, name) in PARTS.items():
            setattr(owner, name, originals[part])


def measure(collection: assemble.Collection, method: str, questions: list[str]) -> tuple[list[float], dict[str, float]]:
    """Seconds of each question, and of each part over all of them."""
    for hit in collection.search(questions[-1], method, 10):  # files are mapped, models loaded
        collection.passages[hit.passage_id]
    walls = []
    with clocked() as clock:
        retriever = collection.retriever(method)
        for question in questions[:-1]:
            start = time.perf_counter()
            for hit in retriever.retrieve(question, 10):
                collection.passages[hit.passage_id]
            walls.append(time.perf_counter() - start)
    return walls, clock.seconds


def row(method: str, walls: list[float], parts: dict[str, float], hybrid: float) -> list[str]:
    """A line of the table."""
    means = [1000 * parts.get(part, 0.0) / len(walls) for part in PARTS]
    other = 1000 * sum(walls) / len(walls) - sum(means)
    p95 = sorted(walls)[int(0.95 * (len(walls) - 1))]
    cells = [1000 * median(walls), 1000 * p95, *means, other]
    return [method.replace("[", "\\["), *(f"{cell:.1f}" for cell in cells), f"{median(walls) / hybrid:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", nargs="?", type=Path)
    parser.add_argument("questions", nargs="?", type=Path)
    parser.add_argument("--count", type=int, default=50, help="how many questions")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder)
        if not arguments.index:
            demo.build(index, read_settings())
        questions = (
            [q.question for q in read_questions(arguments.questions)]
            if arguments.questions
            else [q.question for q in demo.questions()]
        )[: arguments.count]
        # A collection of its own, so that no method finds a question already encoded by another.
        measured = {method: measure(assemble.open_collection(index), method, questions) for method in METHODS}
        table = Table("method", "p50 ms", "p95 ms", *(f"{part} ms" for part in PARTS), "other ms", "x hybrid")
        for method, (walls, parts) in measured.items():
            table.add_row(*row(method, walls, parts, median(measured["hybrid"][0])))
        Console(width=180).print(table)


if __name__ == "__main__":
    main()
