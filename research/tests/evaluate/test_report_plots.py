"""The plots show the values they are given, and become part of a page without harm."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from lxml import etree
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from triplebeam.evaluate.compare import Difference
from triplebeam_research.report import plots
from triplebeam_research.report.plots import Series

DIFFERENCES = [(1, "hybrid", Difference(0.05, -0.01, 0.11, 0.1, 50)), (2, "gear", Difference(0.2, 0.1, 0.3, 0.001, 50))]
POINTS = [(0, "bm25", 0.004, 0.4), (1, "hybrid", 0.02, 0.5), (2, "gear", 4.0, 0.7)]
BOXES = {"2 hops": [(0, "bm25", np.array([0.0, 0.5, 1.0])), (1, "hybrid", np.array([0.5, 0.5, 1.0]))]}
SHARES = {"gear": (2, {"2 hops": [1, 1, 2, 2], "3 hops": [3]})}
ALL: list[Callable[[Axes], None]] = [
    partial(plots.difference_plot, rows=DIFFERENCES, value_name="points"),
    partial(plots.cost_plot, points=POINTS, cost_name="Median time", value_name="R@5 (%)"),
    partial(plots.step_plot, agents=[Series(2, "gear", [50, 60])], level=Series(1, "hybrid", [55]), value_name="R@15"),
    partial(plots.box_plot, groups=BOXES, name="R@15"),
    partial(plots.share_plot, groups=SHARES, value_name="Steps", names={1: "1", 2: "2", 3: "2+"}),
]


@pytest.fixture
def axes() -> Axes:
    return Figure(layout="constrained").subplots()


def rows_of(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_a_difference_is_drawn_in_points_with_its_interval(axes: Axes) -> None:
    plots.difference_plot(axes, DIFFERENCES, "points")
    zero, *drawn = [list(map(float, line.get_xdata())) for line in axes.lines]
    assert zero == [0, 0]
    assert drawn == [pytest.approx(values) for values in ([-1, 11], [5], [10, 30], [20])]
    assert rows_of(axes) == ["hybrid", "gear"]


def test_cost_is_logarithmic_and_has_a_place_for_nothing(axes: Axes) -> None:
    plots.cost_plot(axes, POINTS, "Median time", "R@5 (%)")
    assert axes.get_xscale() == "log"
    drawn = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axes.lines]
    assert drawn == [(cost, pytest.approx(100 * value)) for *_, cost, value in POINTS]
    free = Figure(layout="constrained").subplots()
    plots.cost_plot(free, [(0, "bm25", 0, 0.4), *POINTS[1:]], "Mean tokens", "R@5 (%)")
    assert free.get_xscale() == "symlog"
    assert free.get_xlim()[0] < 0


def test_steps_and_the_level_without_steps(axes: Axes) -> None:
    plots.step_plot(axes, [Series(2, "gear", [50, 60, 65])], Series(1, "hybrid", [55]), "R@15 (%)")
    line, level = axes.lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2, 3], [50, 60, 65])
    assert list(level.get_ydata()) == [55, 55]


def test_boxes_are_in_the_rows_of_their_methods(axes: Axes) -> None:
    plots.box_plot(axes, BOXES, "R@15")
    assert rows_of(axes) == ["2 hops", "bm25", "hybrid"]
    extents = [box.get_path().get_extents() for box in axes.patches]
    assert [(box.y0 + box.y1) / 2 for box in extents] == [1, 2]
    assert extents[0].intervalx.tolist() == [25, 75]


def test_shares_of_a_row_are_those_of_its_questions(axes: Axes) -> None:
    plots.share_plot(axes, SHARES, "Steps", {1: "1", 2: "2", 3: "2+"})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "2+"]
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [
        ((1, 1), "50 %"),
        ((2, 1), "50 %"),
        ((3, 2), "100 %"),
    ]
    assert rows_of(axes) == ["gear", "2 hops", "3 hops"]


@pytest.mark.parametrize("draw", ALL)
def test_an_svg_is_one_element_and_the_same_every_time(draw: Callable[[Axes], None]) -> None:
    drawing = plots.render_svg(draw, "A caption", "How to read it.")
    assert etree.QName(etree.fromstring(drawing)).localname == "svg"
    assert 'aria-label="A caption. How to read it."' in drawing
    assert drawing == plots.render_svg(draw, "A caption", "How to read it.")


def test_two_plots_share_no_id() -> None:
    drawn = [plots.render_svg(draw, f"Caption {number}", "") for number, draw in enumerate(ALL[:2])]
    first, second = (set(re.findall(r' id="([^"]+)"', drawing)) for drawing in drawn)
    assert first.isdisjoint(second)


@pytest.mark.parametrize("label", ["<b>&", "$x^2$", "_hidden", "two\nlines", "方法" * 30, "a\u0301" * 50])
def test_any_name_may_be_a_methods(label: str) -> None:
    for draw in (
        partial(plots.difference_plot, rows=[(0, label, DIFFERENCES[0][2])], value_name=""),
        partial(plots.cost_plot, points=[(0, label, 1.0, 0.5)], cost_name="", value_name=""),
    ):
        tree = etree.fromstring(plots.render_svg(draw, label, ""))
        shown = {"".join(text.itertext()).strip("\u200b") for text in tree.iter("{*}text")}
        assert any(words.startswith(" ".join(label.split())[:20]) for words in shown)
