"""PDF to plain text, by PDFium: it keeps words apart where others run them together, and is many times as fast."""

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from triplebeam.errors import SourceError
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.pdf_lines import clean_lines, ends_paragraph, ends_sentence
from triplebeam.ingest.text import Content
from triplebeam.ingest.title import sensible_title

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

#: PDFium keeps state of its own and may be entered by one thread at a time.
_PDFIUM = threading.Lock()
_PASSWORD = 4
_EDGE = 2
_ENOUGH_REPEATS = 3
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_NUMBER = re.compile(r"^(?:(?:chapter|appendix|section|part)\s+\w+|\d+|[a-z]\.\d+)(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)


class _Bookmark(NamedTuple):
    """An entry of a PDF's own outline."""

    level: int
    title: str


def read_pdf(data: bytes) -> Content:
    """Read a PDF's text layer. A file that opens with an empty password is read like any other."""
    import pypdfium2

    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
            try:
                pages = [clean_lines(_text(document, number)) for number in range(len(document))]
                outline = _outline(document)
                title = sensible_title(document.get_metadata_value("Title"))
            finally:
                document.close()
        except pypdfium2.PdfiumError as error:
            if error.err_code == _PASSWORD:
                raise SourceError("the PDF is encrypted; save a copy without a password") from error
            raise SourceError(f"the PDF is damaged ({error})") from error
        except DAMAGE as error:
            raise SourceError(f"the PDF is damaged ({type(error).__name__}: {error})") from error
    content = _compose(_without_running_heads(pages), outline)
    if not content.text:
        raise SourceError("the PDF has no text layer; run character recognition (OCR) on it first")
    return content._replace(title=title)


def _text(document: "PdfDocument", number: int) -> str:
    page = document[number]
    text = page.get_textpage()
    try:
        return str(text.get_text_bounded())
    finally:
        text.close()
        page.close()


def _outline(document: "PdfDocument") -> Mapping[int, Sequence[_Bookmark]]:
    """The bookmarks of each page."""
    bookmarks: dict[int, list[_Bookmark]] = defaultdict(list)
    for bookmark in document.get_toc(max_depth=6):
        place = bookmark.get_dest()
        page = place.get_index() if place is not None else None
        if page is not None:
            bookmarks[page].append(_Bookmark(bookmark.level + 1, _key(bookmark.get_title())))
    return bookmarks


def _without_running_heads(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Lines that several pages have at their top or bottom, whatever the number in them, are no part of the text.

    Where they are most of it, the pages are copies of one form, such as labels or certificates, and stay as they are.
    """
    edges = Counter(key for page in pages for key in {_edge(line) for line in (*page[:_EDGE], *page[-_EDGE:])})
    kept = []
    for page in pages:
        last = len(page) - _EDGE
        kept.append(
            [
                line
                for number, line in enumerate(page)
                if _EDGE <= number < last or (_edge(line) and edges[_edge(line)] < _ENOUGH_REPEATS)
            ]
        )
    return kept if 2 * _characters(kept) >= _characters(pages) else [list(page) for page in pages]


def _characters(pages: Sequence[Sequence[str]]) -> int:
    return sum(len(line) for page in pages for line in page)


def _edge(line: str) -> str:
    """A line without its page number; nothing is left of one that is only that."""
    return " ".join(_DIGITS.sub("", line.lower()).split()).strip(" -–—|.")


def _compose(pages: Sequence[Sequence[str]], outline: Mapping[int, Sequence[_Bookmark]]) -> Content:
    """Lines to paragraphs. A sentence that runs over a page's end stays in one."""
    composer = Composer()
    for number, lines in enumerate(pages):
        waiting = list(outline.get(number, ()))
        width = sorted(map(len, lines))[len(lines) * 9 // 10] if lines else 0
        for line in lines:
            heading = next((mark for mark in waiting if _is_heading(line, mark.title)), None)
            if heading is not None:
                waiting.remove(heading)
                composer.heading(heading.level, line)
                continue
            composer.words(line)
            composer.end_line()
            if ends_paragraph(line, width):
                composer.end_paragraph()
        if lines and ends_sentence(lines[-1]):
            composer.end_paragraph()
    return composer.content()


def _is_heading(line: str, title: str) -> bool:
    """The whole title on its line, with a number before it or not; of a long one, what fits on the line."""
    key = _key(line)
    return bool(title) and (key == title or (len(key) > 30 and title.startswith(key)))


def _key(title: str) -> str:
    return "".join(_NUMBER.sub("", " ".join(title.split()), count=1).casefold().split())
