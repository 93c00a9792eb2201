"""Word documents (docx) to plain text.

python-docx opens the package; the text is taken from the XML itself, because ``Paragraph.text`` leaves out content
controls, tracked insertions and text boxes.
"""

import re
from io import BytesIO
from typing import Any

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import check_zip
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.text import Content
from triplebeam.ingest.title import clean_title

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_PARAGRAPH, _TABLE, _ROW, _CELL, _TEXT = (_WORD + name for name in ("p", "tbl", "tr", "tc", "t"))
#: Old copies of what is elsewhere: the source of a moved text, the fallback drawing of a text box.
_COPIES = frozenset((_WORD + "moveFrom", _COMPATIBILITY + "Fallback"))
_CHARACTERS = {_WORD + "tab": " ", _WORD + "br": "\n", _WORD + "cr": "\n", _WORD + "noBreakHyphen": "-"}
_HEADING_STYLE = re.compile(r"(?:title|heading ?(\d))$", re.IGNORECASE)


def read_docx(data: bytes) -> Content:
    """Read paragraphs and tables in document order. The title is the properties', else the first Title or Heading."""
    import docx
    from docx.opc.exceptions import OpcError

    check_zip(BytesIO(data), "docx")
    try:
        document = docx.Document(BytesIO(data))
        composer = Composer()
        _Body(composer, _heading_levels(document)).blocks(document.element.body)
        content = composer.content()
        title = clean_title(document.core_properties.title)
    except (OpcError, *DAMAGE) as error:
        raise SourceError(f"the docx file is damaged ({type(error).__name__}: {error})") from error
    return content._replace(title=title or (content.headings[0].text if content.headings else ""))


def _heading_levels(document: Any) -> dict[str, int]:
    """Return the level of each style that is a title's or a heading's, by the style's id."""
    names = ((style.style_id, _HEADING_STYLE.match(style.name or "")) for style in document.styles)
    return {id_: int(found[1] or 1) for id_, found in names if found}


class _Body:
    """Walks through the XML."""

    def __init__(self, composer: Composer, levels: dict[str, int]) -> None:
        self._composer = composer
        self._levels = levels

    def blocks(self, parent: Any) -> None:
        """Yield paragraphs and tables under an element, through content controls and the like."""
        for child in parent:
            if child.tag == _PARAGRAPH:
                self._paragraph(child)
            elif child.tag == _TABLE:
                self._composer.end_paragraph()
                self._rows(child)
                self._composer.end_paragraph()
            elif child.tag not in _COPIES:
                self.blocks(child)

    def _paragraph(self, paragraph: Any) -> None:
        style = paragraph.find(f"{_WORD}pPr/{_WORD}pStyle")
        level = self._levels.get(style.get(f"{_WORD}val", "")) if style is not None else None
        self._composer.end_paragraph()
        if level is not None:
            self._composer.heading(level, _text(paragraph))
            return
        for number, line in enumerate(_text(paragraph).split("\n")):
            if number:
                self._composer.end_line()
            self._composer.words(line)
        self._composer.end_paragraph()

    def _rows(self, parent: Any) -> None:
        for child in parent:
            if child.tag == _ROW:
                self._composer.row()
                self._cells(child)
            else:
                self._rows(child)

    def _cells(self, parent: Any) -> None:
        """Add the cells of a row. A cell may hold a table of its own: all of it stays on the line."""
        for child in parent:
            if child.tag == _CELL:
                self._composer.cell()
                self._composer.open_cell()
                self.blocks(child)
                self._composer.close_cell()
            else:
                self._cells(child)


def _text(parent: Any) -> str:
    pieces = []
    for child in parent:
        if child.tag == _TEXT:
            pieces.append((child.text or "").replace("\t", " "))
        elif child.tag == _PARAGRAPH:  # a paragraph of a text box
            pieces.append("\n" + _text(child) + "\n")
        elif child.tag not in _COPIES:
            pieces.append(_CHARACTERS.get(child.tag) or _text(child))
    return "".join(pieces)
