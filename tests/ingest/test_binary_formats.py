"""Readers of formats that are not text: PDF, office files, books, mail."""

import contextlib
import io
import random
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from fpdf import FPDF

from triplebeam.errors import SourceError
from triplebeam.ingest.docx import read_docx
from triplebeam.ingest.epub import read_epub
from triplebeam.ingest.mail import read_mail, read_mailbox
from triplebeam.ingest.odt import read_odt
from triplebeam.ingest.office import read_pptx, read_rtf, read_xlsx
from triplebeam.ingest.pdf import read_pdf
from triplebeam.ingest.pdf_lines import clean_lines
from triplebeam.ingest.title import sensible_title
from triplebeam.passage import Heading

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


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


def test_pdf_pages_are_joined_where_a_sentence_runs_on() -> None:
    data = make_pdf(["The river runs through", "the town. It is a trans-\nport way.", "New page."], "On rivers")
    content = read_pdf(data)
    assert content.title == "On rivers"
    assert content.text == "The river runs through\nthe town. It is a transport way.\n\nNew page."


def test_pdf_without_text_asks_for_character_recognition() -> None:
    with pytest.raises(SourceError, match="OCR"):
        read_pdf(make_pdf([""]))


def test_pdf_with_a_password_is_told() -> None:
    with pytest.raises(SourceError, match="encrypted"):
        read_pdf(make_pdf(["secret"], owner_password="one", user_password="two"))


def test_pdf_that_anyone_may_open_is_read() -> None:
    assert read_pdf(make_pdf(["open"], owner_password="one")).text == "open"


@pytest.mark.parametrize(
    "title", [None, "", "untitled", "Microsoft Word - draft.doc", "paper.dvi", "12-34", "Word Document"]
)
def test_a_title_no_person_wrote_is_none(title: str | None) -> None:
    assert sensible_title(title) == ""


def test_docx_paragraphs_and_tables_come_in_order(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Before.")
    document.add_heading("The heading", 1)
    table = document.add_table(2, 2)
    for cell, text in zip([*table.row_cells(0), *table.row_cells(1)], "abcd", strict=True):
        cell.text = text
    table.cell(1, 1).add_table(1, 1).cell(0, 0).text = "inner"
    document.add_paragraph("After\tit.\nNext line.")
    document.save(str(tmp_path / "a.docx"))
    content = read_docx((tmp_path / "a.docx").read_bytes())
    assert content.text == "Before.\n\nThe heading\n\na | b\nc | d | inner\n\nAfter it.\nNext line."
    assert content.title == "The heading"
    assert content.headings == (Heading(9, 1, "The heading"),)


def test_docx_content_controls_and_tracked_insertions_are_read_and_deletions_not(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = "From the properties"
    body = document.element.body
    body.insert(
        0,
        parse_xml(f"<w:sdt {_NAMESPACE}><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent></w:sdt>"),
    )
    changes = "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    body.insert(1, parse_xml(f"<w:p {_NAMESPACE}>{changes}</w:p>"))
    document.save(str(tmp_path / "a.docx"))
    assert read_docx((tmp_path / "a.docx").read_bytes())[:2] == ("control\n\nnew", "From the properties")


def test_pdf_running_heads_dotted_lines_and_page_numbers_go() -> None:
    rivers = ("Elbe", "Oder", "Rhine")
    texts = [f"{river} is a river.\nIts name is {river}.\nMany know {river} well." for river in rivers]
    pages = [f"A manual of rivers\n{text}\nIn brief . . . . . . . . {n}\n{n}" for n, text in enumerate(texts, start=7)]
    assert read_pdf(make_pdf(pages)).text == "\n\n".join(texts)


@pytest.mark.parametrize(
    "page",
    ["Certificate\nAnn passed the test.", "Parcel {}\nTo Hamburg", "{}", "Bill {}\nTo Ann\nFor wine\n{} EUR\nDue {}."],
)
def test_pdf_pages_of_one_form_are_all_text(page: str) -> None:
    pages = [page.format(number, 7 * number, number + 10) for number in range(1, 9)]
    assert read_pdf(make_pdf(pages)).text.split() == " ".join(pages).split()


def test_pdf_bookmarks_are_headings() -> None:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    for title, level in (("Rivers", 0), ("The Elbe", 1)):
        pdf.start_section(title, level)
        pdf.multi_cell(
            0, 6, f"{1 + level} {title}\nIt flows on for a long way from here to the sea, as all of them do.\n"
        )
    content = read_pdf(bytes(pdf.output()))
    assert [(heading.level, heading.text) for heading in content.headings] == [(1, "1 Rivers"), (2, "2 The Elbe")]
    assert all(content.text.startswith(heading.text, heading.start) for heading in content.headings)


def test_pdf_columns_are_read_one_after_the_other() -> None:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    with pdf.text_columns(ncols=2, gutter=10) as columns:
        columns.write(text="left " * 320 + "right " * 200)
    words = read_pdf(bytes(pdf.output())).text.split()
    assert words == ["left"] * 320 + ["right"] * 200


def test_lines_of_a_page_are_as_they_were_meant() -> None:
    page = "Mod\ufffeern Universit¨at and B¨ ottcher \ufb01nd it. f ¨\nContents . . . . . . 7\na\nb\nc\nd\nend"
    assert clean_lines(page) == ["Modern Universität and Böttcher find it. f", "end"]


def test_odt_headings_lists_tables_and_no_deletions() -> None:
    names = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "text", "table"))
    body = (
        '<text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:h text:outline-level="2">Head</text:h>'
        "<text:p>One<text:s/>two<text:line-break/>three</text:p><text:list><text:list-item><text:p>a</text:p>"
        "</text:list-item><text:list-item><text:p>b</text:p></text:list-item></text:list><table:table><table:table-row>"
        "<table:table-cell><text:p>k</text:p></table:table-cell><table:table-cell><text:p>v</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    text = f"<office:body><office:text>{body}</office:text></office:body>"
    content = read_odt(zip_of({"content.xml": f"<office:document-content {names}>{text}</office:document-content>"}))
    assert content.text == "Head\n\nOne two\nthree\n\n- a\n- b\n\nk | v"
    assert (content.title, content.headings) == ("Head", (Heading(0, 2, "Head"),))


def epub() -> bytes:
    item = '<item id="{0}" href="{0}.xhtml" media-type="application/xhtml+xml" {1}/>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The book</dc:title><dc:creator>Ann</dc:creator></metadata><manifest>"
        + item.format("two", "")
        + item.format("one", "")
        + item.format("nav", 'properties="nav"')
        + '</manifest><spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>'
    files = {name: f"<html><body><h1>Chapter {name}</h1><p>Text.</p></body></html>" for name in ("one", "two", "nav")}
    return zip_of(
        {"META-INF/container.xml": container, "in/book.opf": package} | {f"in/{n}.xhtml": t for n, t in files.items()}
    )


def test_epub_chapters_come_in_the_order_of_the_spine() -> None:
    content = read_epub(epub())
    assert content.text == "Chapter one\n\nText.\n\nChapter two\n\nText."
    assert content.headings == (Heading(0, 1, "Chapter one"), Heading(20, 1, "Chapter two"))
    assert (content.title, content.metadata) == ("The book", {"creator": "Ann"})


def test_xml_entities_are_not_expanded() -> None:
    entities = '<!ENTITY x "boom"><!ENTITY f SYSTEM "file:///etc/hostname">'
    bomb = f'<!DOCTYPE a [{entities}]><a><rootfile full-path="&x;&f;"/></a>'
    with pytest.raises(SourceError, match="damaged"):
        read_epub(zip_of({"META-INF/container.xml": bomb}))


def slides() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "The Elbe", "It flows north.\nIt is long."
    slide.notes_slide.notes_text_frame.text = "Say where."
    table = slide.shapes.add_table(1, 2, 0, 0, 9_000_000, 900_000).table
    table.cell(0, 0).text, table.cell(0, 1).text = "length", "1094 km"
    return saved(presentation)


def sheets() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Rivers"
    for row in (("name", None, "km"), ("Elbe", None, 1094)):
        book.active.append(row)
    return saved(book)


def saved(file: Any) -> bytes:
    data = io.BytesIO()
    file.save(data)
    return data.getvalue()


def test_slides_are_sections_with_tables_and_notes() -> None:
    content = read_pptx(slides())
    assert content.text == "The Elbe\n\nIt flows north.\nIt is long.\n\nlength | 1094 km\n\nSay where."
    assert (content.title, content.headings[0]) == ("The Elbe", Heading(0, 1, "The Elbe"))


def test_sheets_are_sections_of_rows() -> None:
    content = read_xlsx(sheets())
    assert content.text == "Rivers\n\nname | km\nElbe | 1094"


def test_rich_text_is_read_by_paragraphs() -> None:
    assert read_rtf(rb"{\rtf1\ansi Gr\'fc\'dfe {\b from} here.\par Next.}").text == "Grüße from here.\n\nNext."


MAIL = (
    "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    "Date: Mon, 02 Mar 2026 10:00:00 +0000\r\nContent-Type: text/plain; charset=latin-1\r\n\r\nSchöne Grüße.\r\n"
).encode("latin-1")


def test_mail_says_who_wrote_when_about_what() -> None:
    content = read_mail(MAIL)
    assert content.title == "Grüße"
    assert content.text.endswith("Date: Mon, 02 Mar 2026 10:00:00 +0000\n\nSchöne Grüße.")
    assert content.metadata["from"] == "Ann <ann@example.org>"


def test_a_box_of_mail_has_a_document_for_each() -> None:
    box = b"From ann Mon Mar  2 10:00:00 2026\n" + MAIL.replace(b"\r", b"") + b"\n"
    assert read_mailbox(box * 2).parts == (read_mail(MAIL.replace(b"\r", b"")),) * 2


def test_the_html_of_a_message_is_read_where_there_is_no_plain_text() -> None:
    message = b"Subject: s\nContent-Type: text/html\n\n<p>One</p><p>Two</p>"
    assert read_mail(message).text == "One\n\nTwo"


def zip_of(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    book = sheets()  # which needs the library
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(SourceError, match=r"openpyxl: install the extra triplebeam\[office\]$"):
        read_xlsx(book)


def whole_files() -> Iterator[tuple[bytes, Callable[[bytes], object]]]:
    yield make_pdf(["Some text here. " * 5] * 2), read_pdf
    yield saved(docx.Document()), read_docx
    yield slides(), read_pptx
    yield sheets(), read_xlsx
    yield epub(), read_epub
    yield MAIL, read_mail
    yield rb"{\rtf1\ansi Text {\b bold} here.\par Next.}", read_rtf


def test_damaged_files_are_told_whatever_the_damage() -> None:
    rolls = random.Random(7)
    for data, read in [*whole_files()] * 20:
        damaged = bytearray(data[: rolls.choice([len(data), rolls.randrange(1, len(data))])])
        for _ in range(rolls.choice([1, 10, 100])):
            damaged[rolls.randrange(len(damaged))] = rolls.randrange(256)
        with contextlib.suppress(SourceError):  # any other error fails the test
            read(bytes(damaged))
