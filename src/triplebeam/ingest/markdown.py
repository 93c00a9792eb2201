"""Markdown and notebooks to plain text: rendered to HTML by GitHub's own parser, which is linear in its input.

Fields at the head of a Markdown or AsciiDoc file, between two fences, are metadata.
"""

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

from triplebeam.ingest.content import Content, report_damage
from triplebeam.ingest.html import read_html
from triplebeam.text.characters import replace_unstorable

#: A heading written as HTML at the head of a file, with the tags and comments before it.
_HTML_HEADING = re.compile(r"\A\s*(?:<(?!h[1-6]\b)[^>]*>\s*)*<h[1-6]\b", re.IGNORECASE)
# The line after the fence and remarks must be a field: a text may well open with a horizontal rule.
_FRONT_MATTER = re.compile(
    r"\A(---|\+\+\+)[ ]*\n(?=(?:[ \t]*(?:#[^\n]*)?\n)*[\w.-]+\s*[:=])(?P<fields>.*?)\n(?:\1|\.\.\.)[ ]*(?:\n|\Z)",
    re.DOTALL,
)
#: The title, authors and date of a manual page in Markdown, as pandoc reads them.
_TITLE_BLOCK = re.compile(r"\A%[ \t]+(?P<title>\S[^\n]*)\n(?:%[^\n]*\n){0,2}")
_FIELD = re.compile(r"^([\w.-]+)\s*[:=][ \t]*(.*(?:\n(?:[ \t]+|- ).*)*)", re.MULTILINE)
#: What may be between the fences: a field, what continues it, a comment, a table of TOML, nothing.
_LINE = re.compile(r"[\w.-]+\s*[:=]|[ \t]|- |#|\[|\]|\Z")
#: Two fields: one line such as "note: …" may well follow a rule.
_UNFINISHED = re.compile(r"\A(---|\+\+\+)[ ]*\n[a-z][\w.-]*[:=][^\n]*\n[a-z][\w.-]*[:=]")
_OPEN = re.compile(r"\"[^\"\n]*|'[^'\n]*|\[[^\]\n]*|\{[^}\n]*")
_ITEM = re.compile(r"^\s*-\s+", re.MULTILINE)
#: What YAML writes around a value: the sign of a text on the lines below, a remark behind a quotation.
_BLOCK_SIGN = re.compile(r"\A[>|][+-]?\s*\n")
_REMARK = re.compile(r"(?<=[\"'])[ \t]+#[^\n]*\Z")
_MAX_WARNINGS = 3


def read_markdown(source: str) -> Content:
    """Read Markdown. The title is the front matter's, else the first heading; other fields are metadata."""
    fields, body, warnings = parse_front_matter(source)
    content = read_html(render_html(body), code_mark="`")
    title = fields.get("title") or _find_first_heading(content, body)
    metadata = {name: text for name, text in fields.items() if name != "title"}
    return content._replace(title=title, metadata=metadata, warnings=warnings)


def _find_first_heading(content: Content, body: str) -> str:
    """Return the first heading; where it is HTML with a heading directly below, it is a banner, and that one counts."""
    if not content.headings:
        return ""
    first, *others = content.headings
    between = content.text[first.start + len(first.text) : others[0].start] if others else ""
    return others[0].text if others and not between.strip() and _HTML_HEADING.match(body) else first.text


def render_html(source: str) -> str:
    """Render Markdown as HTML, with tables and footnotes."""
    from cmarkgfm import github_flavored_markdown_to_html
    from cmarkgfm.cmark import Options

    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    return str(github_flavored_markdown_to_html(source, options))


def read_notebook(source: str) -> Content:
    """Read a notebook's cells in order, without outputs. The title is the first heading."""
    with report_damage("it is no notebook"):
        notebook = json.loads(source)
        cells = "\n".join(_cells(notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]))
    content = read_html(cells, code_mark="`")
    return content._replace(title=content.first_heading)


def _cells(cells: list[dict[str, object]]) -> Iterator[str]:
    for cell in cells:
        lines = cell.get("source", cell.get("input", ""))
        text = replace_unstorable("".join(map(str, lines)) if isinstance(lines, list) else str(lines or ""))
        if cell["cell_type"] in ("markdown", "heading"):
            yield render_html(text)
        elif text.strip():
            yield f"<pre>{escape(text)}</pre>"


class FrontMatter(NamedTuple):
    """The fields, what follows them, and what is wrong with them."""

    fields: Mapping[str, str]
    body: str
    warnings: tuple[str, ...] = ()


def parse_front_matter(source: str) -> FrontMatter:
    """Parse the fields of YAML or TOML as strings.

    Values are kept as they are written, without quotes; the items of a list are joined by commas. That is all a filter
    needs, and no document can make a YAML parser build what it likes.
    """
    if block := _TITLE_BLOCK.match(source):
        return FrontMatter({"title": block["title"].strip()}, source[block.end() :])
    found = _FRONT_MATTER.match(source)
    if found is None:
        never = ("its front matter has no end, so it was read as text: close it with the line it begins with",)
        return FrontMatter({}, source, never if _UNFINISHED.match(source) else ())
    values = _FIELD.findall(found["fields"])
    fields = {"title" if name == "Title" else name: value for name, text in values if (value := _value(text))}
    return FrontMatter(fields, source[found.end() :], tuple(_find_faults(found["fields"], values))[:_MAX_WARNINGS])


def _find_faults(lines: str, values: list[tuple[str, str]]) -> Iterator[str]:
    """Find lines that were left out, and values that begin and do not end."""
    for number, line in enumerate(lines.split("\n"), start=2):
        if not _LINE.match(line):
            yield f"line {number} of its front matter is no field and was left out: {line[:40]!r}"
    for name, text in values:
        if _OPEN.fullmatch(text):
            yield f"the field {name!r} of its front matter begins with {text[0]} and has no end: {text[:40]!r}"


def _value(text: str) -> str:
    text = _REMARK.sub("", _BLOCK_SIGN.sub("", text))
    items = [item.strip() for item in _ITEM.split(text)]
    joined = ", ".join(filter(None, items))
    if joined.startswith("[") and joined.endswith("]"):
        joined = ", ".join(item.strip().strip("\"'") for item in joined[1:-1].split(","))
    return " ".join(joined.strip("\"'").split())
