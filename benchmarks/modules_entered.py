"""Modules of the package that one question and one sentence pass through.

``python benchmarks/modules_entered.py [NAMES]`` adds a Markdown file of one sentence and searches it with the default
method, each once before, so that imports are not counted. It prints how many modules are entered and how often a call
goes from one to another; with NAMES also which modules.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import triplebeam
from triplebeam.testing.hashed_words import HashedWords

PACKAGE = Path(triplebeam.__file__).parent
SENTENCE = "William Herschel discovered Uranus in 1781."


def count_calls(work: Callable[[], object]) -> tuple[Counter[str], int]:
    """Count the calls of functions by module, and those that come from another module of the package."""
    entered, handed_over = Counter[str](), 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal handed_over
        file, caller = frame.f_code.co_filename, frame.f_back and frame.f_back.f_code.co_filename
        if event == "call" and file.startswith(str(PACKAGE)):
            entered[str(Path(file).relative_to(PACKAGE))] += 1
            handed_over += caller != file

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return entered, handed_over


def main(*, names: bool) -> None:
    """Print a line for adding, for searching and for reading the results."""
    with tempfile.TemporaryDirectory() as folder:
        (source := Path(folder, "a.md")).write_text(SENTENCE, encoding="utf-8")
        for attempt in ("first", "second"):
            index = triplebeam.Index(Path(folder, attempt), embedder=HashedWords())
            found: list[object] = []
            work: dict[str, Callable[[], object]] = {
                "add": lambda index=index: index.add(source, extractor="none"),
                "search": lambda index=index, found=found: found.append(index.search("Who discovered Uranus?")),
                "show": lambda found=found: [each.to_dict() for each in found],
            }
            counted = {name: count_calls(each) for name, each in work.items()}
    for name, (entered, handed_over) in counted.items():
        print(f"{name:>7}  {len(entered)} modules, {handed_over} calls from another module")
        if names:
            print(*(f"{calls:>9}  {module}" for module, calls in sorted(entered.items())), sep="\n")


if __name__ == "__main__":
    main(names=len(sys.argv) > 1)
