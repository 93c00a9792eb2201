"""What every plot is made of: scales from values to places on the drawing, axes, markers and the drawing itself.

Drawings are narrow, since on a phone they shrink to its width and their letters with them.
"""

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triplebeam.evaluate.report.markup import Markup, element, joined

WIDTH = 480.0
LETTER = 7.8
"""The width of a letter in a label, on the generous side."""
LINE = 15.0
"""The height of a label."""
LONGEST_LABEL = 20
COLOURS = 8
_ALIKE = 1e-6
"""Values that differ by less, as a share of the larger, differ by rounding."""
_TICK_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to coordinates. On a logarithmic scale, zero stands at ``zero``, apart from the others."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False
    zero: float | None = None

    def __call__(self, value: float) -> float:
        if self.logarithmic and value <= 0:
            return self.start if self.zero is None else self.zero
        low, high, value = (
            map(math.log10, (self.low, self.high, value))
            if self.logarithmic
            else (
                self.low,
                self.high,
                value,
            )
        )
        return self.start + (self.end - self.start) * (value - low) / (high - low)


def linear_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from at or below ``low`` to at or above ``high``, evenly spaced."""
    span = high - low
    if span < _ALIKE * max(1.0, abs(low), abs(high)):
        span = abs(high) if abs(high) > _ALIKE else 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (*_TICK_STEPS, 20) if span / (power * factor) <= most - 1)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        first, last = (first - 1, last) if low > 0 else (first, last + 1)
    return [round(number * step, 10) for number in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten around the values; 1, 2 and 5 times them where there would be few."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    if last - first > 1:
        return [10.0**power for power in range(first, last + 1)]
    ticks = [factor * 10.0**power for power in range(first, first + 2) for factor in (1, 2, 5)]
    below = max(place for place, tick in enumerate(ticks) if tick <= low * (1 + 1e-9))
    above = next(place for place, tick in enumerate([*ticks, 100.0 * 10**first]) if tick >= high * (1 - 1e-9))
    return [*ticks, 100.0 * 10**first][below : max(above, below + 1) + 1]


def shortened(label: str, longest: int = LONGEST_LABEL) -> str:
    """A label that fits beside a plot."""
    if _letters(label) <= longest:
        return label
    while _letters(label) > longest - 1:
        label = label[:-1]
    return label + "…"


def width_of(labels: Sequence[str]) -> float:
    """Room for the longest of the labels, shortened."""
    return LETTER * max((_letters(shortened(label)) for label in labels), default=0)


def _letters(label: str) -> int:
    """Letters, where those of East Asian scripts are as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in label)


def text(x: float, y: float, words: str, anchor: str = "start", class_: str = "label") -> Markup:
    """Words whose middle is at height y."""
    return element("text", words, x=x, y=y + 4, text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def colour(place: int) -> str:
    """The class that gives a run its colour, the same in every plot."""
    return f"s{place % COLOURS}"


def marker(x: float, y: float, place: int, size: float = 5) -> Markup:
    """A mark whose shape also tells runs apart, so that colour is never needed."""
    shape = place % 4
    if shape == 0:
        return element("circle", cx=x, cy=y, r=size, class_=f"mark {colour(place)}")
    if shape == 1:
        return element("rect", x=x - size, y=y - size, width=2 * size, height=2 * size, class_=f"mark {colour(place)}")
    far = size * 1.35
    corners = (
        [(0, -far), (far, 0.8 * size), (-far, 0.8 * size)] if shape == 2 else [(0, -far), (far, 0), (0, far), (-far, 0)]
    )
    return element(
        "polygon", points=" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners), class_=f"mark {colour(place)}"
    )


def horizontal_axis(
    scale: Scale, ticks: Sequence[float], top: float, bottom: float, name: str, written: Callable[[float], str]
) -> Markup:
    """Ticks below the plot with faint lines through it, and the axis's name."""
    parts = [
        joined(
            [
                line(scale(tick), top, scale(tick), bottom, "grid"),
                text(scale(tick), bottom + 12, written(tick), "middle", "tick"),
            ]
        )
        for tick in ticks
    ]
    return joined([*parts, text((scale.start + scale.end) / 2, bottom + 30, name, "middle", "axis")])


def vertical_axis(
    scale: Scale, ticks: Sequence[float], left: float, right: float, name: str, written: Callable[[float], str]
) -> Markup:
    """Ticks left of the plot with faint lines through it, and the axis's name above it."""
    parts = [
        joined(
            [
                line(left, scale(tick), right, scale(tick), "grid"),
                text(left - 6, scale(tick), written(tick), "end", "tick"),
            ]
        )
        for tick in ticks
    ]
    return joined([*parts, text(2, 8, name, "start", "axis")])


def drawing(height: float, title: str, description: str, parts: Sequence[Markup]) -> Markup:
    """The whole plot; the description says in words what the eye would see."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *parts,
        viewBox=f"0 0 {WIDTH:.0f} {height:.0f}",
        role="img",
        aria_label=f"{title}. {description}",
    )
