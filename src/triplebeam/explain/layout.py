"""How a text is laid out: paragraphs, which may be filled, and blocks whose lines must stay: code, tables, lists."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_INDENTED_OR_TABULAR = re.compile(r"^(?: {2,}|\t|```|~~~)|\t| \| ", re.MULTILINE)
#: Lines of prose that somebody wrapped are longer than this, but for the last.
_WRAPPED = 60


class Block(NamedTuple):
    """A stretch of a text between blank lines, as in ``text[start:end]``."""

    start: int
    end: int
    keeps_lines: bool


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text; the page's `text_blocks.js` follows the same rules."""
    for start, end in _between(text):
        if text[start:end].strip():
            yield Block(start, end, _keeps_lines(text[start:end]))


def filled(text: str) -> str:
    """The text with paragraphs on one line each; every character stays where it was."""
    letters = list(text)
    for block in blocks(text):
        if not block.keeps_lines:
            letters[block.start : block.end] = text[block.start : block.end].replace("\n", " ")
    return "".join(letters)


def _between(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _keeps_lines(block: str) -> bool:
    *wrapped, _ = block.split("\n")
    short = bool(wrapped) and max(map(len, wrapped)) < _WRAPPED
    return short or bool(_INDENTED_OR_TABULAR.search(block))
