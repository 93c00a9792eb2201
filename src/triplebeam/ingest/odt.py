"""OpenDocument texts (odt) to plain text."""

import zipfile
from io import BytesIO

from lxml import etree

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import check_zip
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.text import Content
from triplebeam.ingest.title import clean_title
from triplebeam.ingest.xml import parse_xml

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
#: Old text that was deleted, the list of contents that the program makes, notes beside the text.
_LEFT_OUT = frozenset(
    (
        _TEXT + "tracked-changes",
        _TEXT + "table-of-content",
        _TEXT + "alphabetical-index",
        _TEXT + "sequence-decls",
        _OFFICE + "annotation",
    )
)
_SPACES = {_TEXT + "s": " ", _TEXT + "tab": " ", _TEXT + "line-break": "\n"}


def read_odt(data: bytes) -> Content:
    """Read headings, paragraphs, lists and tables. The title is the properties', else the first heading."""
    check_zip(BytesIO(data), "odt")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            body = next(parse_xml(archive.read("content.xml")).iter(_OFFICE + "body"))
            title = _title(archive)
        composer = Composer()
        _blocks(body, composer)
    except (zipfile.BadZipFile, StopIteration, etree.LxmlError, *DAMAGE) as error:
        raise SourceError(f"the odt file is damaged ({type(error).__name__}: {error})") from error
    content = composer.content()
    return content._replace(title=title or (content.headings[0].text if content.headings else ""))


def _title(archive: zipfile.ZipFile) -> str:
    if "meta.xml" not in archive.namelist():
        return ""
    found = next(parse_xml(archive.read("meta.xml")).iter("{http://purl.org/dc/elements/1.1/}title"), None)
    return clean_title(found.text if found is not None else None)


def _blocks(parent: etree._Element, composer: Composer) -> None:
    for child in parent:
        if child.tag == _TEXT + "h":
            composer.heading(int(child.get(_TEXT + "outline-level", "1")), _inline(child))
        elif child.tag == _TEXT + "p":
            _paragraph(child, composer)
        elif child.tag == _TEXT + "list-item":
            composer.item("- ")
            _blocks(child, composer)
        elif child.tag == _TABLE + "table-row":
            composer.row()
            _blocks(child, composer)
        elif child.tag == _TABLE + "table-cell":
            composer.cell()
            composer.open_cell()
            _blocks(child, composer)
            composer.close_cell()
        elif child.tag not in _LEFT_OUT:
            composer.end_paragraph()
            _blocks(child, composer)


def _paragraph(paragraph: etree._Element, composer: Composer) -> None:
    parent = paragraph.getparent()
    end = composer.end_line if parent is not None and parent.tag == _TEXT + "list-item" else composer.end_paragraph
    end()
    for number, line in enumerate(_inline(paragraph).split("\n")):
        if number:
            composer.end_line()
        composer.words(line)
    end()


def _inline(parent: etree._Element) -> str:
    pieces = [parent.text or ""]
    for child in parent:
        if child.tag not in _LEFT_OUT:
            pieces.append(_SPACES.get(child.tag) or _inline(child))
        pieces.append(child.tail or "")
    return "".join(pieces)
