"""Methods as points: what they reach against what they cost, on a logarithmic scale."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triplebeam.evaluate.report.markup import Markup, joined
from triplebeam.evaluate.report.plots.axes import (
    WIDTH,
    Scale,
    drawing,
    horizontal_axis,
    line,
    linear_ticks,
    log_ticks,
    marker,
    shortened,
    text,
    vertical_axis,
    width_of,
)
from triplebeam.evaluate.report.plots.labels import Box, place_labels

_TOP, _BOTTOM, _LEFT, _RIGHT = 20.0, 276.0, 46.0, WIDTH - 10
_ZERO_SLOT = 56.0
_NEAR = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A run: what it costs and what it reaches."""

    place: int
    label: str
    cost: float
    value: float


def scatter_plot(
    points: Sequence[Point],
    *,
    title: str,
    cost_name: str,
    cost_written: Callable[[float], str],
    value_name: str,
    value_written: Callable[[float], str],
) -> Markup:
    """Points that cost nothing stand in a strip of their own, left of the logarithmic scale; not all may."""
    across = _cost_scale([point.cost for point in points])
    values = [point.value for point in points]
    ticks = linear_ticks(min(values), max(values))
    up = Scale(ticks[0], ticks[-1], _BOTTOM - 10, _TOP + 10)
    parts = [
        vertical_axis(up, ticks, _LEFT, _RIGHT, value_name, value_written),
        horizontal_axis(across, log_ticks(across.low, across.high), _TOP, _BOTTOM, cost_name, cost_written),
    ]
    if across.zero is not None:
        parts.append(text(across.zero, _BOTTOM + 12, "none", "middle", "tick"))
        parts.append(line(across.start - 12, _TOP, across.start - 12, _BOTTOM, "zero"))
    return drawing(
        _BOTTOM + 44,
        title,
        "; ".join(f"{p.label}: {value_written(p.value)} at {cost_written(p.cost)}" for p in points) + ".",
        [*parts, _labelled(points, across, up)],
    )


def _cost_scale(costs: Sequence[float]) -> Scale:
    known = [cost for cost in costs if cost > 0]
    ticks = log_ticks(min(known), max(known))
    free = len(known) < len(costs)
    start = _LEFT + 14 + (_ZERO_SLOT + 12 if free else 0)
    return Scale(ticks[0], ticks[-1], start, _RIGHT - 14, logarithmic=True, zero=_LEFT + 20 if free else None)


def _labelled(points: Sequence[Point], across: Scale, up: Scale) -> Markup:
    spots = [(across(point.cost), up(point.value)) for point in points]
    names = [shortened(point.label) for point in points]
    bounds = Box(_LEFT, _TOP, _RIGHT, _BOTTOM)
    boxes = place_labels(spots, [width_of([name]) for name in names], bounds)
    labels = [_label(*spot, name, box) for spot, name, box in zip(spots, names, boxes, strict=True) if box is not None]
    marks = [marker(x, y, point.place) for (x, y), point in zip(spots, points, strict=True)]
    return joined([*labels, *marks])


def _label(x: float, y: float, name: str, box: Box) -> Markup:
    """The name at the edge of its box that is next to the point, with a line to the point where that is far."""
    near_x, near_y = min(max(x, box.left), box.right), min(max(y, box.top), box.bottom)
    far = abs(near_x - x) + abs(near_y - y) > _NEAR
    start, anchor = (box.left + box.right) / 2, "middle"
    if box.left >= x:
        start, anchor = box.left, "start"
    elif box.right <= x:
        start, anchor = box.right, "end"
    words = text(start, (box.top + box.bottom) / 2, name, anchor)
    return joined([line(x, y, near_x, near_y, "leader"), words]) if far else words
