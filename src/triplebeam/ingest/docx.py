"""Word documents (docx) to plain text.

python-docx opens the package; the text is taken from the XML itself, because ``Paragraph.text`` leaves out content
controls, tracked insertions and text boxes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import check_zip
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.text import Content, tidy
from triplebeam.ingest.title import sensible_title

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_PARAGRAPH, _TABLE, _ROW, _CELL = (_WORD + name for name in ("p", "tbl", "tr", "tc"))
#: Old copies of what stands elsewhere: the source of a moved text, the fallback drawing of a text box.
_COPIES = (_WORD + "moveFrom", _COMPATIBILITY + "Fallback")
_CHARACTERS = {_WORD + "tab": " ", _WORD + "br": "\n", _WORD + "cr": "\n", _WORD + "noBreakHyphen": "-"}


def read_docx(path: Path) -> Content:
    """Read paragraphs and tables in document order. The title is the properties', else the first Title or Heading."""
    import docx
    from docx.opc.exceptions import OpcError

    check_zip(path)
    with path.open("rb") as file:
        try:
            document = docx.Document(file)
            text = tidy("\n\n".join(_blocks(document.element.body)))
            return Content(text, sensible_title(document.core_properties.title) or _first_heading(document))
        except (OpcError, *DAMAGE) as error:
            raise SourceError(f"the docx file is damaged ({type(error).__name__}: {error})") from error


def _first_heading(document: "WordDocument") -> str:
    for paragraph in document.paragraphs:
        style = paragraph.style.name if paragraph.style is not None else None
        if (style or "").startswith(("Title", "Heading")) and paragraph.text.strip():
            return " ".join(paragraph.text.split())
    return ""


def _blocks(parent: Any) -> Iterator[str]:
    """Paragraphs and tables under an element, through content controls and the like."""
    for child in parent:
        if child.tag == _PARAGRAPH:
            yield _text(child)
        elif child.tag == _TABLE:
            yield "\n".join(_rows(child))
        elif child.tag not in _COPIES:
            yield from _blocks(child)


def _rows(table: Any) -> Iterator[str]:
    for row in _outermost(table, _ROW):
        yield "\t".join(" ".join(_blocks(cell)).replace("\n", " ") for cell in _outermost(row, _CELL))


def _outermost(parent: Any, tag: str) -> Iterator[Any]:
    """The elements with a tag, but not those inside another: a cell may hold a table of its own."""
    for child in parent:
        if child.tag == tag:
            yield child
        else:
            yield from _outermost(child, tag)


def _text(parent: Any) -> str:
    pieces = []
    for child in parent:
        if child.tag == _WORD + "t":
            pieces.append((child.text or "").replace("\t", " "))
        elif child.tag == _PARAGRAPH:  # a paragraph of a text box
            pieces.append("\n" + _text(child) + "\n")
        elif child.tag not in _COPIES:
            pieces.append(_CHARACTERS.get(child.tag) or _text(child))
    return "".join(pieces)
