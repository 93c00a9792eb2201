"""The report as one HTML page (style and plots inside it, no script, nothing fetched), and as Markdown with tables."""

import re
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from triplebeam.evaluate.report import plots
from triplebeam.evaluate.report.content import document
from triplebeam.evaluate.report.document import Column, Figure, Missing
from triplebeam.evaluate.run import Evaluation

#: What Markdown would take for markup; an underscore only at the edge of a word, so that method names stay readable.
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_PARTS = re.compile(r"(?<=[+:,/])")


def html_report(evaluation: Evaluation) -> str:
    """The whole page. Without matplotlib, figures show their numbers and the page says how to get the plots."""
    report = document(evaluation)
    drawn = plots.available()
    lacks = [] if drawn else [Missing("Plots", f"matplotlib is not installed: {plots.EXTRA}.")]
    return _TEMPLATES.get_template("report.html").render(
        report=report,
        missing=[*report.missing, *lacks],
        drawn=drawn,
        drawing=lambda figure: plots.to_svg(figure.draw, figure.caption, figure.reading),
    )


def markdown_report(evaluation: Evaluation) -> str:
    """All tables of the report, and the numbers of its figures."""
    return _TEMPLATES.get_template("report.md").render(report=document(evaluation))


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    harmless = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda match: "\\" + match[0], harmless)


def _markdown_heading(column: Column) -> str:
    """Markdown has one row of headings, so a group is repeated in each column whose name alone would be ambiguous."""
    return escaped(f"{column.group}: {column.name}" if "(" in column.group else column.name)


def _grouped(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """The groups of neighbouring columns, with how many each has; nothing where no column has one."""
    groups = [(group, len(list(members))) for group, members in groupby(columns, key=lambda column: column.group)]
    return groups if any(group for group, _ in groups) else []


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _breakable(name: str) -> Markup:
    """A method's name may be broken where its parts meet, not inside a word."""
    return Markup("<wbr>").join(map(escape, _PARTS.split(name)))


def _tied(text: str) -> str:
    """A number and its sign stay on one line."""
    return re.sub(r" (?=%)|(?<=\bp) (?=[<=])|(?<=p [<=]) ", "\N{NO-BREAK SPACE}", text)


_TEMPLATES = Environment(
    loader=PackageLoader("triplebeam.evaluate.report", ""),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.tests["figure"] = lambda block: isinstance(block, Figure)
_TEMPLATES.filters |= {
    "markdown": escaped,
    "markdown_heading": _markdown_heading,
    "grouped": _grouped,
    "anchor": _anchor,
    "breakable": _breakable,
    "tied": _tied,
}
