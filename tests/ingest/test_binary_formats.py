"""Readers of formats that are not text, where no small case shows it: layouts, damage, a missing library."""

import contextlib
import random
import sys

import pytest
from fpdf import FPDF
from made_files import MADE, make_pdf, make_xlsx, zip_of

from triplebeam.errors import SourceError
from triplebeam.ingest.content import clean_title
from triplebeam.ingest.office import read_xlsx
from triplebeam.ingest.pdf import clean_lines, read_pdf
from triplebeam.ingest.sources import read_content
from triplebeam.ingest.xml import read_epub


@pytest.mark.parametrize(
    "title", [None, "", "untitled", "Microsoft Word - draft.doc", "paper.dvi", "12-34", "Word Document"]
)
def test_a_title_no_person_wrote_is_none(title: str | None) -> None:
    assert clean_title(title) == ""


@pytest.mark.parametrize(
    "page",
    ["Certificate\nAnn passed the test.", "Parcel {}\nTo Hamburg", "{}", "Bill {}\nTo Ann\nFor wine\n{} EUR\nDue {}."],
)
def test_pdf_pages_of_one_form_are_all_text(page: str) -> None:
    pages = [page.format(number, 7 * number, number + 10) for number in range(1, 9)]
    assert read_pdf(make_pdf(pages)).text.split() == " ".join(pages).split()


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


def test_a_book_without_a_package_is_damaged() -> None:
    with pytest.raises(SourceError, match="the epub file is damaged"):
        read_epub(zip_of({"META-INF/container.xml": "<container/>"}))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    book = make_xlsx()  # which needs the library
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(SourceError, match=r"openpyxl: install the extra triplebeam\[office\]$"):
        read_xlsx(book)


def test_damaged_files_are_told_whatever_the_damage() -> None:
    rolls = random.Random(7)
    names = ("title.pdf", "tables.docx", "slides.pptx", "sheets.xlsx", "chapters.epub", "lists.odt", "latin.eml")
    whole = [(MADE[name](), name[name.index(".") :]) for name in names]
    whole.append((rb"{\rtf1\ansi Text {\b bold} here.\par Next.}", ".rtf"))
    for data, ending in whole * 20:
        damaged = bytearray(data[: rolls.choice([len(data), rolls.randrange(1, len(data))])])
        for _ in range(rolls.choice([1, 10, 100])):
            damaged[rolls.randrange(len(damaged))] = rolls.randrange(256)
        with contextlib.suppress(SourceError):  # any other error fails the test
            read_content(bytes(damaged), ending)
