"""Jupyter notebooks: the text of Markdown cells, and code as it is written; outputs are left out."""

import json
from collections.abc import Iterator
from html import escape

from triplebeam.errors import SourceError
from triplebeam.ingest.html import html_content
from triplebeam.ingest.markdown import rendered
from triplebeam.ingest.text import Content
from triplebeam.text import storable


def notebook_content(source: str) -> Content:
    """Read a notebook's cells in order. The title is the first heading."""
    try:
        notebook = json.loads(source)
        cells = "\n".join(_rendered(notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise SourceError(f"it is no notebook ({type(error).__name__}: {error})") from error
    content = html_content(cells, code_mark="`")
    return content._replace(title=content.headings[0].text if content.headings else "")


def _rendered(cells: list[dict[str, object]]) -> Iterator[str]:
    for cell in cells:
        lines = cell.get("source", cell.get("input", ""))
        text = storable("".join(map(str, lines)) if isinstance(lines, list) else str(lines or ""))
        if cell["cell_type"] in ("markdown", "heading"):
            yield rendered(text)
        elif text.strip():
            yield f"<pre>{escape(text)}</pre>"
