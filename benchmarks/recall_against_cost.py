"""What every method finds against what it costs: docs/images/recall-cost.svg, the picture to choose by.

    python benchmarks/query_time.py INDEX QUESTIONS --json times.json
    python benchmarks/recall_against_cost.py times.json

Recall is the mean R@5 over three datasets (results.json), with the default embedder and extractor. Cost is the median
CPU time per question in one run.
"""

import json
import sys
from functools import partial
from pathlib import Path
from statistics import mean

from triplebeam_research.report.plots import cost_plot, render_svg

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "recall-cost.svg"
EMBEDDER, TRIPLES = "granite", "local"
DATASETS = ("musique", "2wikimultihopqa", "hotpotqa")


def main() -> None:
    times: dict[str, float] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found: dict[str, list[float]] = {}
    for row in json.loads((HERE / "results.json").read_text(encoding="utf-8")):
        if (row["embedder"], row["triples"]) == (EMBEDDER, TRIPLES) and row["dataset"] in DATASETS:
            found.setdefault(row["method"], []).append(row["R@5"])
    known = [method for method in times if len(found.get(method, ())) == len(DATASETS)]
    points = [(place, method, times[method] / 1000, mean(found[method]) / 100) for place, method in enumerate(known)]
    draw = partial(
        cost_plot,
        points=points,
        cost_name="Median CPU time per question, MuSiQue (log scale)",
        value_name="Mean R@5 (%)",
    )
    PICTURE.write_text(render_svg(draw, "Recall against cost", ""), encoding="utf-8")
    print(f"{len(points)} methods in {PICTURE}")


if __name__ == "__main__":
    main()
