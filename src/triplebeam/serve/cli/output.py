"""What a command prints: results to stdout, everything else to stderr.

Progress is a bar per stage in a terminal; elsewhere, as in a log, a plain line every so often.
"""

import json
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from triplebeam.system.work import Progress as ProgressCallback
from triplebeam.system.work import ignore_progress
from triplebeam.text.characters import replace_control_characters

if TYPE_CHECKING:
    from rich.progress import Progress

_SECONDS_TO_FIRST_LINE = 2.0
_SECONDS_BETWEEN_LINES = 10.0
#: The pace is that of the last minute, and unknown until it was seen for some seconds.
_SECONDS_OF_PACE, _MIN_SECONDS_OF_PACE = 60.0, 3.0
_SECONDS_BETWEEN_REPORTS = 0.5


class _Screen(Console):
    """Shows what documents hold, and obeys nothing of it: an escape sequence is no command, :key: no picture."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render every text, whatever it is in; rich's own commands are no texts."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=replace_control_characters(segment.text))


class Output:
    """Prints rows, tables, JSON, notes and warnings."""

    @cached_property
    def console(self) -> Console:
        """Where results go. Without a terminal, nothing is cut to its width."""
        return _Screen() if sys.stdout.isatty() else _Screen(soft_wrap=True, width=160)

    @cached_property
    def notes(self) -> Console:
        """Where everything else goes."""
        return _Screen(stderr=True, soft_wrap=not sys.stderr.isatty())

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
        """Print values with their labels on the left, right-aligned in a given width."""
        for label, value in rows.items():
            self.row(f"[dim]{label:>{columns}}[/dim]", value)

    def row(self, label: str, value: str) -> None:
        """Print a value behind its label, which may have markup."""
        self.console.print(f"{label}  ", end="")
        self.print(value)

    def table(self, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print figures, right-aligned behind what they are of; cells may have markup."""
        from rich.table import Table

        table = Table(box=None, title=title, title_justify="left", title_style="dim")
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="right" if number else "left", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)


class Label(NamedTuple):
    """A stage in words, and what its numbers count."""

    text: str
    unit: str
    size: int = 1
    is_even: bool = True
    """One unit takes about as long as another, so that the time left can be estimated."""


_LABELS = {
    "read": Label("reading documents", "documents"),
    "extract": Label("extracting triples", "passages"),
    "embed": Label("encoding texts", "texts"),
    "embed names": Label("encoding names", "names"),
    "publish": Label("writing the index", "parts", is_even=False),
    "link synonyms": Label("linking similar names", "steps"),
    "judge": Label("judging answers", "answers"),
    "train": Label("training", "steps"),
    "download": Label("downloading", "MB", 1_000_000),
    "encoding tokens": Label("encoding tokens", "passages"),
    "finding centroids": Label("finding centroids", "steps"),
    "writing token vectors": Label("writing token vectors", "passages"),
}


@dataclass
class Stage:
    """A stage of long work. The time left is estimated from its own pace, once its first results are there: what comes
    before them, such as loading a model, does not come again.
    """

    label: Label
    started: float
    first: int
    done: int = 0
    total: int = 0
    updated: float = 0.0
    end_is_shown: bool = False
    reports: deque[tuple[float, int]] = field(default_factory=deque)
    """Times and what was done by then, in the last minute."""

    def take(self, done: int, total: int, now: float) -> None:
        """Take a report."""
        self.done, self.total, self.updated = done, total, now
        if done > self.first and (not self.reports or now - self.reports[-1][0] >= _SECONDS_BETWEEN_REPORTS):
            self.reports.append((now, done))
        while len(self.reports) > 2 and self.reports[1][0] <= now - _SECONDS_OF_PACE:
            self.reports.popleft()

    @property
    def is_done(self) -> bool:
        """Is nothing left?"""
        return bool(self.total) and self.done >= self.total

    def seconds_left(self, now: float) -> float | None:
        """Estimate the time left; None before there is a pace."""
        if not self.total or not self.reports or not self.label.is_even:
            return None
        since, before = self.reports[0]
        if self.done <= before or self.updated - since < _MIN_SECONDS_OF_PACE:
            return None
        left = (self.total - self.done) * (self.updated - since) / (self.done - before)
        return max(0.0, left - (now - self.updated))

    def __str__(self) -> str:
        """Count down between two reports."""
        return self.figures(time.monotonic())

    def figures(self, now: float) -> str:
        """Write figures such as ``1,024/4,500 passages, 22%, 3:10 left``."""
        done, total = self.done // self.label.size, self.total // self.label.size
        if self.is_done:
            return f"{total:,} {self.label.unit} in {_clock(self.updated - self.started)}"
        if not self.total:
            return f"{done:,} {self.label.unit}"
        left = self.seconds_left(now)
        return f"{done:,}/{total:,} {self.label.unit}, {self.done / self.total:.0%}" + (
            "" if left is None else f", {_clock(left)} left"
        )


def _update_stage(stages: dict[str, Stage], name: str, done: int, total: int, now: float) -> Stage:
    """Take a report; one that goes back is of another piece of work of that name."""
    stage = stages.get(name)
    if stage is None or done < stage.done:
        # A stage that is none of these is a method at work on questions.
        stage = stages[name] = Stage(_LABELS.get(name, Label(name, "questions")), now, done)
    stage.take(done, total, now)
    return stage


@contextmanager
def shown_progress(quiet: bool = False) -> Iterator[ProgressCallback]:
    """Show the progress of what is done inside; ``quiet`` shows none, and no warnings either."""
    console = Output().notes
    if quiet:
        log = logging.getLogger("triplebeam")
        before = log.level
        log.setLevel(logging.ERROR)
        try:
            yield ignore_progress
        finally:
            log.setLevel(before)
        return
    if not console.is_terminal:
        yield progress_lines(Output().note)
        return
    with ExitStack() as shown:
        yield _progress_bars(console, shown)


def _progress_bars(console: Console, shown: ExitStack) -> ProgressCallback:
    """Show a bar per stage, from the first report on: most searches report nothing."""
    stages: dict[str, Stage] = {}
    tasks = {}

    @cache
    def start() -> "Progress":
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        texts = (TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[stage]}"))
        columns = (SpinnerColumn(), next(texts), BarColumn(), *texts)
        return shown.enter_context(Progress(*columns, console=console, transient=True))

    def show(name: str, done: int, total: int) -> None:
        stage = _update_stage(stages, name, done, total, time.monotonic())
        if name not in tasks:
            tasks[name] = start().add_task(stage.label.text, stage=stage)
        start().update(tasks[name], completed=done, total=total or None, stage=stage)

    return show


def progress_lines(write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> ProgressCallback:
    """Write the first line after 2 seconds, then one about every 10, and one at the end of a stage that took longer."""
    stages: dict[str, Stage] = {}
    next_line = clock() + _SECONDS_TO_FIRST_LINE

    def show(name: str, done: int, total: int) -> None:
        nonlocal next_line
        now = clock()
        stage = _update_stage(stages, name, done, total, now)
        if stage.is_done:
            due = not stage.end_is_shown and now - stage.started >= _SECONDS_TO_FIRST_LINE
            stage.end_is_shown = True
        else:
            due = now >= next_line and bool(done or total)
        if due:
            write(f"{stage.label.text}: {stage.figures(now)}")
            next_line = now + _SECONDS_BETWEEN_LINES

    return show


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
