"""How questions are shared out among whole numbers: a row of boxes, darker where more questions lie."""

from collections import Counter
from collections.abc import Mapping, Sequence

from triplebeam.evaluate.report.markup import Markup, element, joined
from triplebeam.evaluate.report.plots.axes import WIDTH, colour, drawing, shortened, text, width_of

_ROW, _HEAD, _TOP = 26.0, 26.0, 4.0
_DARKEST = 0.42
"""Letters on the darkest box can still be read."""


def share_plot(groups: Mapping[str, tuple[int, Mapping[str, Sequence[int]]]], *, title: str, value_name: str) -> Markup:
    """For each run (name to place and rows) and each row of it, the share of questions at 1, 2, 3, …"""
    rows = [row for _, run in groups.values() for row in run.items()]
    left = width_of([label for label, _ in rows]) + 12
    most = max(max(numbers, default=1) for _, numbers in rows)
    cell = (WIDTH - left - 58) / most
    height, parts, words = _TOP, [], []
    for name, (place, run) in groups.items():
        parts.append(text(2, height + _HEAD / 2, shortened(name, 40), class_="axis"))
        parts.append(text(WIDTH - 2, height + _HEAD / 2, "mean", "end", "tick"))
        height += _HEAD
        for label, numbers in run.items():
            middle = height + _ROW / 2
            mean = sum(numbers) / len(numbers)
            boxes = _boxes(numbers, most, place, left, cell, middle)
            ends = [
                text(left - 6, middle, shortened(label), "end"),
                text(WIDTH - 2, middle, f"{mean:.1f}", "end", "label"),
            ]
            parts.append(joined([*ends, boxes]))
            words.append(f"{name}, {label}: {mean:.1f} on average")
            height += _ROW
    ticks = [
        text(left + cell * (number - 0.5), height + 10, f"{number}", "middle", "tick") for number in range(1, most + 1)
    ]
    parts += [*ticks, text(left + cell * most / 2, height + 28, value_name, "middle", "axis")]
    return drawing(height + 40, title, "; ".join(words) + ".", parts)


def _boxes(numbers: Sequence[int], most: int, place: int, left: float, cell: float, middle: float) -> Markup:
    counted = Counter(numbers)
    parts = []
    for number in range(1, most + 1):
        share = counted[number] / len(numbers)
        x = left + cell * (number - 1)
        parts.append(
            element(
                "rect",
                x=x + 1,
                y=middle - _ROW / 2 + 1,
                width=cell - 2,
                height=_ROW - 2,
                class_=f"share {colour(place)}",
                fill_opacity=0.06 + (_DARKEST - 0.06) * share,
            )
        )
        if counted[number]:
            parts.append(text(x + cell / 2, middle, f"{100 * share:.0f}{' %' if cell > 34 else ''}", "middle"))
    return joined(parts)
