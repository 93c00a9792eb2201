"""Markdown and notebooks to plain text: rendered to HTML by GitHub's own parser, which is linear in its input."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from html import escape

from triplebeam.ingest.content import Content, report_damage
from triplebeam.ingest.front_matter import parse_front_matter
from triplebeam.ingest.html import read_html
from triplebeam.passage import Heading
from triplebeam.text.characters import replace_unstorable

#: A heading written as HTML at the head of a file, with the tags and comments before it.
_HTML_HEADING = re.compile(r"\A\s*(?:<(?!h[1-6]\b)[^>]*>\s*)*<h[1-6]\b", re.IGNORECASE)
#: What an anchor leaves out of a heading.
_NO_ANCHOR = re.compile(r"[^\w\s-]")


def read_markdown(source: str) -> Content:
    """Read Markdown. The title is the front matter's, else the first heading; other fields are metadata."""
    fields, body, warnings = parse_front_matter(source)
    content = _add_anchors(read_html(render_html(body), code_mark="`"))
    title = fields.get("title") or _find_first_heading(content, body)
    metadata = {name: text for name, text in fields.items() if name != "title"}
    return content._replace(title=title, metadata=metadata, warnings=warnings)


def _add_anchors(content: Content) -> Content:
    """Name headings as GitHub does, of which the second of a name gets a number, and as MkDocs does."""
    seen: Counter[str] = Counter()
    headings: list[Heading] = []
    for heading in content.headings:
        name = _NO_ANCHOR.sub("", heading.text.lower()).replace(" ", "-")
        numbered = f"{name}-{seen[name]}" if seen[name] else name
        seen[name] += 1
        names = dict.fromkeys((*heading.anchor.split(), numbered, re.sub("-+", "-", numbered).strip("-")))
        headings.append(heading._replace(anchor=" ".join(names)))
    return content._replace(headings=tuple(headings))


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
