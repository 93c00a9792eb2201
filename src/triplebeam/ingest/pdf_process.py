"""The text layer of a PDF, read in a process of its own: ``python -P pdf_process.py BYTES SECONDS < FILE``.

A few kilobytes of PDF can ask PDFium for any amount of memory and time, and it ends the process where it gets no more
memory. So the limits are those of a child, which the system enforces. It prints JSON and imports nothing of this
package, which would take longer than most files do.
"""

import json
import sys
from typing import Any

import pypdfium2

MAX_CHARACTERS = 100_000_000
_PASSWORD = 4
_MAX_OUTLINE_DEPTH = 6


def main() -> None:
    """Read a file from stdin and print its text layer, or why there is none."""
    _limit(*map(int, sys.argv[1:]))
    print(json.dumps(read_text_layer(sys.stdin.buffer.read())))


def read_text_layer(data: bytes) -> dict[str, Any]:
    """Return ``pages``, the ``outline`` (page, level, title) and the ``title``, or an ``error``."""
    try:
        document = pypdfium2.PdfDocument(data)
        pages, characters = [], 0
        for number in range(len(document)):
            pages.append(_text(document, number))
            characters += len(pages[-1])
            if characters > MAX_CHARACTERS:
                return {"error": f"the PDF has more than {MAX_CHARACTERS:,} characters: save it in parts"}
        return {"pages": pages, "outline": _outline(document), "title": document.get_metadata_value("Title")}
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD:
            return {"error": "the PDF is encrypted; save a copy without a password"}
        return {"error": f"the PDF is damaged ({error})"}


def _text(document: pypdfium2.PdfDocument, number: int) -> str:
    page = document[number]
    text = page.get_textpage()
    try:
        return str(text.get_text_bounded())
    finally:
        text.close()
        page.close()


def _outline(document: pypdfium2.PdfDocument) -> list[tuple[int, int, str]]:
    found = []
    for bookmark in document.get_toc(max_depth=_MAX_OUTLINE_DEPTH):
        place = bookmark.get_dest()
        page = place.get_index() if place is not None else None
        if page is not None:
            found.append((page, bookmark.level + 1, bookmark.get_title()))
    return found


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    main()
