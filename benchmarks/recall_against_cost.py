"""What every method finds against what it costs: docs/images/recall-cost.svg, the picture to choose by.

    python benchmarks/query_time.py INDEX QUESTIONS --json times.json
    python benchmarks/recall_against_cost.py times.json

Recall is the mean R@5 over three datasets (results.json), cost the median milliseconds per question in one run.
"""

import json
import re
import sys
from functools import partial
from pathlib import Path
from statistics import mean

from triplebeam.evaluate.report.plots import cost_plot, to_svg

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "recall-cost.svg"
TRIPLES = "gpt-3.5-turbo-1106"
DATASETS = {"musique": 524, "2wikimultihopqa": 517, "hotpotqa": 485}
#: Not a search of its own: it lists only what facts name.
PART = "title_link"
#: The same method under the name that the results have.
NAMES = {"dense+gnn_ret": "gnn_ret"}


def main() -> None:
    times: dict[str, float] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found: dict[str, list[float]] = {}
    for row in json.loads((HERE / "results.json").read_text(encoding="utf-8")):
        if row["triples"] == TRIPLES and DATASETS[row["dataset"]] == row["questions"]:
            found.setdefault(row["method"], []).append(row["R@5"])
    known = [
        method for method in times if method != PART and len(found.get(NAMES.get(method, method), ())) == len(DATASETS)
    ]
    points = [
        (place, method, times[method] / 1000, mean(found[NAMES.get(method, method)]) / 100)
        for place, method in enumerate(known)
    ]
    draw = partial(
        cost_plot,
        points=points,
        cost_name="Median time per question, MuSiQue, two cores (log scale)",
        value_name="Mean R@5 (%)",
    )
    svg = re.sub(
        r"<svg [^>]*(?=viewBox)", '<svg xmlns="http://www.w3.org/2000/svg" ', to_svg(draw, "Recall", ""), count=1
    )
    svg = svg.replace("xlink:href", "href")
    PICTURE.write_text(svg, encoding="utf-8")
    print(f"{len(points)} methods in {PICTURE}")


if __name__ == "__main__":
    main()
