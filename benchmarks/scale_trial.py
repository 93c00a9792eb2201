"""How building and searching grow with the corpus, from clones of real passages and triples.

    python benchmarks/scale_trial.py 27000 [108000 490000] --folder FOLDER [--questions 40] [--rounds 1] [-m METHOD ...]

Indexes are kept in the folder, so that a second run only searches. Results are appended to ``FOLDER/results.jsonl``.
Times of search and of the stages of a build are processor time unless they say so: compare them inside one run, which
should have OMP_NUM_THREADS=1 for them.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from scale.clones import Clones
from scale.stages import METHODS, build, in_its_own_process, open_, search


def main() -> None:
    """Build, open and search each size."""
    arguments = _arguments()
    data = Path(os.environ["TRIPLEBEAM_DATA"])
    questions = Clones(data, 0).questions(arguments.questions + 1)
    for passages in arguments.passages * arguments.rounds:
        folder = arguments.folder / f"{passages}.index"
        if not (folder / "manifest.json").exists():
            _report(arguments.folder, passages, "build", in_its_own_process(build, folder, data, passages))
        _report(arguments.folder, passages, "open", in_its_own_process(open_, folder))
        for method in arguments.method or METHODS:
            _report(arguments.folder, passages, method, in_its_own_process(search, folder, method, questions))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("passages", nargs="+", type=int)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=1, help="how often the sizes take their turns")
    parser.add_argument("-m", "--method", action="append", help="only these; all unless given")
    return parser.parse_args()


def _report(folder: Path, passages: int, what: str, found: dict[str, Any]) -> None:
    line = json.dumps({"passages": passages, "what": what, **found})
    print(line, flush=True)
    with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
