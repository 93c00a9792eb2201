"""The report as Markdown with tables, as GitHub reads it. Figures are given as the numbers they are drawn from."""

import re
from collections.abc import Iterable, Iterator

from triplebeam.evaluate.report.content import document
from triplebeam.evaluate.report.document import Block, Cell, Column, Figure, Table
from triplebeam.evaluate.run import Evaluation

#: What Markdown would take for markup; an underscore only at the edge of a word, so that method names stay readable.
_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")


def markdown_report(evaluation: Evaluation) -> str:
    """All tables of the report, and the numbers of its figures."""
    report = document(evaluation)
    lines = [f"# {escaped(report.title)}", " ".join(map(escaped, report.in_short))]
    if report.facts:
        lines.append("\n".join(f"- **{escaped(name)}**: {escaped(value)}" for name, value in report.facts))
    for section in report.sections:
        lines.append(f"## {escaped(section.heading)}")
        for block in section.blocks:
            lines += _block(block)
    if report.missing:
        lines.append("## Not shown")
        lines.append("\n".join(f"- **{escaped(part.what)}**: {escaped(part.why)}" for part in report.missing))
    return "\n\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    one_line = " ".join(text.split())
    harmless = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda match: "\\" + match[0], harmless)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Table():
            yield f"### {escaped(block.caption)}"
            yield escaped(block.reading)
            yield _rows(block)
        case Figure(numbers=Table() as numbers):
            yield f"### {escaped(block.caption)}"
            yield escaped(numbers.reading)
            yield _rows(numbers)


def _rows(table: Table) -> str:
    heads = [_line(escaped(_heading(column)) for column in table.columns)]
    rule = [_line("---:" if column.kind == "number" else "---" for column in table.columns)]
    return "\n".join([*heads, *rule, *(_line(map(_cell, row)) for row in table.rows)])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _heading(column: Column) -> str:
    """Markdown has one row of headings, so a group is told with each column whose name alone would be ambiguous."""
    return f"{column.group}: {column.name}" if "(" in column.group else column.name


def _cell(cell: Cell) -> str:
    return f"**{escaped(cell.text)}**" if cell.best else escaped(cell.text)
