"""Differences with their intervals, a row a method, on either side of a line at zero."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triplebeam.evaluate.report.markup import Markup, joined
from triplebeam.evaluate.report.plots.axes import (
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
    width_of,
)

_ROW, _TOP = 30.0, 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """A run's difference, and what to write beside it."""

    place: int
    label: str
    low: float
    mean: float
    high: float
    words: str


def interval_plot(
    rows: Sequence[IntervalRow], *, title: str, value_name: str, written: Callable[[float], str]
) -> Markup:
    """A mark for each difference and a bar for its interval."""
    left = width_of([row.label for row in rows]) + 10
    ticks = linear_ticks(min(0.0, *(row.low for row in rows)), max(0.0, *(row.high for row in rows)))
    scale = Scale(ticks[0], ticks[-1], left + 16, WIDTH - 18)
    bottom = _TOP + _ROW * len(rows)
    parts = [
        horizontal_axis(scale, ticks, _TOP, bottom, value_name, written),
        line(scale(0), _TOP, scale(0), bottom, "zero"),
    ]
    for number, row in enumerate(rows):
        middle = _TOP + _ROW * (number + 0.5)
        bar = line(scale(row.low), middle, scale(row.high), middle, f"interval {colour(row.place)}")
        name = text(left, middle, shortened(row.label), "end")
        parts.append(joined([name, bar, marker(scale(row.mean), middle, row.place)]))
    return drawing(bottom + 42, title, "; ".join(f"{row.label}: {row.words}" for row in rows) + ".", parts)
