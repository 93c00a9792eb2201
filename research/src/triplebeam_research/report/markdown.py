"""The parts of a report, and how they are written in Markdown."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What Markdown would take for markup; an underscore only at the edge of a word, so that method names stay readable.
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
#: Columns of words, set to the left; numbers are set to the right.
WORDS = ("Method", "Verdict", "Question id", "Question", "Questions", "Difference, 95 % interval and adjusted p-value")


class Best(str):
    """The best text of a column, shown in bold."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A table, a plot, or a plot above its numbers. ``reading`` says what it shows and how to read it."""

    caption: str
    reading: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    draw: "Callable[[Axes], None] | None" = None


@dataclass(frozen=True, slots=True)
class Missing:
    """Something this evaluation has no data for, and why: listed together at the end."""

    what: str
    why: str


def escape_markdown(text: str) -> str:
    """Escape text for Markdown, on one line."""
    harmless = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda match: "\\" + match[0], harmless)


def format_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table of texts."""
    lines = [
        list(map(escape_markdown, columns)),
        ["---" if column in WORDS else "---:" for column in columns],
        *([_format_cell(cell) for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _format_cell(cell: str) -> str:
    text = escape_markdown(cell)
    return f"**{text}**" if isinstance(cell, Best) else text
