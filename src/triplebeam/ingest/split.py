"""Cut a document into passages.

Paragraphs are packed into a passage while they fit and their section lasts; small sections under one heading share a
passage. A paragraph that does not fit by itself is cut at the items of a list, then at sentence borders; a sentence
that does not fit is cut at line ends, then between words, then (a word as long as a passage) between tokens. The
headings of a document are a tree, in which each passage has its section.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TypeAlias

from triplebeam.errors import BadInputError
from triplebeam.passage import PASSAGE_TOKENS, Document, Passage, strip_number
from triplebeam.text.characters import CHINESE_AND_JAPANESE, trim_span
from triplebeam.text.sentences import Span, sentence_spans

# Chinese and Japanese put no space between words: each character counts. So does every further 40 characters of a
# "word" that is none, such as encoded data.
_TOKEN = re.compile(rf"[{CHINESE_AND_JAPANESE}]|[^\W{CHINESE_AND_JAPANESE}]{{1,40}}|[^\w\s]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_HEADING_TOKENS = 16
#: A section of less than this share of the limit may share its passage with the next.
_SMALL_FRACTION = 4
_ENDS_LIKE_PROSE = tuple(".!?…;,。！？”\"'’)")
_BETWEEN = " › "


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
        levels = zip(*self._paths[first : last + 1], strict=False)
        return _BETWEEN.join(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))


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


def _fold_case(text: str) -> str:
    return " ".join(text.split()).casefold()


_Cutter: TypeAlias = Callable[[str, int, int, Outline], Iterator[Span]]


def split(document: Document, limit: int = PASSAGE_TOKENS, *, force: bool = False) -> list[Passage]:
    """Cut a document into passages of at most ``limit`` tokens, each a stretch of its text as it stands.

    A token here is a word or a punctuation mark, found by a simple regular expression: close to what models count, and
    the same for all of them. A document that is a passage already stays whole, with its own id, unless ``force``.
    """
    if limit < 1:
        raise BadInputError(f"the limit of tokens per passage must be at least 1, got {limit}: 200 is usual.")
    whole = trim_span(document.text, 0, len(document.text))
    if document.is_passage and not force:
        return [] if whole is None else [_passage(document, document.id, 0, whole)]
    outline = Outline(document)
    spans = _pack(document.text, (0, len(document.text)), limit, limit, _CUTTERS, outline)
    return [
        _passage(document, f"{document.id}#{position}", position, span, outline.section(*span))
        for position, span in enumerate(spans)
    ]


def _passage(document: Document, passage_id: str, position: int, span: Span, section: str = "") -> Passage:
    start, end = span
    return Passage(
        id=passage_id,
        text=document.text[start:end],
        title=document.title,
        document_id=document.id,
        position=position,
        start=start,
        end=end,
        metadata=document.metadata,
        section=section,
    )


def _pack(
    text: str, span: Span, limit: int, enough: int, cutters: Sequence[_Cutter], outline: Outline
) -> Iterator[Span]:
    """Cut with the first cutter and join neighbours again, up to the limit and only while they hold less than
    ``enough`` and their section lasts. What is over the limit by itself goes to the next cutter.
    """
    first = last = size = 0  # the passage being filled; empty while its size is 0
    small = limit // _SMALL_FRACTION
    for start, end in cutters[0](text, *span, outline):
        tokens = _count(text, start, end)
        if size and (size >= enough or size + tokens > limit or outline.parts(last, start, size < small)):
            yield first, last
            size = 0
        if tokens > limit:
            passages = -(-tokens // limit)
            even = -(-tokens // passages)  # so that a text just over the limit gives two halves and no crumb
            yield from _pack(text, (start, end), limit, even, cutters[1:], outline)
            continue
        first, last, size = (first if size else start), end, size + tokens
    if size:
        yield first, last


def _count(text: str, start: int, end: int) -> int:
    return len(_TOKEN.findall(text, start, end))


def _split_at(text: str, start: int, end: int, border: re.Pattern[str]) -> Iterator[Span]:
    """Yield the stretches between borders."""
    for match in border.finditer(text, start, end):
        if (span := trim_span(text, start, match.start())) is not None:
            yield span
        start = match.end()
    if (span := trim_span(text, start, end)) is not None:
        yield span


def _paragraphs(text: str, start: int, end: int, outline: Outline) -> Iterator[Span]:
    """Yield paragraphs, each with the headings above it: a heading by itself answers nothing."""
    opened: int | None = None
    closing = start
    for first, last in _split_at(text, start, end, _BLANK_LINE):
        if opened is not None and outline.has_heading(first) and not outline.has_heading(opened):
            yield opened, closing
            opened = None
        opened = first if opened is None else opened
        if not outline.is_heading(first, last) and not _is_heading(text, first, last):
            yield opened, last
            opened = None
        closing = last
    if opened is not None:
        yield opened, closing


def _is_heading(text: str, start: int, end: int) -> bool:
    """Return whether a paragraph is short, on one line, and not ended as a sentence is."""
    return (
        end - start < 10 * _HEADING_TOKENS
        and "\n" not in text[start:end]
        and not text[start:end].endswith(_ENDS_LIKE_PROSE)
        and _count(text, start, end) <= _HEADING_TOKENS
    )


def _sentences(text: str, start: int, end: int, outline: Outline) -> Iterator[Span]:
    for paragraph in _split_at(text, start, end, _BLANK_LINE):
        yield from sentence_spans(text, *paragraph)


def _tokens(text: str, start: int, end: int, outline: Outline) -> Iterator[Span]:
    return (match.span() for match in _TOKEN.finditer(text, start, end))


def _make_cutter(border: str) -> _Cutter:
    pattern = re.compile(border)
    return lambda text, start, end, outline: _split_at(text, start, end, pattern)


#: Items of lists have their bullets.
_items, _lines, _words = map(_make_cutter, (r"\n(?=[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]+\S)", r"\n", r"\s+"))
_CUTTERS: Sequence[_Cutter] = (_paragraphs, _items, _sentences, _lines, _words, _tokens)
