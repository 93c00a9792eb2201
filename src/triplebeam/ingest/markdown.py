"""Markdown to plain text."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam.ingest.html import html_content
from triplebeam.ingest.text import Content, decode, tidy

if TYPE_CHECKING:
    from markdown_it.token import Token

# The line after the fence must be a field: a text may well open with a horizontal rule.
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ ]*\n(?=[\w.-]+\s*[:=])(?P<fields>.*?)\n\1[ ]*(?:\n|\Z)", re.DOTALL)
_TITLE_FIELD = re.compile(r"^title\s*[:=]\s*(.+)$", re.MULTILINE)

_AFTER = {
    "paragraph_close": "\n\n",
    "heading_close": "\n\n",
    "bullet_list_close": "\n\n",
    "ordered_list_close": "\n\n",
    "table_close": "\n\n",
    "tr_close": "\n",
    "th_close": "\t",
    "td_close": "\t",
}


def read_markdown(path: Path) -> Content:
    """Read a Markdown file. The title is the first heading, else the front matter's."""
    from markdown_it import MarkdownIt

    source = decode(path.read_bytes())
    front_matter = _FRONT_MATTER.match(source)
    parser = MarkdownIt("commonmark", {"maxNesting": 60}).enable("table")  # deeper text would be left out
    tokens = parser.parse(source[front_matter.end() :] if front_matter else source)
    title = _first_heading(tokens) or (_title_field(front_matter["fields"]) if front_matter else "")
    return Content(tidy("".join(_pieces(tokens))), title)


def _first_heading(tokens: list["Token"]) -> str:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and (title := tidy(_inline(inline))):
            return title
    return ""


def _title_field(fields: str) -> str:
    field = _TITLE_FIELD.search(fields)
    return field[1].strip().strip("\"'") if field else ""


def _pieces(tokens: list["Token"]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield _inline(token)
        elif token.type in ("fence", "code_block"):
            yield token.content.expandtabs() + "\n\n"
        elif token.type == "html_block":
            yield html_content(token.content).text + "\n\n"
        elif token.hidden and token.nesting < 0:  # the paragraph of an item in a tight list
            yield "\n"
        else:
            yield _AFTER.get(token.type, "")


def _inline(token: "Token") -> str:
    return "".join(_inline_pieces(token.children or []))


def _inline_pieces(children: list["Token"]) -> Iterator[str]:
    for child in children:
        if child.type == "hardbreak":
            yield "\n"
        elif child.type == "softbreak":
            yield " "
        elif child.type == "image":
            yield _inline(child)
        elif child.type == "html_inline":
            yield " " if child.content.startswith("<br") else ""
        else:
            yield child.content
