"""What a report consists of, before it is Markdown or HTML: sections of tables and figures."""

from dataclasses import dataclass
from typing import Literal

from triplebeam.evaluate.report.markup import Markup


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; neighbouring columns of the same ``group`` stand under one heading."""

    name: str
    group: str = ""
    kind: Literal["number", "words", "sentences"] = "number"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text in a table; the best of its column is set in bold."""

    text: str
    best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows whose first cell is their heading. ``reading`` says what the table shows and how it is read."""

    caption: str
    reading: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot; ``numbers`` are what is drawn, for Markdown and for those who cannot see it."""

    caption: str
    reading: str
    drawing: Markup
    numbers: Table | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """Something this evaluation has no data for, and why: told together at the end."""

    what: str
    why: str


Block = Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The whole report."""

    title: str
    facts: tuple[tuple[str, str], ...]
    in_short: tuple[str, ...]
    sections: tuple[Section, ...]
    missing: tuple[Missing, ...]
