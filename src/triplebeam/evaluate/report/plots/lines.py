"""A line a method over the steps of agents, named at its end; methods without steps are dashed levels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triplebeam.evaluate.report.markup import Markup, element
from triplebeam.evaluate.report.plots.axes import (
    LINE,
    WIDTH,
    Scale,
    colour,
    drawing,
    horizontal_axis,
    line,
    linear_ticks,
    marker,
    shortened,
    text,
    vertical_axis,
    width_of,
)
from triplebeam.evaluate.report.plots.labels import spread

_TOP, _LOWEST, _LEFT = 28.0, 264.0, 46.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A run's value after each step; a single value is a level to compare with."""

    place: int
    label: str
    values: Sequence[float]


def line_plot(
    lines: Sequence[Line], *, title: str, value_name: str, written: Callable[[float], str], from_zero: bool
) -> Markup:
    """Values over steps 1, 2, 3, …"""
    bottom = max(_LOWEST, _TOP + LINE * len(lines))
    steps = max(len(series.values) for series in lines)
    values = [value for series in lines for value in series.values]
    ticks = linear_ticks(0 if from_zero else min(values), max(values))
    right = WIDTH - width_of([series.label for series in lines]) - 14
    across = Scale(1, max(steps, 2), _LEFT + 10, right - 10)
    up = Scale(ticks[0], ticks[-1], bottom, _TOP)
    ends = [up(series.values[-1]) for series in lines]
    heights = spread(ends, LINE, _TOP, bottom)
    return drawing(
        bottom + 44,
        title,
        "; ".join(_in_words(series, written) for series in lines) + ".",
        [
            vertical_axis(up, ticks, _LEFT, right, value_name, written),
            horizontal_axis(across, range(1, steps + 1), bottom, bottom, "Step", lambda step: f"{step:.0f}"),
            *(_drawn(series, across, up, right) for series in lines),
            *(text(right + 10, height, shortened(series.label)) for series, height in zip(lines, heights, strict=True)),
            *(
                line(right - 4, end, right + 8, height, f"leader {colour(series.place)}")
                for series, end, height in zip(lines, ends, heights, strict=True)
            ),
        ],
    )


def _drawn(series: Line, across: Scale, up: Scale, right: float) -> Markup:
    if len(series.values) == 1:
        level = up(series.values[0])
        return line(_LEFT, level, right, level, f"line level {colour(series.place)}")
    points = [(across(step), up(value)) for step, value in enumerate(series.values, start=1)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element(
        "g",
        element("polyline", points=path, class_=f"line {colour(series.place)}"),
        *(marker(x, y, series.place, 4) for x, y in points),
    )


def _in_words(series: Line, written: Callable[[float], str]) -> str:
    if len(series.values) == 1:
        return f"{series.label}: {written(series.values[0])} without steps"
    return f"{series.label}: " + ", ".join(written(value) for value in series.values)
