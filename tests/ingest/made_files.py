"""Files that are not text, made here: PDF, office files, books, mail."""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
from docx.oxml import parse_xml
from fpdf import FPDF

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_ODT = "urn:oasis:names:tc:opendocument:xmlns"
_ODT_NAMES = " ".join(f'xmlns:{name}="{_ODT}:{name}:1.0"' for name in ("office", "text", "table"))
_ODT_META = '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Rivers</dc:title></m>'
_ODT_BODY = (
    '<text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:h text:outline-level="2">Head</text:h>'
    "<text:p>One<text:s/>two<text:line-break/>three</text:p><text:list><text:list-item><text:p>a</text:p>"
    "</text:list-item><text:list-item><text:p>b</text:p></text:list-item></text:list><table:table><table:table-row>"
    "<table:table-cell><text:p>k</text:p></table:table-cell><table:table-cell><text:p>v</text:p></table:table-cell>"
    "</table:table-row></table:table>"
)


def write(path: Path, data: str | bytes = "Some text.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def save_bytes(file: Any) -> bytes:
    data = io.BytesIO()
    file.save(data)
    return data.getvalue()


def zip_of(files: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def make_pdf(pages: list[str], title: str = "", **passwords: str) -> bytes:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    for page in pages:
        pdf.add_page()
        pdf.multi_cell(0, 6, page)
    if title:
        pdf.set_title(title)
    if passwords:
        pdf.set_encryption(**passwords)
    return bytes(pdf.output())


def make_outlined_pdf() -> bytes:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    for title, level in (("Rivers", 0), ("The Elbe", 1)):
        pdf.start_section(title, level)
        text = f"{1 + level} {title}\nIt flows on for a long way from here to the sea, as all of them do.\n"
        pdf.multi_cell(0, 6, text)
    return bytes(pdf.output())


def make_manual_pdf() -> bytes:
    """A running head, dotted lines of a table of contents, and page numbers, on each page."""
    rivers = enumerate(("Elbe", "Oder", "Rhine"), start=7)
    texts = {n: f"{name} is a river.\nIts name is {name}.\nMany know {name} well." for n, name in rivers}
    return make_pdf([f"A manual of rivers\n{text}\nIn brief . . . . . . . . {n}\n{n}" for n, text in texts.items()])


def make_docx() -> bytes:
    document = docx.Document()
    document.add_paragraph("Before.")
    document.add_heading("The heading", 1)
    table = document.add_table(2, 2)
    for cell, text in zip([*table.row_cells(0), *table.row_cells(1)], "abcd", strict=True):
        cell.text = text
    table.cell(1, 1).add_table(1, 1).cell(0, 0).text = "inner"
    document.add_paragraph("After\tit.\nNext line.")
    return save_bytes(document)


def make_changed_docx() -> bytes:
    """A content control, an insertion and a deletion that are tracked, and a title in the properties."""
    document = docx.Document()
    document.core_properties.title = "From the properties"
    control = "<w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent>"
    changes = "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    document.element.body.insert(0, parse_xml(f"<w:sdt {_WORD}>{control}</w:sdt>"))
    document.element.body.insert(1, parse_xml(f"<w:p {_WORD}>{changes}</w:p>"))
    return save_bytes(document)


def make_odt(meta: str = _ODT_META) -> bytes:
    text = f"<office:body><office:text>{_ODT_BODY}</office:text></office:body>"
    content = f"<office:document-content {_ODT_NAMES}>{text}</office:document-content>"
    return zip_of({"content.xml": content, "meta.xml": meta})


def make_epub() -> bytes:
    item = '<item id="{0}" href="{0}.xhtml" media-type="application/xhtml+xml" {1}/>'
    items = item.format("two", "") + item.format("one", "") + item.format("nav", 'properties="nav"')
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>The book</dc:title><dc:creator>Ann</dc:creator></metadata><manifest>{items}</manifest>"
        '<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>'
    page = "<html><body><h1>Chapter {}</h1><p>Text.</p></body></html>"
    chapters = {f"in/{name}.xhtml": page.format(name) for name in ("one", "two", "nav")}
    return zip_of({"META-INF/container.xml": container, "in/book.opf": package} | chapters)


def make_pptx() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "The Elbe", "It flows north.\nIt is long."
    slide.notes_slide.notes_text_frame.text = "Say where."
    table = slide.shapes.add_table(1, 2, 0, 0, 9_000_000, 900_000).table
    table.cell(0, 0).text, table.cell(0, 1).text = "length", "1094 km"
    return save_bytes(presentation)


def make_xlsx() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Rivers"
    for row in (("name", None, "km"), ("Elbe", None, 1094)):
        book.active.append(row)
    return save_bytes(book)


def make_mail(line_end: str = "\r\n") -> bytes:
    head = (
        *("From: Ann <ann@example.org>", "To: bob@example.org", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?="),
        *("Date: Mon, 02 Mar 2026 10:00:00 +0000", "Content-Type: text/plain; charset=latin-1"),
    )
    return line_end.join([*head, "", "Schöne Grüße.", ""]).encode("latin-1")


def make_mailbox(*messages: bytes) -> bytes:
    return b"".join(b"From ann Mon Mar  2 10:00:00 2026\n" + message + b"\n\n" for message in messages)


#: A file of each kind, with what is special in it.
MADE: Mapping[str, Callable[[], bytes]] = {
    "title.pdf": lambda: make_pdf(
        ["The river runs through", "the town. It is a trans-\nport way.", "New page."], "On rivers"
    ),
    "bookmarks.pdf": make_outlined_pdf,
    "running_heads.pdf": make_manual_pdf,
    "no_text.pdf": lambda: make_pdf([""]),
    "password.pdf": lambda: make_pdf(["secret"], owner_password="one", user_password="two"),
    "open_to_all.pdf": lambda: make_pdf(["open"], owner_password="one"),
    "tables.docx": make_docx,
    "changes.docx": make_changed_docx,
    "lists.odt": make_odt,
    "no_title.odt": lambda: make_odt("<m/>"),
    "chapters.epub": make_epub,
    "slides.pptx": make_pptx,
    "sheets.xlsx": make_xlsx,
    "latin.eml": make_mail,
    "latin.mbox": lambda: make_mailbox(make_mail("\n"), make_mail("\n")),
}
