"""The report as one HTML page: style and plots inside it, no script, nothing fetched."""

import re
from collections.abc import Iterator
from importlib import resources
from itertools import groupby

from triplebeam.evaluate.report.content import document
from triplebeam.evaluate.report.document import Block, Cell, Column, Document, Figure, Section, Table
from triplebeam.evaluate.report.markup import Markup, element, joined
from triplebeam.evaluate.run import Evaluation

_PARTS = re.compile(r"(?<=[+:,/])")
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
"""


def html_report(evaluation: Evaluation) -> str:
    """The whole page."""
    report = document(evaluation)
    style = resources.files("triplebeam.evaluate.report").joinpath("page.css").read_text(encoding="utf-8")
    return (
        f"{_HEAD}{element('title', report.title)}\n<style>\n{style}</style>\n</head>\n"
        f"{element('body', _skip(), _header(report), _main(report))}\n</html>\n"
    )


def _skip() -> Markup:
    return element("a", "Skip to the results", href="#report", class_="skip")


def _header(report: Document) -> Markup:
    facts = [element("div", element("dt", name), element("dd", value)) for name, value in report.facts]
    links = [
        element("li", element("a", heading, href=f"#{_anchor(heading)}"))
        for heading in [*(section.heading for section in report.sections), *(["Not shown"] if report.missing else [])]
    ]
    return element(
        "header",
        element("h1", report.title),
        element("p", _tied(" ".join(report.in_short)), class_="short"),
        *([element("dl", *facts)] if facts else []),
        *([element("nav", element("ul", *links), aria_label="Sections")] if links else []),
    )


def _main(report: Document) -> Markup:
    sections = [_section(section) for section in report.sections]
    if report.missing:
        items = [element("li", element("b", part.what), ": ", part.why) for part in report.missing]
        sections.append(element("section", element("h2", "Not shown"), element("ul", *items), id=_anchor("Not shown")))
    return element("main", *sections, id="report")


def _section(section: Section) -> Markup:
    """Figures that follow each other stand side by side where there is room."""
    parts = []
    for drawn, blocks in groupby(section.blocks, key=lambda block: isinstance(block, Figure)):
        rendered = [_block(block) for block in blocks]
        parts.append(element("div", *rendered, class_="figures") if drawn else joined(rendered))
    return element("section", element("h2", section.heading), *parts, id=_anchor(section.heading))


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _block(block: Block) -> Markup:
    if isinstance(block, Figure):
        return _figure(block)
    return element("figure", _scrolling(block), element("figcaption", _tied(block.reading)), class_="table")


def _figure(figure: Figure) -> Markup:
    numbers = []
    if figure.numbers is not None:
        numbers = [element("details", element("summary", "The numbers"), _scrolling(figure.numbers))]
    return element(
        "figure",
        element("h3", figure.caption),
        figure.drawing,
        element("figcaption", _tied(figure.reading)),
        *numbers,
        class_="plot",
    )


def _scrolling(table: Table) -> Markup:
    """A wide table scrolls in a box of its own, which the keyboard can reach."""
    body = [element("tr", *_cells(table, row)) for row in table.rows]
    return element(
        "div",
        element(
            "table",
            element("caption", table.caption),
            element("thead", *_headings(table.columns)),
            element("tbody", *body),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=table.caption,
    )


def _headings(columns: tuple[Column, ...]) -> Iterator[Markup]:
    """A row of groups where there are any, then the names."""
    if any(column.group for column in columns):
        groups = [(group, len(list(members))) for group, members in groupby(columns, key=lambda column: column.group)]
        yield element(
            "tr",
            *(
                element("th", group, scope="colgroup", colspan=span) if group else element("td", colspan=span)
                for group, span in groups
            ),
            class_="groups",
        )
    yield element("tr", *(element("th", column.name, scope="col", **_kind(column)) for column in columns))


def _cells(table: Table, row: tuple[Cell, ...]) -> Iterator[Markup]:
    for place, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
        content = element("b", cell.text) if cell.best else cell.text
        if place == 0:
            yield element("th", _breakable(content), scope="row", **_kind(column))
        else:
            yield element("td", content, **_kind(column))


def _breakable(name: str) -> Markup:
    """A method's name may be broken where its parts meet, not inside a word."""
    return joined(piece for part in _PARTS.split(name) for piece in (part, Markup("<wbr>")))


def _tied(text: str) -> str:
    """A number and its sign stay on one line."""
    return re.sub(r" (?=%)|(?<=\bp) (?=[<=])|(?<=p [<=]) ", "\N{NO-BREAK SPACE}", text)


def _kind(column: Column) -> dict[str, str]:
    return {} if column.kind == "number" else {"class_": column.kind}
