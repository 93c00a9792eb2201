"""The speed of search, side by side in one run: our methods and their parts, others' libraries, many questions at once.

    python benchmarks/query_time.py [INDEX QUESTIONS] [--count 50] [-m METHOD ...] [--json FILE]

Without arguments it indexes the toy corpus into a temporary folder. Times are of the processor, of this machine and of
this run; the table of ratios is what can be compared with another run. OPENBLAS_NUM_THREADS=1 makes it steadier.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table
from speed.building import build_again
from speed.clock import PARTS
from speed.others import compare
from speed.ours import METHODS, Measured, measure, speed_up_of_many

from triplebeam import assemble, demo
from triplebeam.evaluate.questions import read_questions
from triplebeam.settings import read_settings

CONSOLE = Console(width=200)


def show_methods(measured: dict[str, Measured]) -> None:
    """Milliseconds of each method and of its parts."""
    table = Table("milliseconds", "p50", "p95", *PARTS, "other")
    for method, result in measured.items():
        table.add_row(_plain(method), *(f"{cell:.1f}" for cell in result.cells()))
    CONSOLE.print(table)


def show_others(collection: assemble.Index, questions: list[str]) -> None:
    """Others' time over ours."""
    table = Table("against", "theirs ms", "ours ms", "theirs / ours", "agreement")
    for what, ours, theirs, agreement in compare(collection, questions):
        table.add_row(what, f"{1000 * theirs:.2f}", f"{1000 * ours:.2f}", f"{theirs / ours:.1f}", agreement)
    CONSOLE.print(table)


def show_ratios(measured: dict[str, Measured], collection: assemble.Index, questions: list[str]) -> None:
    """Print what depends little on the machine."""
    table = Table("ratio", "value")
    for method, result in measured.items():
        ratio = result.rest / result.yardstick
        table.add_row(f"{_plain(method)} without encoding / one exact NumPy search over the triples", f"{ratio:.2f}")
    if {"hybrid", "hybrid+naive_ge"} <= set(measured):
        naive, hybrid = measured["hybrid+naive_ge"], measured["hybrid"]
        alone = naive.encoded_at_once / len(naive.walls)
        table.add_row("hybrid+naive_ge / (hybrid + its encodings alone)", f"{_mean(naive) / (hybrid.rest + alone):.2f}")
        during = sum(naive.encoding) / naive.encoded_at_once
        table.add_row("hybrid+naive_ge: its encodings, question by question / all in one call", f"{during:.2f}")
    for method in measured:
        if (factor := speed_up_of_many(collection, method, questions)) is not None:
            table.add_row(f"{_plain(method)} without encoding: one at a time / many at once", f"{factor:.2f}")
    building, encoding = build_again(collection, assemble.context_of(collection).embedder)
    table.add_row("building an index of given triples / encoding alone", f"{building / encoding:.2f}")
    CONSOLE.print(table)


def _mean(measured: Measured) -> float:
    return sum(measured.walls) / len(measured.walls)


def _plain(method: str) -> str:
    return method.replace("[", "\\[")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", nargs="?", type=Path)
    parser.add_argument("questions", nargs="?", type=Path)
    parser.add_argument("--count", type=int, default=64, help="how many questions")
    parser.add_argument("-m", "--method", action="append", help="only these; all unless given")
    parser.add_argument("--json", type=Path, help="write each method's median milliseconds to this file")
    arguments = parser.parse_args()
    # The oracle of Algorithm 1 is the plain beam search.
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder)
        if not arguments.index:
            demo.build(index, read_settings())
        asked = read_questions(arguments.questions) if arguments.questions else demo.questions()
        questions = [each.question for each in asked][: arguments.count]
        # Not the index's own, which remembers the questions of the method before.
        embedder = assemble.make_embedder(assemble.open_index(index).snapshot.manifest.embedder.name, read_settings())
        methods = arguments.method or METHODS
        measured = {method: measure(index, embedder, method, questions) for method in methods}
        collection = assemble.open_index(index, embedder=embedder)
        show_methods(measured)
        if arguments.json:
            medians = {method: round(1000 * median(result.walls), 2) for method, result in measured.items()}
            arguments.json.write_text(json.dumps(medians, indent=2) + "\n", encoding="utf-8")
        show_others(collection, questions)
        show_ratios(measured, collection, questions)


if __name__ == "__main__":
    main()
