"""The headings of a document as a tree: which section a stretch of its text is in."""

import re
from bisect import bisect_right
from itertools import takewhile

from triplebeam.passage import Document

_BETWEEN = " › "
_NUMBER = re.compile(
    r"(?:(?:chapter|appendix|section|part)\s+)?(?:(?:\d+|[a-z](?=\.\d))(?:\.\d+)*|[a-z](?=[.:)]))[.:)]?\s+(?:[-–—]\s+)?",
    re.IGNORECASE,
)


class Outline:
    """Paths of headings by offset. A document without headings is one section without a name."""

    def __init__(self, document: Document) -> None:
        self._starts = [heading.start for heading in document.headings]
        self._ends = [heading.start + len(heading.text) for heading in document.headings]
        self._paths = _paths(document)

    def path(self, offset: int) -> tuple[str, ...]:
        """Return the headings above an offset, outermost first; a heading is in its own section."""
        return self._paths[bisect_right(self._starts, offset)]

    def has_heading(self, offset: int) -> bool:
        """Return whether there is a heading at this offset."""
        place = bisect_right(self._starts, offset) - 1
        return place >= 0 and self._starts[place] == offset

    def is_heading(self, start: int, end: int) -> bool:
        """Return whether this stretch is a heading and nothing else."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._starts[place] <= start and end <= self._ends[place]

    def parts(self, last: int, start: int, is_small: bool) -> bool:
        """Return whether a passage that reaches to ``last`` should end there, because a section begins at ``start``.

        What is small may go on into a section below it or beside it, but not into one of another parent.
        """
        if not self.has_heading(start):
            return False
        before = self.path(last - 1)
        return not is_small or self.path(start)[: len(before) - 1] != before[:-1]

    def section(self, start: int, end: int) -> str:
        """Return what the sections of a stretch have in common. Headings at its start stand for what follows them."""
        first, last = bisect_right(self._starts, start), bisect_right(self._starts, end - 1)
        while first < last and self._starts[first] <= self._ends[first - 1] + 2 and first > 0:
            first += 1
        return _BETWEEN.join(_find_common(self._paths[first : last + 1]))


def _paths(document: Document) -> list[tuple[str, ...]]:
    """Return the path before the first heading, then from each heading on. The document's title goes without saying."""
    paths: list[tuple[str, ...]] = [()]
    stack: list[tuple[int, str]] = []
    title, bare = _fold_case(document.title), _fold_case(strip_number(document.title))
    for heading in document.headings:
        while stack and stack[-1][0] >= heading.level:
            stack.pop()
        stack.append((heading.level, heading.text))
        paths.append(
            tuple(text for _, text in stack if _fold_case(text) not in title and _fold_case(strip_number(text)) != bare)
        )
    return paths


def _find_common(paths: list[tuple[str, ...]]) -> list[str]:
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return [level[0] for level in levels]


def _fold_case(text: str) -> str:
    return " ".join(text.split()).casefold()


def strip_number(heading: str) -> str:
    """Return the heading without its number: ``Main configuration`` of ``Chapter 14 - Main configuration``."""
    return heading[numbered.end() :] if (numbered := _NUMBER.match(heading)) else heading
