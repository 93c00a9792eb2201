"""Texts of word processors (docx, odt, rtf), slides (pptx) and spreadsheets (xlsx) to plain text.

Rich Text, slides and spreadsheets are read by the libraries of the extra ``office``. python-docx opens a docx file; its
text is taken from the XML itself, because ``Paragraph.text`` leaves out content controls, tracked insertions and text
boxes.
"""

import re
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import open_zip
from triplebeam.ingest.content import Composer, Content, clean_title, decode, report_damage
from triplebeam.ingest.sources import import_extra
from triplebeam.ingest.xml import find_field, parse_xml

_EXTRA = "office"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_PARAGRAPHS = (_WORD + "p", _TEXT + "p", _TEXT + "h")
_CELLS = (_WORD + "tc", _TABLE + "table-cell")
#: What to do where an element begins.
_BEGIN: dict[str, Callable[[Composer], None]] = {
    **dict.fromkeys((_WORD + "tr", _TABLE + "table-row"), Composer.end_line),
    _WORD + "tbl": Composer.end_paragraph,
    _TEXT + "list-item": lambda composer: composer.item("- "),
}
#: Old text that was moved or deleted, the fallback drawing of a text box, lists that the program makes, notes.
_LEFT_OUT = frozenset(
    (
        *(_WORD + "moveFrom", _COMPATIBILITY + "Fallback", _OFFICE + "annotation", _TEXT + "tracked-changes"),
        *(_TEXT + "table-of-content", _TEXT + "alphabetical-index", _TEXT + "sequence-decls"),
    )
)
_CHARACTERS = {_WORD + "tab": " ", _WORD + "br": "\n", _WORD + "cr": "\n", _WORD + "noBreakHyphen": "-"}
_CHARACTERS |= {_TEXT + "s": " ", _TEXT + "tab": " ", _TEXT + "line-break": "\n"}
_HEADING_STYLE = re.compile(r"(?:title|heading ?(\d))$", re.IGNORECASE)
#: As many as Excel itself allows in one sheet.
_MAX_ROWS = 1_048_576
#: Of all sheets, empty cells counted: a cell may claim to be in any column, and many cells may share one text.
_MAX_CELLS, _MAX_CHARACTERS = 50_000_000, 100_000_000
_RTF = re.compile(rb"\s*\{\\rtf")


def read_docx(data: bytes) -> Content:
    """Read paragraphs and tables in document order. The title is the properties', else the first Title or Heading."""
    import docx
    from docx.opc.exceptions import OpcError

    with open_zip(data, "docx", OpcError) as file:
        document = docx.Document(file)
        styles = ((style.style_id, _HEADING_STYLE.match(style.name or "")) for style in document.styles)
        levels = {id_: int(found[1] or 1) for id_, found in styles if found}
        composer = Composer()

        def write(paragraph: Any) -> None:
            style = paragraph.find(f"{_WORD}pPr/{_WORD}pStyle")
            level = levels.get(style.get(f"{_WORD}val", "")) if style is not None else None
            if level is None:
                composer.paragraph(_word_text(paragraph))
            else:
                composer.heading(level, _word_text(paragraph))

        _write_blocks(document.element.body, composer, write, lambda composer: None)
        title = clean_title(document.core_properties.title)
    content = composer.content()
    return content._replace(title=title or content.first_heading)


def read_odt(data: bytes) -> Content:
    """Read headings, paragraphs, lists and tables. The title is the properties', else the first heading."""
    composer = Composer()

    def write(paragraph: Any) -> None:
        if paragraph.tag == _TEXT + "h":
            composer.heading(int(paragraph.get(_TEXT + "outline-level", "1")), _odt_text(paragraph))
        elif paragraph.getparent().tag == _TEXT + "list-item":
            for line in _odt_text(paragraph).split("\n"):
                composer.line(line)
            composer.end_line()
        else:
            composer.paragraph(_odt_text(paragraph))

    with open_zip(data, "odt") as file, zipfile.ZipFile(file) as archive:
        body = next(parse_xml(archive.read("content.xml")).iter(_OFFICE + "body"))
        has_title = "meta.xml" in archive.namelist()
        title = clean_title(find_field(parse_xml(archive.read("meta.xml")), "title")) if has_title else ""
        _write_blocks(body, composer, write, Composer.end_paragraph)
    content = composer.content()
    return content._replace(title=title or content.first_heading)


def _write_blocks(
    parent: Any, composer: Composer, write: Callable[[Any], None], begin_other: Callable[[Composer], None]
) -> None:
    """Write paragraphs, lists and tables below an element, through content controls and the like.

    A cell may hold a table of its own: all of it stays on the line.
    """
    for child in parent:
        if child.tag in _PARAGRAPHS:
            write(child)
        elif child.tag in _CELLS:
            composer.cell()
            composer.open_cell()
            _write_blocks(child, composer, write, begin_other)
            composer.close_cell()
        elif child.tag not in _LEFT_OUT:
            _BEGIN.get(child.tag, begin_other)(composer)
            _write_blocks(child, composer, write, begin_other)


def _word_text(parent: Any) -> str:
    pieces = []
    for child in parent:
        if child.tag == _WORD + "t":
            pieces.append((child.text or "").replace("\t", " "))
        elif child.tag == _WORD + "p":  # a paragraph of a text box
            pieces.append("\n" + _word_text(child) + "\n")
        elif child.tag not in _LEFT_OUT:
            pieces.append(_CHARACTERS.get(child.tag) or _word_text(child))
    return "".join(pieces)


def _odt_text(parent: Any) -> str:
    pieces = [parent.text or ""]
    for child in parent:
        if child.tag not in _LEFT_OUT:
            pieces.append(_CHARACTERS.get(child.tag) or _odt_text(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def read_pptx(data: bytes) -> Content:
    """Read slides in order: each is a section, with its text, tables and notes."""
    pptx = import_extra("pptx", _EXTRA)
    composer = Composer()
    with open_zip(data, "pptx", pptx.exc.PythonPptxError) as file:
        presentation = pptx.Presentation(file)
        # Once each: a small file can name one slide a million times.
        slides = {slide.part.partname: slide for slide in presentation.slides}
        for number, slide in enumerate(slides.values(), start=1):
            title = slide.shapes.title
            composer.heading(1, title.text_frame.text if title is not None else f"Slide {number}")
            _write_shapes((shape for shape in slide.shapes if shape != title), composer)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                composer.paragraph("\n".join(slide.notes_slide.notes_text_frame.text.splitlines()))
        title = clean_title(presentation.core_properties.title)
    content = composer.content()
    return content._replace(title=title or content.first_heading)


def _write_shapes(shapes: Any, composer: Composer) -> None:
    for shape in shapes:
        if getattr(shape, "shapes", None) is not None:
            _write_shapes(shape.shapes, composer)
        elif shape.has_text_frame:
            composer.paragraph("\n".join(shape.text_frame.text.splitlines()))
        elif getattr(shape, "has_table", False):
            composer.end_paragraph()
            for row in shape.table.rows:
                _write_row([cell.text for cell in row.cells], composer)


def _write_row(cells: list[str], composer: Composer) -> None:
    composer.end_line()
    for cell in cells:
        composer.cell()
        composer.words(cell)


def read_xlsx(data: bytes) -> Content:
    """Read sheets in order: each is a section; rows are lines, with bars between cells, as computed last."""
    openpyxl = import_extra("openpyxl", _EXTRA)
    composer = Composer()
    with open_zip(data, "xlsx") as file, warnings.catch_warnings(action="ignore"):  # styles it does not know
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        rows = cells = characters = 0
        for sheet in book.worksheets:
            composer.heading(1, sheet.title)
            sheet.reset_dimensions()  # or each row is filled up to the width that the file says it has
            for row in sheet.iter_rows(values_only=True):
                texts = [str(value) for value in row if value is not None]
                rows, cells, characters = rows + 1, cells + len(row), characters + sum(map(len, texts))
                _check_size(rows, cells, characters)
                _write_row(texts, composer)
        return composer.content(clean_title(book.properties.title))


def _check_size(rows: int, cells: int, characters: int) -> None:
    """Check the size of a sheet. A cell may claim to be in any row, and all empty ones above it are counted, too."""
    sizes = ((rows, _MAX_ROWS, "rows"), (cells, _MAX_CELLS, "cells"), (characters, _MAX_CHARACTERS, "characters"))
    for size, most, kind in sizes:
        if size > most:
            raise SourceError(f"its sheets have more than {most:,} {kind}: save them as csv, or in parts")


def read_rtf(data: bytes) -> Content:
    """Read the text of a Rich Text file, paragraph by paragraph."""
    if not _RTF.match(data):
        raise SourceError("it is not an RTF file")
    rtf = import_extra("striprtf.striprtf", _EXTRA)
    composer = Composer()
    with report_damage("the rtf file is damaged"):
        text = rtf.rtf_to_text(decode(data, "latin-1"), errors="replace")
    for paragraph in text.split("\n"):
        composer.paragraph(paragraph)
    return composer.content()
