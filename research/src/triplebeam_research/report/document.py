"""What a report consists of, before it is Markdown or HTML: sections of tables and figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; neighbouring columns of the same ``group`` share one above it."""

    name: str
    group: str = ""
    kind: Literal["number", "words", "sentences"] = "number"


class Best(str):
    """The best text of a column, shown in bold."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows whose first cell is their heading. ``reading`` says what the table shows and how to read it."""

    caption: str
    reading: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot; ``numbers`` are what it shows, for Markdown and for readers who cannot see it."""

    caption: str
    reading: str
    draw: "Callable[[Axes], None]"
    numbers: Table | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """Something this evaluation has no data for, and why: listed together at the end."""

    what: str
    why: str


Block: TypeAlias = Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it."""

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
