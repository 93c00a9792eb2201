"""Files that are made to take as much time and memory as they can."""

import io
import zipfile
from collections.abc import Callable

import openpyxl
import pptx
import pytest

from growth import FACTOR, SMALL, grows_with_its_input
from triplebeam.errors import SourceError
from triplebeam.ingest import office
from triplebeam.ingest.epub import read_epub
from triplebeam.ingest.formats import read_content
from triplebeam.ingest.mail import read_mail, read_mailbox
from triplebeam.ingest.office import read_pptx, read_xlsx
from triplebeam.ingest.sentences import sentence_spans
from triplebeam.ingest.split import split
from triplebeam.passage import Document


def read_and_split(text: str, ending: str) -> None:
    content = read_content(text.encode(), ending)
    for part in content.parts or (content,):
        split(Document(id="a", text=part.text, headings=part.headings), 20)
        for _ in sentence_spans(part.text):
            pass


UNITS = ("`a", "**a", "*a_", "![", "[a](", "<a", "<b>", "<ul><li>", "&", ".", "a.", "e.g. ", "U.S. ", "1. ")
UNITS += ("> ", "- ", "|a", "\n", "((a", "{a", "::", ":a:`", "[^a]: b\n", "[a]: b\n", "a\n===\n", "a\n  b\n", "。", " ")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".txt", ".md", ".html", ".adoc", ".csv"])
def test_readers_and_the_splitter_take_time_in_proportion_to_their_input(ending: str) -> None:
    for unit in UNITS:
        text = unit * (FACTOR * SMALL // len(unit))
        assert grows_with_its_input(lambda size, text=text: read_and_split(text[:size], ending)), unit


def test_a_line_that_docutils_refuses_is_read_as_plain_text() -> None:
    line = "`a " * 4000
    assert read_content(line.encode(), ".rst").text == line


HEADERS = {
    "quotes": "To: {}\n\nhi",
    "encoded": "Subject: {}\n\nhi",
    "parameters": "Content-Type: text/plain{}\n\nhi",
}
REPEATED = {"quotes": '"a', "encoded": "=?utf-8?q?a?= ", "parameters": "; a*1=b"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_mail_take_time_in_proportion_to_their_length(kind: str) -> None:
    def read(size: int) -> None:
        read_mail(HEADERS[kind].format(REPEATED[kind] * (size // len(REPEATED[kind]))).encode())

    assert grows_with_its_input(read)


def nested_mail(levels: int) -> bytes:
    opened = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(levels))
    return f"{opened}\nThe inner text.\n".encode()


def test_parts_of_mail_inside_parts_are_read_down_to_some_level() -> None:
    assert read_mail(nested_mail(5)).text == "The inner text."
    assert read_mail(nested_mail(500)).text == ""


def test_every_message_of_a_box_is_read_once() -> None:
    box = b"From a 00:00\nSubject: x\n\nhello\n\n" * 300
    assert [part.text for part in read_mailbox(box).parts] == ["hello"] * 300


@pytest.mark.parametrize("opening", ["{}- ", "{}> "])
def test_markdown_is_read_at_any_depth(opening: str) -> None:
    """Some parsers leave out what is nested below some level, without a word."""
    indent = "  " if "-" in opening else "> "
    lines = [f"{opening.format(indent * depth)}word{depth}\n" for depth in range(200)]
    text = read_content(("".join(lines) + "\n\nlast\n").encode(), ".md").text
    assert all(f"word{depth}" in text for depth in range(200))
    assert text.endswith("last")


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote", "dl><dd", "span"])
@pytest.mark.parametrize("depth", [300, 3000, 30_000])
def test_markup_is_read_at_any_depth(tag: str, depth: int) -> None:
    text = read_content((f"<{tag}>" * depth + "inside" + "<p>last</p>").encode(), ".html").text
    assert "inside" in text
    assert "last" in text


def zip_of(files: dict[str, bytes | str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def changed(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    return zip_of({**files, name: change(files[name])})


def test_a_book_that_names_a_chapter_often_has_it_once() -> None:
    book = zip_of(
        {
            "META-INF/container.xml": '<c><rootfile full-path="p"/></c>',
            "p": '<p><item id="a" href="a" media-type="text/html"/>' + '<itemref idref="a"/>' * 1000 + "</p>",
            "a": "<p>chapter</p>",
        }
    )
    assert read_epub(book).text == "chapter"


def test_slides_that_are_named_often_are_read_once() -> None:
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[0]).shapes.title.text = "Rivers"
    data = io.BytesIO()
    presentation.save(data)

    def repeat(xml: bytes) -> bytes:
        start = xml.index(b"<p:sldId ")
        entry = xml[start : xml.index(b"/>", start) + 2]
        return xml.replace(entry, entry * 1000)

    assert read_pptx(changed(data.getvalue(), "ppt/presentation.xml", repeat)).text == "Rivers"


def sheet(xml: str) -> bytes:
    data = io.BytesIO()
    openpyxl.Workbook().save(data)
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    whole = f'<worksheet xmlns="{namespace}">{xml}</worksheet>'.encode()
    return changed(data.getvalue(), "xl/worksheets/sheet1.xml", lambda _: whole)


def test_a_sheet_is_as_large_as_its_cells_and_not_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[int] = []
    monkeypatch.setattr(office, "_row", lambda cells, composer: filled.append(len(cells)))
    cell = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'
    read_xlsx(sheet(f'<dimension ref="A1:XFD1048576"/>{cell}'))
    assert filled == [1]


def test_rows_are_counted_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "_MOST_ROWS", 100)
    far = '<sheetData><row r="{0}"><c r="A{0}"><v>5</v></c></row></sheetData>'
    assert read_xlsx(sheet(far.format(100))).text.endswith("5")
    with pytest.raises(SourceError, match="more than 100 rows: save them as csv"):
        read_xlsx(sheet(far.format(1_000_000_000)))
