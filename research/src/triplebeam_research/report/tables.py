"""The scores of an evaluation, and the parts of a report that show them, as they are written in Markdown.

An evaluation is measured once: every measure of every run, a name for each run, and which run leads.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triplebeam.evaluate.measures import MEASURES, Values, measure_run
from triplebeam.evaluate.run import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What Markdown would take for markup; an underscore only at the edge of a word, so that method names stay readable.
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
#: Columns of words, set to the left; numbers are set to the right.
WORDS = ("Method", "Verdict", "Question id", "Question", "Questions", "Difference, 95 % interval and adjusted p-value")
#: The first of these that applies decides which method is best.
LEADING = ("R@5", "Accuracy", "F1", "EM")


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


@dataclass(frozen=True)
class Scores:
    """The values of an evaluation, one per question, NaN where a measure does not apply to a question."""

    evaluation: Evaluation

    @cached_property
    def values(self) -> dict[str, list[Values | None]]:
        """For each measure that applies to any run: one array per run, None where it does not apply to that run."""
        table = {name: [measure_run(name, self.evaluation, run) for run in self.evaluation.runs] for name in MEASURES}
        return {name: row for name, row in table.items() if any(values is not None for values in row)}

    @cached_property
    def labels(self) -> list[str]:
        """A name for each run: its method, with the seed or a number where a method was run more than once."""
        methods = Counter(run.method for run in self.evaluation.runs)
        named = [
            f"{run.method}, seed {run.seed}" if methods[run.method] > 1 and run.seed is not None else run.method
            for run in self.evaluation.runs
        ]
        return [
            f"{name} #{named[: place + 1].count(name)}" if named.count(name) > 1 else name
            for place, name in enumerate(named)
        ]

    def tabulate(self, caption: str, reading: str, columns: Mapping[str, Sequence[str]]) -> Block:
        """Return a table of one row per run, the baseline named as such."""
        baseline, *others = self.labels
        labels = [f"{baseline} (baseline)" if others else baseline, *others]
        rows = list(zip(labels, *columns.values(), strict=True))
        return Block(caption=caption, reading=reading, columns=("Method", *columns), rows=rows)

    @cached_property
    def leading(self) -> str | None:
        """The measure methods are compared by."""
        return next((name for name in LEADING if name in self.values), None)

    @cached_property
    def best(self) -> int | None:
        """The run with the highest mean of the leading measure; of equals, the first."""
        return None if self.leading is None else int(np.nanargmax(self.means(self.leading)))

    def means(self, measure: str, places: Sequence[int] | None = None) -> list[float]:
        """Return the mean of each run over the questions at these places (all, if None); NaN where there is none."""
        chosen = slice(None) if places is None else list(places)
        known = [drop_nan(values[chosen]) if values is not None else np.empty(0) for values in self.values[measure]]
        return [float(each.mean()) if each.size else float("nan") for each in known]


def drop_nan(values: Values) -> Values:
    """Return the values of the questions a measure applies to."""
    return values[~np.isnan(values)]
