"""What a filtered search costs: the first use of a filter, which makes its view, and later ones, against no filter.

    python benchmarks/filtered_search.py MY.index QUESTIONS.jsonl.gz --where 'title >= "M"' --where 'title >= "W"'

Times are seconds of processor time of this process, medians over the questions, so that other work on the machine
changes the ratios little. The embedder is loaded, and every question encoded, before anything is measured.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from triplebeam import open as open_index
from triplebeam.assemble import Index, context_of
from triplebeam.evaluate.questions import read_questions

_METHODS = ("bm25", "dense", "hybrid", "hybrid+naive_ge", "gnn_ret", "hipporag2", "blend")


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    index = open_index(arguments.index)
    questions = [question.question for question in read_questions(arguments.questions)[: arguments.limit]]
    context_of(index).embedder.embed(questions, kind="query")
    whole = _searches(index, arguments.method, questions)
    print(f"{len(index):,} passages, {len(context_of(index).triples):,} triples, {len(questions)} questions")
    _print("no filter", whole, whole)
    for where in arguments.where:
        view: Index | None = None

        def make(where: str = where) -> None:
            nonlocal view
            view = index.filter(where)

        first = _seconds(make)
        assert view is not None
        print(f"{where}: {len(view):,} passages, {len(context_of(view).triples):,} triples; made in {first:.2f} s")
        print(f"  found again in {_seconds(lambda where=where: index.filter(where)) * 1000:.2f} ms")  # type: ignore[misc]
        _print(where, _searches(view, arguments.method, questions), whole)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--where", action="append", required=True)
    parser.add_argument("--method", action="append", default=[])
    parser.add_argument("--limit", type=int, default=100)
    arguments = parser.parse_args()
    arguments.method = arguments.method or list(_METHODS)
    return arguments


def _searches(index: Index, methods: list[str], questions: list[str]) -> dict[str, tuple[float, float]]:
    """By method: the seconds of the first search, which builds what is built once, and the median of the others."""
    found = {}
    for method in methods:
        first = _seconds(lambda method=method: index.search(questions[0], method=method))  # type: ignore[misc]
        later = [_seconds(lambda q=q, method=method: index.search(q, method=method)) for q in questions[1:]]  # type: ignore[misc]
        found[method] = first, statistics.median(later)
    return found


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _print(name: str, found: dict[str, tuple[float, float]], whole: dict[str, tuple[float, float]]) -> None:
    print(f"{name:>40}   first search    later searches")
    for method, (first, later) in found.items():
        print(f"{method:>40} {first:9.3f} s {later * 1000:12.2f} ms ({later / whole[method][1]:.2f} of no filter)")


if __name__ == "__main__":
    main()
