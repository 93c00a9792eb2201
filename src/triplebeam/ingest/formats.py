"""Which reader takes which file: the one table."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from triplebeam.ingest.docx import read_docx
from triplebeam.ingest.html import read_html
from triplebeam.ingest.json_lines import read_json_lines
from triplebeam.ingest.markdown import read_markdown
from triplebeam.ingest.pdf import read_pdf
from triplebeam.ingest.text import Content, read_text
from triplebeam.passage import Document

#: The file is one document.
DOCUMENT_READERS: Mapping[str, Callable[[Path], Content]] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
}

#: Each line of the file is one.
LINE_READERS: Mapping[str, Callable[[Path, str], Iterator[tuple[int, Document | str]]]] = {
    ".jsonl": read_json_lines,
    ".jsonl.gz": read_json_lines,
}

#: Every file ending that is read.
ENDINGS = (*DOCUMENT_READERS, *LINE_READERS)


def ending_of(path: Path) -> str | None:
    """Give the known ending of a file's name, in any case, or nothing."""
    name = path.name.lower()
    return next((ending for ending in ENDINGS if name.endswith(ending)), None)
