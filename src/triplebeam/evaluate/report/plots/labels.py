"""Where labels go so that none lies on another."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triplebeam.evaluate.report.plots.axes import LINE

_REACH = (9.0, 18.0, 30.0, 45.0, 65.0, 90.0, 120.0, 160.0)
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
_MARK = 7.0


class Box(NamedTuple):
    """A rectangle on the drawing."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Whether they have any area in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: "Box") -> bool:
        """Whether it lies inside the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def place_labels(points: Sequence[tuple[float, float]], widths: Sequence[float], bounds: Box) -> list[Box | None]:
    """A box for each point's label, near it, off all marks and off all other labels; None where no place is left.

    Each label takes the nearest free place in turn, right of its point first.
    """
    marks = [Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in points]
    placed: list[Box | None] = []
    for point, width in zip(points, widths, strict=True):
        taken = [*marks, *(box for box in placed if box is not None)]
        free = (
            box
            for box in _places(point, width)
            if box.within(bounds) and not any(box.overlaps(other) for other in taken)
        )
        placed.append(next(free, None))
    return placed


def _places(point: tuple[float, float], width: float) -> Iterator[Box]:
    x, y = point
    for reach in _REACH:
        for across, down in _DIRECTIONS:
            middle = y + down * (reach + LINE / 2)
            left = x + reach if across > 0 else x - reach - width if across < 0 else x - width / 2
            yield Box(left, middle - LINE / 2, left + width, middle + LINE / 2)


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights at least ``gap`` apart and otherwise where they were, between low and high as far as they fit."""
    order = sorted(range(len(heights)), key=lambda place: (heights[place], place))
    moved = list(heights)
    floor = low
    for place in order:
        moved[place] = max(heights[place], floor)
        floor = moved[place] + gap
    ceiling = max(high, low + gap * (len(heights) - 1))
    for place in reversed(order):
        moved[place] = min(moved[place], ceiling)
        ceiling = moved[place] - gap
    return moved
