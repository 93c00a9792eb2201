"""Box plots lying on their side: a row a method, so that each is named beside its box."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triplebeam.evaluate.report.markup import Markup, element, joined
from triplebeam.evaluate.report.plots.axes import (
    WIDTH,
    Scale,
    colour,
    drawing,
    horizontal_axis,
    line,
    shortened,
    text,
    width_of,
)

_ROW, _HEAD, _TOP = 19.0, 26.0, 4.0
_REACH = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median, quartiles and mean; the whiskers reach the furthest values within 1.5 times the quartiles' distance."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float
    mean: float
    outliers: tuple[float, ...]
    """The values beyond the whiskers, each once."""


def spread_of(values: NDArray[np.float64]) -> Spread:
    """The spread of at least one value."""
    first, median, third = (float(value) for value in np.percentile(values, [25, 50, 75]))
    reach = _REACH * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    low, high = float(inside.min()), float(inside.max())
    return Spread(
        # Between two values a quartile is interpolated, and no value beyond it need be near enough for a whisker.
        low=min(low, first),
        first_quartile=first,
        median=median,
        third_quartile=third,
        high=max(high, third),
        mean=float(values.mean()),
        outliers=tuple(float(value) for value in np.unique(values) if value < low or value > high),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxRow:
    """A run's spread in a group of questions."""

    place: int
    label: str
    spread: Spread


def box_plot(groups: Mapping[str, Sequence[BoxRow]], *, title: str, value_name: str) -> Markup:
    """Shares between 0 and 1, drawn in per cent, group under group."""
    left = width_of([row.label for rows in groups.values() for row in rows]) + 10
    scale = Scale(0, 1, left + 8, WIDTH - 14)
    height, parts, words = _TOP, [], []
    for name, rows in groups.items():
        parts.append(text(2, height + _HEAD / 2, name, class_="axis"))
        height += _HEAD
        for row in rows:
            middle = height + _ROW / 2
            parts.append(joined([text(left, middle, shortened(row.label), "end"), _box(row, middle, scale)]))
            words.append(f"{name}, {row.label}: median {100 * row.spread.median:.0f}, mean {100 * row.spread.mean:.0f}")
            height += _ROW
    axis = horizontal_axis(
        scale, [0, 0.25, 0.5, 0.75, 1], _TOP + _HEAD, height, value_name, lambda share: f"{100 * share:.0f}"
    )
    return drawing(height + 42, title, "; ".join(words) + ".", [axis, *parts])


def _box(row: BoxRow, middle: float, scale: Scale) -> Markup:
    spread = row.spread
    left, right, half = scale(spread.first_quartile), scale(spread.third_quartile), 5.5
    return element(
        "g",
        *(element("circle", cx=scale(value), cy=middle, r=1.6, class_="outlier") for value in spread.outliers),
        line(scale(spread.low), middle, left, middle, f"whisker {colour(row.place)}"),
        line(right, middle, scale(spread.high), middle, f"whisker {colour(row.place)}"),
        *(
            line(x, middle - 3, x, middle + 3, f"whisker {colour(row.place)}")
            for x in map(scale, (spread.low, spread.high))
        ),
        element(
            "rect", x=left, y=middle - half, width=right - left, height=2 * half, class_=f"box {colour(row.place)}"
        ),
        line(scale(spread.median), middle - half - 1, scale(spread.median), middle + half + 1, "median"),
        element("circle", cx=scale(spread.mean), cy=middle, r=3, class_="mean"),
    )
