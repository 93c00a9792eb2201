"""What every method finds against what it costs: docs/images/recall-cost.svg, the picture to choose by.

    python benchmarks/query_time.py INDEX QUESTIONS --json times.json
    python benchmarks/recall_against_cost.py times.json

Recall is the mean R@5 over three datasets (`recall.json`), cost the median milliseconds of a question in one run.
"""

import json
import re
import sys
from pathlib import Path
from statistics import mean

from triplebeam.evaluate.report.plots.scatter import Point, scatter_plot

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "recall-cost.svg"
#: The report's page gives these classes their look; a picture on its own brings it along.
LOOKS = {
    "grid": 'stroke="currentColor" stroke-opacity="0.14"',
    "leader": 'stroke="currentColor" stroke-opacity="0.5" stroke-width="0.8"',
    "tick": 'fill="currentColor" fill-opacity="0.75" font-size="12"',
    "axis": 'fill="currentColor" font-size="13" font-weight="600"',
    "label": 'fill="currentColor" font-size="13"',
}
MARK = 'fill="#3b6ea5"'
#: Where a name is too long for the picture.
LABELS = {
    "hybrid+naive_ge[scorer=pooled]": "naive_ge, pooled",
    "hybrid+naive_ge": "naive_ge",
    "hybrid+naive_ge[scorer=exact]": "naive_ge, exact",
    "scaled_hybrid+gnn_ret": "scaled + gnn_ret",
    "dense+gnn_ret": "dense + gnn_ret",
    "hipporag[entities=verbatim]": "hipporag",
}


def main() -> None:
    times: dict[str, float] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    recall = json.loads((HERE / "recall.json").read_text(encoding="utf-8"))["methods"]
    points = [
        Point(place=0, label=LABELS.get(method, method), cost=times[method], value=mean(r5 for r5, _ in found.values()))
        for method, found in recall.items()
        if method in times
    ]
    svg = str(
        scatter_plot(
            points,
            title="Recall against cost",
            cost_name="median milliseconds a question, MuSiQue, two cores",
            cost_written=lambda cost: f"{cost:g}",
            value_name="mean R@5 of three datasets",
            value_written=lambda value: f"{value:.0f}",
        )
    )
    svg = re.sub(r'class="mark[^"]*"', MARK, svg)
    svg = re.sub(r'class="(\w+)"', lambda found: LOOKS.get(found[1], ""), svg)
    svg = re.sub(r' (role|aria-label)="[^"]*"', "", svg).replace(
        "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" ', 1
    )
    PICTURE.write_text(svg + "\n", encoding="utf-8")
    print(f"{len(points)} methods in {PICTURE}")


if __name__ == "__main__":
    main()
