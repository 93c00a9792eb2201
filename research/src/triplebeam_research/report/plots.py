"""The report's plots as SVG by matplotlib.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart, and markers differ in shape as well. In
a page each colour is a variable of its style sheet, so a plot follows the page into dark mode.
"""

import html
import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator
from numpy.typing import NDArray

from triplebeam.evaluate.compare import Difference

_PAPER, _INK, _SOFT, _GRID = "#fdfdfc", "#1c1e21", "#565c64", "#e4e5e1"
_SERIES = ("#6b7280", "#0072b2", "#d55e00", "#008a64", "#b8588f", "#2b9bd8", "#b87c00", "#7a5bb0")
_VARIABLES = {
    _PAPER: "var(--paper)",
    _INK: "var(--ink)",
    _SOFT: "var(--soft)",
    _GRID: "var(--grid)",
    **{colour: f"var(--s{number})" for number, colour in enumerate(_SERIES)},
}
_MARKERS = "osD^vphP*"
_WIDTH, _ROW = 6.6, 0.32  # inches; a row is a method's label
_MAX_LABEL_CHARACTERS = 32
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "text.color": _INK,
    "axes.facecolor": _PAPER,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": _GRID,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
    "lines.linewidth": 2,
}
#: What matplotlib writes that a page may have only once (ids that nothing refers to), or cannot use.
_NOT_FOR_PAGES = re.compile(
    r'^.*?(?=<svg )|<metadata>.*?</metadata>\s*| id="[A-Za-z0-9.]+_\d+"|<!--.*?-->\s*', re.DOTALL
)


class Series(NamedTuple):
    """A method's values: its place among the methods decides its colour and its marker."""

    place: int
    label: str
    values: Sequence[float]


def render_svg(draw: Callable[[Axes], None], caption: str, description: str) -> str:
    """Render the plot as an SVG element, the same for the same values."""
    written = io.StringIO()
    with rc_context(_STYLE | {"svg.hashsalt": caption}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the reader's browser has its own fonts
        figure = Figure(figsize=(_WIDTH, 3), layout="constrained", facecolor=_PAPER)
        draw(figure.subplots())
        figure.savefig(written, format="svg", metadata={"Date": None})
    words = html.escape(f"{caption}. {description}")
    drawing = _NOT_FOR_PAGES.sub("", written.getvalue())
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1)


def follow_page(drawing: str) -> str:
    """Give a plot the colours of the page that it is part of."""
    return re.sub("|".join(_VARIABLES), lambda colour: _VARIABLES[colour[0]], drawing)


def difference_plot(axes: Axes, rows: Sequence[tuple[int, str, Difference]], value_name: str) -> None:
    """Plot a marker for each mean difference and a bar for its interval, on either side of a line at 0."""
    axes.axvline(0, color=_SOFT, linestyle=":")
    for y, (place, _, difference) in enumerate(rows):
        axes.plot([100 * difference.low, 100 * difference.high], [y, y], color=_colour(place), linewidth=3)
        axes.plot(100 * difference.mean, y, **_marker(place))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+g}".replace("-", "−") if value else "0")
    axes.set_xlabel(value_name)
    _name_rows(axes, [label for _, label, _ in rows])


def cost_plot(axes: Axes, points: Sequence[tuple[int, str, float, float]], cost_name: str, value_name: str) -> None:
    """Plot methods as points (place, label, cost, value), the cost on a logarithmic scale with a 0 if needed."""
    costs = [cost for *_, cost, _ in points]
    known = [cost for cost in costs if cost > 0]
    for place, label, cost, value in points:
        axes.plot(cost, 100 * value, label=_shorten_label(label), linestyle="", **_marker(place))
    if min(costs) > 0:
        axes.set_xscale("log")
        close = max(known) < 100 * min(known)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if close else (1,), numticks=8))
    else:
        axes.set_xscale("symlog", linthresh=10 ** np.floor(np.log10(min(known))), linscale=0.5)
    axes.xaxis.set_major_formatter(EngFormatter(unit="s" if "time" in cost_name else "", sep="\N{NO-BREAK SPACE}"))
    axes.minorticks_off()
    axes.margins(x=0.08, y=0.12)
    axes.set_xlabel(cost_name)
    axes.set_ylabel(value_name)
    _put_legend_below(axes)


def step_plot(axes: Axes, agents: Sequence[Series], level: Series | None, value_name: str) -> None:
    """Plot a line for each agent over steps 1, 2, 3, …; the method without steps is a dashed level."""
    for place, label, values in agents:
        axes.plot(range(1, len(values) + 1), values, label=_shorten_label(label), **_marker(place))
    if level:
        axes.axhline(level.values[0], color=_colour(level.place), linestyle="--", label=_shorten_label(level.label))
    axes.set_xticks(range(1, max(len(values) for *_, values in agents) + 1))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("Step")
    axes.set_ylabel(value_name)
    _put_legend_below(axes)


def box_plot(axes: Axes, groups: Mapping[str, Sequence[tuple[int, str, NDArray[np.float64]]]], name: str) -> None:
    """Plot a box for each method, group under group; whiskers, outliers and means as matplotlib draws them."""
    labels: list[str] = []
    for group, rows in groups.items():
        labels.append(group)
        drawn = axes.boxplot(
            [100 * values for *_, values in rows],
            positions=[len(labels) + y for y in range(len(rows))],
            orientation="horizontal",
            widths=0.6,
            patch_artist=True,
            manage_ticks=False,
            showmeans=True,
            medianprops={"color": _INK, "linewidth": 2},
            meanprops={"marker": "o", "markerfacecolor": _PAPER, "markeredgecolor": _INK, "markersize": 5},
            flierprops={"marker": ".", "markerfacecolor": _SOFT, "markeredgecolor": "none"},
            whiskerprops={"color": _SOFT, "linewidth": 1.2},
            capprops={"color": _SOFT, "linewidth": 1.2},
        )
        for patch, (place, *_) in zip(drawn["boxes"], rows, strict=True):
            patch.set(facecolor=_colour(place), edgecolor=_colour(place), alpha=0.55)
        labels += [label for _, label, _ in rows]
    axes.set_xlabel(name)
    _name_rows(axes, labels, bold=groups)


def share_plot(
    axes: Axes,
    groups: Mapping[str, tuple[int, Mapping[str, Sequence[int]]]],
    value_name: str,
    names: Mapping[int, str],
) -> None:
    """Plot for each method and each row of it the share of questions at 1, 2, 3, …: the larger, the darker."""
    labels: list[str] = []
    for method, (place, rows) in groups.items():
        labels.append(method)
        for label, numbers in rows.items():
            for number in sorted(set(numbers)):
                share = numbers.count(number) / len(numbers)
                axes.barh(len(labels), 0.96, 0.9, left=number - 0.48, color=_colour(place), alpha=0.1 + 0.5 * share)
                axes.text(number, len(labels), f"{100 * share:.0f} %", ha="center", va="center", fontsize=10)
            labels.append(label)
    axes.grid(visible=False)
    ticks = sorted({number for _, rows in groups.values() for numbers in rows.values() for number in numbers})
    axes.set_xticks(ticks, [names[number] for number in ticks])
    axes.set_xlabel(value_name)
    _name_rows(axes, labels, bold=groups)


def _colour(place: int) -> str:
    return _SERIES[place % len(_SERIES)]


def _marker(place: int) -> dict[str, Any]:
    """Choose the marker of a method, the same in every plot."""
    shape = {"marker": _MARKERS[place % len(_MARKERS)], "markersize": 9}
    return {"color": _colour(place), "markeredgecolor": _PAPER, "markeredgewidth": 0.6, **shape}


def _name_rows(axes: Axes, labels: Sequence[str], bold: Mapping[str, object] | None = None) -> None:
    """Name rows from top to bottom, on the left; the plot is as high as they need."""
    cast(Figure, axes.figure).set_figheight(0.9 + _ROW * len(labels))
    axes.set_yticks(range(len(labels)), [_shorten_label(label) for label in labels])
    for label, tick in zip(labels, axes.get_yticklabels(), strict=True):
        tick.set_fontweight("bold" if bold and label in bold else "normal")
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _put_legend_below(axes: Axes) -> None:
    figure = cast(Figure, axes.figure)
    handles, labels = axes.get_legend_handles_labels()
    figure.set_figheight(figure.get_figheight() + 0.22 * -(-len(labels) // 2))
    figure.legend(handles, labels, loc="outside lower left", ncols=2)


def _shorten_label(label: str) -> str:
    """Shorten a label to one line beside a plot; matplotlib would leave out one that begins with an underscore."""
    line = " ".join(label.split())
    line = line if len(line) <= _MAX_LABEL_CHARACTERS else f"{line[: _MAX_LABEL_CHARACTERS - 1]}…"
    return f"\N{ZERO WIDTH SPACE}{line}" if line.startswith("_") else line
