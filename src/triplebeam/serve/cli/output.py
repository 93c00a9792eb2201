"""What a command prints: results to stdout, everything else to stderr."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from triplebeam.text.characters import replace_control_characters


class _Screen(Console):
    """Shows what documents hold, and obeys nothing of it: an escape sequence in a text is no command."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render every text, whatever it is in; rich's own commands are no texts."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=replace_control_characters(segment.text))


class Output:
    """Prints rows, tables, JSON, notes and warnings."""

    @cached_property
    def console(self) -> Console:
        """Where results go. Without a terminal, nothing is cut to its width."""
        return _Screen(highlight=False) if sys.stdout.isatty() else _Screen(highlight=False, soft_wrap=True, width=160)

    @cached_property
    def notes(self) -> Console:
        """Where everything else goes."""
        return _Screen(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())

    def print(self, text: str) -> None:
        """Print a line of a result, as it is."""
        self.console.print(text, markup=False)

    def json(self, value: object, *, indent: int | None = 2) -> None:
        """Print a result for programs; without an indent on one line."""
        typer.echo(json.dumps(value, ensure_ascii=False, indent=indent))

    def note(self, text: object, *, style: str | None = None) -> None:
        """Print what happened, as it is."""
        self.notes.print(str(text), style=style, markup=False)

    def warn(self, text: str) -> None:
        """Print what somebody should look at."""
        self.note(text, style="yellow")

    def rows(self, rows: Mapping[str, str], columns: int) -> None:
        """Print values with their labels on the left, right-aligned in so many columns."""
        for label, value in rows.items():
            self.row(f"[dim]{label:>{columns}}[/dim]", value)

    def row(self, label: str, value: str) -> None:
        """Print a value behind its label, which may have markup."""
        self.console.print(f"{label}  ", end="")
        self.print(value)

    def table(self, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print figures, right-aligned behind what they are of; cells may have markup."""
        table = Table(box=None, title=title, title_justify="left", title_style="dim")
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="right" if number else "left", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)
