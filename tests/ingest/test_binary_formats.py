"""Readers of PDF and docx."""

import contextlib
import random
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from fpdf import FPDF

from triplebeam.errors import SourceError
from triplebeam.ingest.docx import read_docx
from triplebeam.ingest.pdf import read_pdf
from triplebeam.ingest.title import sensible_title

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def make_pdf(path: Path, pages: list[str], title: str = "", **passwords: str) -> Path:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    for page in pages:
        pdf.add_page()
        pdf.multi_cell(0, 6, page)
    if title:
        pdf.set_title(title)
    if passwords:
        pdf.set_encryption(**passwords)
    path.write_bytes(pdf.output())
    return path


def test_pdf_pages_are_joined_where_a_sentence_runs_on(tmp_path: Path) -> None:
    path = make_pdf(
        tmp_path / "a.pdf", ["The river runs through", "the town. It is a trans-\nport way.", "New page."], "On rivers"
    )
    content = read_pdf(path)
    assert content.title == "On rivers"
    assert content.text == "The river runs through\nthe town. It is a transport way.\n\nNew page."


def test_pdf_without_text_asks_for_character_recognition(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="OCR"):
        read_pdf(make_pdf(tmp_path / "a.pdf", [""]))


def test_pdf_with_a_password_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="encrypted"):
        read_pdf(make_pdf(tmp_path / "a.pdf", ["secret"], owner_password="one", user_password="two"))


def test_pdf_that_anyone_may_open_is_read(tmp_path: Path) -> None:
    assert read_pdf(make_pdf(tmp_path / "a.pdf", ["open"], owner_password="one")).text == "open"


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
    content = read_docx(tmp_path / "a.docx")
    assert content.text == "Before.\n\nThe heading\n\na | b\nc | d inner\n\nAfter it.\nNext line."
    assert content.title == "The heading"


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
    assert read_docx(tmp_path / "a.docx") == ("control\n\nnew", "From the properties")


def test_damaged_files_are_told_whatever_the_damage(tmp_path: Path) -> None:
    pdf = make_pdf(tmp_path / "whole.pdf", ["Some text here. " * 5] * 2).read_bytes()
    docx.Document().save(str(tmp_path / "whole.docx"))
    word = (tmp_path / "whole.docx").read_bytes()
    rolls = random.Random(7)
    for data, read in [(pdf, read_pdf), (word, read_docx)] * 25:
        damaged = bytearray(data[: rolls.choice([len(data), rolls.randrange(1, len(data))])])
        for _ in range(rolls.choice([1, 10, 100])):
            damaged[rolls.randrange(len(damaged))] = rolls.randrange(256)
        (tmp_path / "damaged").write_bytes(damaged)
        with contextlib.suppress(SourceError):  # any other error fails the test
            read(tmp_path / "damaged")
