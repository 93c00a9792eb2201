"""How searching and building grow: docs/images/scale-search.svg and scale-build.svg, from the results of a trial.

python benchmarks/scale_plots.py FOLDER/results.jsonl
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scale.stages import METHODS

from triplebeam_research.report.plots import render_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMAGES = Path(__file__).parent.parent / "docs" / "images"
#: Okabe and Ito's, which colour-blind readers can tell apart: the report has the same.
_COLOURS = ("#6b7280", "#0072b2", "#d55e00", "#008a64", "#b8588f", "#2b9bd8", "#b87c00")
_MARKERS = "osD^vph"
#: What is not building, but takes its place here.
_ENCODING = "embed"


def main() -> None:
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    measured = {(row["what"], row["passages"]): row for row in rows}  # of several runs, the last
    _write("scale-search.svg", partial(_growth, lines=_latencies(measured), name="Median ms per question"))
    _write("scale-build.svg", partial(_growth, lines=_stages(measured), name="Seconds of CPU time"))


def _latencies(measured: Mapping[tuple[str, int], Mapping[str, Any]]) -> dict[str, dict[int, float]]:
    lines: dict[str, dict[int, float]] = {method: {} for method in METHODS}
    for (what, passages), row in measured.items():
        if what in lines:
            lines[what][passages] = row["p50, ms"]
    return lines


def _stages(measured: Mapping[tuple[str, int], Mapping[str, Any]]) -> dict[str, dict[int, float]]:
    """Stages that belong together are added up."""
    lines: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (what, passages), row in measured.items():
        for stage, seconds in row["seconds of processor time"].items() if what == "build" else ():
            if stage != _ENCODING:
                lines["all but encoding"][passages] += seconds
                lines[_GROUPS.get(stage, "the rest")][passages] += seconds
    return lines


_GROUPS = {
    "read": "documents and triples stored",
    "extract": "documents and triples stored",
    "terms": "terms",
    "link synonyms": "synonyms",
    "synonyms": "synonyms",
}


def _growth(axes: "Axes", lines: Mapping[str, Mapping[int, float]], name: str) -> None:
    """Both axes are logarithmic: what grows with the corpus has the slope of the dotted line."""
    for place, (label, values) in enumerate(lines.items()):
        sizes = sorted(values)
        style = {"color": _COLOURS[place], "marker": _MARKERS[place]}
        axes.plot(sizes, [values[size] for size in sizes], label=label, **style)
    sizes = sorted({size for values in lines.values() for size in values})
    low = min(value for values in lines.values() for value in values.values())
    axes.plot(sizes, [low * size / sizes[0] for size in sizes], color="#565c64", linestyle=":", label="linear")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_xlabel("Passages")
    axes.set_ylabel(name)
    axes.figure.set_figheight(4.2)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=9)


def _write(file: str, draw: Any) -> None:
    (IMAGES / file).write_text(render_svg(draw, file, ""), encoding="utf-8")


if __name__ == "__main__":
    main()
