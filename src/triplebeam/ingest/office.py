"""Slides (pptx), spreadsheets (xlsx) and Rich Text (rtf), by the libraries of the extra ``office``."""

import re
import warnings
from io import BytesIO
from typing import Any

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import check_zip
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.extras import import_extra
from triplebeam.ingest.text import Content, decode
from triplebeam.ingest.title import clean_title

_EXTRA = "office"
#: As many as Excel itself allows in one sheet.
_MAX_ROWS = 1_048_576
#: Of all sheets, empty cells counted: a cell may claim to be in any column, and many cells may share one text.
_MAX_CELLS, _MAX_CHARACTERS = 50_000_000, 100_000_000
_RTF = re.compile(rb"\s*\{\\rtf")


def read_pptx(data: bytes) -> Content:
    """Read slides in order: each is a section, with its text, tables and notes."""
    pptx = import_extra("pptx", _EXTRA)
    check_zip(BytesIO(data), "pptx")
    try:
        presentation = pptx.Presentation(BytesIO(data))
        composer = Composer()
        # Once each: a small file can name one slide a million times.
        slides = {slide.part.partname: slide for slide in presentation.slides}
        for number, slide in enumerate(slides.values(), start=1):
            title = slide.shapes.title
            composer.heading(1, title.text_frame.text if title is not None else f"Slide {number}")
            _shapes((shape for shape in slide.shapes if shape != title), composer)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                _lines(slide.notes_slide.notes_text_frame.text, composer)
        title = clean_title(presentation.core_properties.title)
    except (pptx.exc.PythonPptxError, KeyError, *DAMAGE) as error:
        raise SourceError(f"the pptx file is damaged ({type(error).__name__}: {error})") from error
    content = composer.content()
    return content._replace(title=title or (content.headings[0].text if content.headings else ""))


def _shapes(shapes: Any, composer: Composer) -> None:
    for shape in shapes:
        if getattr(shape, "shapes", None) is not None:
            _shapes(shape.shapes, composer)
        elif shape.has_text_frame:
            _lines(shape.text_frame.text, composer)
        elif getattr(shape, "has_table", False):
            composer.end_paragraph()
            for row in shape.table.rows:
                _row([cell.text for cell in row.cells], composer)


def _lines(text: str, composer: Composer) -> None:
    composer.end_paragraph()
    for line in text.splitlines():
        composer.end_line()
        composer.words(line)
    composer.end_paragraph()


def _row(cells: list[str], composer: Composer) -> None:
    composer.row()
    for cell in cells:
        composer.cell()
        composer.words(cell)


def read_xlsx(data: bytes) -> Content:
    """Read sheets in order: each is a section; rows are lines, with bars between cells, as computed last."""
    openpyxl = import_extra("openpyxl", _EXTRA)
    check_zip(BytesIO(data), "xlsx")
    try:
        with warnings.catch_warnings(action="ignore"):  # styles and extensions it does not know
            book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
            composer = Composer()
            rows = cells = characters = 0
            for sheet in book.worksheets:
                composer.heading(1, sheet.title)
                sheet.reset_dimensions()  # or each row is filled up to the width that the file says it has
                for row in sheet.iter_rows(values_only=True):
                    texts = [str(value) for value in row if value is not None]
                    rows, cells, characters = rows + 1, cells + len(row), characters + sum(map(len, texts))
                    _check_size(rows, cells, characters)
                    _row(texts, composer)
            title = clean_title(book.properties.title)
    except (KeyError, *DAMAGE) as error:
        raise SourceError(f"the xlsx file is damaged ({type(error).__name__}: {error})") from error
    return composer.content(title)


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
    try:
        text = rtf.rtf_to_text(decode(data, "latin-1"), errors="replace")
    except DAMAGE as error:
        raise SourceError(f"the rtf file is damaged ({type(error).__name__}: {error})") from error
    for paragraph in text.split("\n"):
        composer.end_paragraph()
        composer.words(paragraph)
    return composer.content()
