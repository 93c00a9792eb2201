"""The plots put values where their axes say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from triplebeam.evaluate.report.markup import Markup, element
from triplebeam.evaluate.report.plots.axes import Scale, linear_ticks, log_ticks, shortened, width_of
from triplebeam.evaluate.report.plots.boxes import BoxRow, box_plot, spread_of
from triplebeam.evaluate.report.plots.intervals import IntervalRow, interval_plot
from triplebeam.evaluate.report.plots.labels import Box, place_labels, spread
from triplebeam.evaluate.report.plots.lines import Line, line_plot
from triplebeam.evaluate.report.plots.scatter import Point, scatter_plot
from triplebeam.evaluate.report.plots.shares import share_plot

_SHARES = st.floats(0, 1)


def tree_of(drawing: Markup) -> etree._Element:
    return etree.fromstring(drawing)


def ticks_across(tree: etree._Element) -> dict[str, float]:
    return {tick.text: float(tick.get("x")) for tick in tree.iter("text") if tick.get("text-anchor") == "middle"}


def test_text_and_attributes_are_escaped_and_markup_is_not() -> None:
    assert element("a", "<", Markup("<b></b>"), class_="x", aria_label='"') == (
        '<a class="x" aria-label="&quot;">&lt;<b></b></a>'
    )
    assert element("g", x=1.0, y=2.255) == '<g x="1" y="2.25"></g>'


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_linear_ticks_are_even_few_and_hold_the_values(low: float, span: float) -> None:
    ticks = linear_ticks(low, low + span)
    steps = [after - before for before, after in itertools.pairwise(ticks)]
    assert 2 <= len(ticks) <= 8
    rounding = 1e-6 * max(1, abs(low), span)
    assert ticks[0] <= low + rounding
    assert ticks[-1] >= low + span - rounding
    assert max(steps) - min(steps) < 1e-6 * max(steps) + 1e-9


def test_an_axis_of_recall_does_not_go_beyond_all() -> None:
    assert linear_ticks(1, 1)[-1] == 1
    assert linear_ticks(0, 0)[0] == 0
    by_rounding = linear_ticks(0.3, 0.1 + 0.2)
    assert by_rounding[0] < by_rounding[-1]


@given(st.floats(1e-4, 1e6), st.floats(1, 1e6))
def test_log_ticks_rise_and_hold_the_values(low: float, factor: float) -> None:
    ticks = log_ticks(low, low * factor)
    assert ticks == sorted(set(ticks))
    assert len(ticks) >= 2
    assert ticks[0] <= low * (1 + 1e-6)
    assert ticks[-1] >= low * factor * (1 - 1e-6)


@given(st.lists(st.floats(0.001, 1000), min_size=2, max_size=20))
def test_scales_are_monotone(values: list[float]) -> None:
    for scale in (Scale(0.001, 1000, 20, 400), Scale(0.001, 1000, 20, 400, logarithmic=True)):
        places = [scale(value) for value in sorted(values)]
        assert places == sorted(places)
        assert all(20 - 1e-9 <= place <= 400 + 1e-9 for place in places)


@given(
    st.lists(st.tuples(st.floats(60, 460), st.floats(30, 270), st.integers(3, 20)), min_size=1, max_size=14),
)
def test_labels_lie_on_nothing(points: list[tuple[float, float, int]]) -> None:
    bounds = Box(46, 20, 470, 276)
    spots = [(x, y) for x, y, _ in points]
    boxes = [box for box in place_labels(spots, [7.8 * letters for *_, letters in points], bounds) if box is not None]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))
    assert all(box.within(bounds) for box in boxes)
    assert not any(box.left < x < box.right and box.top < y < box.bottom for box in boxes for x, y in spots)


def test_labels_of_six_equal_points_are_all_placed() -> None:
    boxes = place_labels([(250.0, 150.0)] * 6, [110.0] * 6, Box(46, 20, 470, 276))
    assert None not in boxes


@given(st.lists(st.floats(30, 260), max_size=12))
def test_names_at_lines_ends_are_kept_apart_in_order(heights: list[float]) -> None:
    moved = spread(heights, 15, 28, 264)
    order = sorted(range(len(heights)), key=lambda place: (heights[place], place))
    assert all(moved[after] - moved[before] >= 15 - 1e-9 for before, after in itertools.pairwise(order))
    assert all(28 - 1e-9 <= height <= 264 + 1e-9 for height in moved)


def test_long_and_wide_labels_are_shortened() -> None:
    assert shortened("x" * 20) == "x" * 20
    assert shortened("x" * 21) == "x" * 19 + "…"
    assert width_of(["日本"]) == width_of(["abcd"])
    assert len(shortened("日" * 20)) == 10


def test_spread_of_values() -> None:
    found = spread_of(np.array([0.1, 0.2, 0.3, 0.4, 1.0]))
    assert (found.first_quartile, found.median, found.third_quartile) == pytest.approx((0.2, 0.3, 0.4))
    assert (found.low, found.high, found.mean) == pytest.approx((0.1, 0.4, 0.4))
    assert found.outliers == (1.0,)


@given(st.lists(_SHARES, min_size=1, max_size=30))
def test_parts_of_a_box_are_in_order(values: list[float]) -> None:
    found = spread_of(np.array(values))
    parts = [found.low, found.first_quartile, found.median, found.third_quartile, found.high]
    assert parts == sorted(parts)
    assert all(value < found.low or value > found.high for value in found.outliers)


def test_boxes_are_drawn_from_quartile_to_quartile() -> None:
    values = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    row = BoxRow(place=0, label="gear", spread=spread_of(values))
    tree = tree_of(box_plot({"2 hops": [row]}, title="t", value_name="R@15 (%)"))
    ticks = ticks_across(tree)
    (box,) = (part for part in tree.iter("rect") if part.get("class").startswith("box"))
    left = float(box.get("x"))
    assert left == pytest.approx(ticks["25"], abs=0.1)
    assert left + float(box.get("width")) == pytest.approx(ticks["75"], abs=0.1)
    (median,) = (part for part in tree.iter("line") if part.get("class") == "median")
    assert float(median.get("x1")) == pytest.approx(ticks["50"], abs=0.1)
    whiskers = [part for part in tree.iter("line") if part.get("class").startswith("whisker")]
    assert min(float(part.get("x1")) for part in whiskers) == pytest.approx(ticks["0"], abs=0.1)
    assert max(float(part.get("x2")) for part in whiskers) == pytest.approx(ticks["100"], abs=0.1)
    (mean,) = (part for part in tree.iter("circle") if part.get("class") == "mean")
    assert float(mean.get("cx")) == pytest.approx(ticks["50"], abs=0.1)


def test_lines_rise_with_their_values_and_single_values_are_levels() -> None:
    lines = [
        Line(place=0, label="gear", values=[0.5, 0.6, 0.7]),
        Line(place=1, label="hybrid", values=[0.55]),
    ]
    tree = tree_of(line_plot(lines, title="t", value_name="v", written=str, from_zero=False))
    (path,) = tree.iter("polyline")
    points = [tuple(map(float, pair.split(","))) for pair in path.get("points").split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    (level,) = (part for part in tree.iter("line") if "level" in part.get("class"))
    assert level.get("y1") == level.get("y2")
    assert points[1][1] < float(level.get("y1")) < points[0][1]
    assert {"gear", "hybrid"} <= {part.text for part in tree.iter("text")}


def test_points_that_cost_nothing_stand_apart() -> None:
    points = [
        Point(place=0, label="bm25", cost=0, value=0.4),
        Point(place=4, label="hybrid", cost=10, value=0.5),
        Point(place=8, label="gear", cost=1000, value=0.6),
    ]
    drawing = scatter_plot(
        points, title="t", cost_name="c", cost_written=lambda cost: f"{cost:g}", value_name="v", value_written=str
    )
    tree = tree_of(drawing)
    free, cheap, dear = [
        (float(mark.get("cx")), float(mark.get("cy"))) for mark in tree.iter("circle") if "mark" in mark.get("class")
    ]
    ticks = ticks_across(tree)
    assert free[0] == ticks["none"] < ticks["10"]
    assert cheap[0] == pytest.approx(ticks["10"], abs=0.1)
    assert dear[0] == pytest.approx(ticks["1000"], abs=0.1)
    assert ticks["100"] == pytest.approx((cheap[0] + dear[0]) / 2, abs=0.1)
    assert free[1] > cheap[1] > dear[1]


def test_intervals_lie_right_and_left_of_zero() -> None:
    rows = [
        IntervalRow(place=1, label="gear", low=0.02, mean=0.04, high=0.06, words="better"),
        IntervalRow(place=2, label="other", low=-0.06, mean=-0.04, high=-0.02, words="worse"),
    ]
    tree = tree_of(interval_plot(rows, title="t", value_name="v", written=str))
    (zero,) = (float(part.get("x1")) for part in tree.iter("line") if part.get("class") == "zero")
    better, worse = (part for part in tree.iter("line") if part.get("class").startswith("interval"))
    assert float(better.get("x1")) > zero > float(worse.get("x2"))
    assert float(better.get("x1")) - zero == pytest.approx(zero - float(worse.get("x2")), abs=0.1)


def test_shares_of_a_row_are_darker_where_more_questions_lie() -> None:
    tree = tree_of(share_plot({"gear": (0, {"2 hops": [1, 1, 1, 3]})}, title="t", value_name="Steps"))
    first, second, third = (float(part.get("fill-opacity")) for part in tree.iter("rect"))
    assert first > third > second
    assert {"75 %", "25 %", "1.5"} <= {part.text for part in tree.iter("text")}
    assert math.isclose(first + third, 0.06 * 2 + 0.36, abs_tol=0.02)
