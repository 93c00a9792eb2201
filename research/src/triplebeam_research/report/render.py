"""The report of an evaluation: what applies, in the order a reader asks for it, as an HTML page and as Markdown.

The page is one file: style and plots are inside it, it has no script and fetches nothing.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from triplebeam.evaluate.numbers import percent
from triplebeam.evaluate.run import Evaluation
from triplebeam.text.phrases import format_count
from triplebeam_research.report import plots
from triplebeam_research.report.cost import cost_figures, cost_table
from triplebeam_research.report.differences import (
    comparisons,
    difference_figure,
    difference_tables,
    disagreement_table,
)
from triplebeam_research.report.document import Best, Block, Column, Document, Figure, Missing, Section
from triplebeam_research.report.results import breakdown_tables, hop_figure, summary_table
from triplebeam_research.report.scores import Scores
from triplebeam_research.report.steps import step_figures

#: What Markdown would take for markup; an underscore only at the edge of a word, so that method names stay readable.
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_PARTS = re.compile(r"(?<=[+:,/])")


def html_report(evaluation: Evaluation) -> str:
    """Render the whole page. Without matplotlib, figures show their numbers and the page says how to get the plots."""
    report = document(evaluation)
    drawn = plots.can_plot()
    lacks = [] if drawn else [Missing("Plots", "matplotlib is not installed: run pip install matplotlib.")]
    return _TEMPLATES.get_template("report.html").render(
        report=report,
        missing=[*report.missing, *lacks],
        drawn=drawn,
        drawing=lambda figure: plots.render_svg(figure.draw, figure.caption, figure.reading),
    )


def markdown_report(evaluation: Evaluation) -> str:
    """Render all tables of the report, and the numbers of its figures."""
    return _TEMPLATES.get_template("report.md").render(report=document(evaluation))


def document(evaluation: Evaluation) -> Document:
    """Build the report of an evaluation, in no format yet."""
    scores = Scores(evaluation)
    parts: dict[str, list[Block | Missing]] = {}
    if evaluation.questions and evaluation.runs:
        parts = {
            "Results": [summary_table(scores)],
            "Differences": [*difference_figure(scores), *difference_tables(scores)],
            "Cost": [cost_table(scores), *cost_figures(scores)],
            "Kinds of questions": [*breakdown_tables(scores), *hop_figure(scores)],
            "Steps of agents": [*step_figures(scores)],
            "Questions to look at": [disagreement_table(scores)],
        }
    shown = {
        heading: tuple(block for block in blocks if not isinstance(block, Missing)) for heading, blocks in parts.items()
    }
    return Document(
        title=evaluation.title,
        facts=tuple(evaluation.facts.items()),
        in_short=tuple(_summarize(scores)),
        sections=tuple(Section(heading, blocks) for heading, blocks in shown.items() if blocks),
        missing=tuple(block for blocks in parts.values() for block in blocks if isinstance(block, Missing)),
    )


def _summarize(scores: Scores) -> Iterator[str]:
    """Yield the conclusion, for a reader in a hurry."""
    questions, runs = scores.evaluation.questions, scores.evaluation.runs
    counts = f"{format_count(len(runs), 'method')}, {format_count(len(questions), 'question')}."
    if not runs or not questions:
        yield f"There is nothing to report: {counts}"
        return
    yield counts
    leading, best = scores.leading, scores.best
    if leading is None or best is None:
        yield "Nothing could be measured: the methods returned nothing that the questions' gold or answers can check."
        return
    reached = percent(scores.means(leading)[best])
    if len(runs) == 1:
        yield f"{scores.labels[0]} reached {reached} % {leading}."
        return
    yield f"{scores.labels[best]} is best with {reached} % {leading}."
    if best == 0:
        yield "It is the baseline: no other method did better."
    for line in comparisons(scores, leading, 0):
        if line.place == best:
            yield f"Against the baseline, {scores.labels[0]}, that is {line.words}."
    if scores.evaluation.advice:
        yield scores.evaluation.advice


def escape_markdown(text: str) -> str:
    """Escape text for Markdown, on one line."""
    harmless = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda match: "\\" + match[0], harmless)


def _markdown_heading(column: Column) -> str:
    """Return the one row of headings: a group is repeated in each column whose name alone would be ambiguous."""
    return escape_markdown(f"{column.group}: {column.name}" if "(" in column.group else column.name)


def _group_columns(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Group neighbouring columns, with how many each group has; nothing where no column has one."""
    groups = [(group, len(list(members))) for group, members in groupby(columns, key=lambda column: column.group)]
    return groups if any(group for group, _ in groups) else []


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _allow_breaks(name: str) -> Markup:
    """Allow a method's name to break where its parts meet, not inside a word."""
    return Markup("<wbr>").join(map(escape, _PARTS.split(name)))


def _keep_together(text: str) -> str:
    """Keep a number and its sign on one line."""
    return re.sub(r" (?=%)|(?<=\bp) (?=[<=])|(?<=p [<=]) ", "\N{NO-BREAK SPACE}", text)


_TEMPLATES = Environment(
    loader=PackageLoader("triplebeam_research.report", ""),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.tests |= {"figure": lambda block: isinstance(block, Figure), "best": lambda cell: isinstance(cell, Best)}
_TEMPLATES.filters |= {
    "markdown": escape_markdown,
    "markdown_heading": _markdown_heading,
    "grouped": _group_columns,
    "anchor": _anchor,
    "breakable": _allow_breaks,
    "tied": _keep_together,
}
