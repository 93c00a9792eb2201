"""Where a command prints: results to stdout, everything else to stderr."""

import sys
from collections.abc import Iterable, Mapping

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from triplebeam.text.characters import replace_control_characters


class _Screen(Console):
    """Shows what documents hold, and obeys nothing of it: an escape sequence in a text is no command."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Every text, whatever it is in, comes through here; rich's own commands are no texts."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=replace_control_characters(segment.text))


def out() -> Console:
    """Where results go."""
    # Without a terminal, nothing is cut to its width.
    return _Screen(highlight=False) if sys.stdout.isatty() else _Screen(highlight=False, soft_wrap=True, width=160)


def err() -> Console:
    """Where everything else goes."""
    return _Screen(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def warn(text: str) -> None:
    """Print what somebody should look at."""
    err().print(text, style="yellow", markup=False)


def draw_rows(rows: Mapping[str, str], columns: int) -> None:
    """Print values with their labels on the left, right-aligned in so many columns."""
    console = out()
    for label, value in rows.items():
        console.print(f"[dim]{label:>{columns}}[/dim]  ", end="")
        console.print(value, markup=False)
