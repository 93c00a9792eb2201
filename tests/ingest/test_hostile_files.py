"""Files that are made to take as much time and memory as they can."""

import contextlib
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pptx
import pytest
from made_files import save_bytes, unzip, zip_of

from growth import FACTOR, SMALL, grows_with_its_input
from triplebeam.errors import SourceError
from triplebeam.ingest import html, office, pdf, pdf_process
from triplebeam.ingest.mail import read_mail, read_mailbox
from triplebeam.ingest.office import read_pptx, read_xlsx
from triplebeam.ingest.pdf import read_pdf
from triplebeam.ingest.sources import read_content
from triplebeam.ingest.split import split
from triplebeam.ingest.xml import read_epub
from triplebeam.passage import Document
from triplebeam.text.sentences import sentence_spans


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "unit"), [("To: ", '"a'), ("Subject: ", "=?utf-8?q?a?= "), ("Content-Type: text/plain", "; a*1=b")]
)
def test_headers_of_mail_take_time_in_proportion_to_their_length(header: str, unit: str) -> None:
    assert grows_with_its_input(lambda size: read_mail(f"{header}{unit * (size // len(unit))}\n\nhi".encode()))


@pytest.mark.parametrize("opening", ["{}- ", "{}> "])
def test_markdown_is_read_at_any_depth(opening: str) -> None:
    """Some parsers leave out what is nested below some level, without a word."""
    indent = "  " if "-" in opening else "> "
    lines = [f"{opening.format(indent * depth)}word{depth}\n" for depth in range(200)]
    text = read_content(("".join(lines) + "\n\nlast\n").encode(), ".md").text
    assert all(f"word{depth}" in text for depth in range(200))
    assert text.endswith("last")
    assert "inside" in read_content((opening.format("") * 500 + "inside\n\nafter").encode(), ".md").text


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote", "dl><dd", "span"])
@pytest.mark.parametrize("depth", [300, 3000, 30_000])
def test_markup_is_read_at_any_depth(tag: str, depth: int) -> None:
    text = read_content((f"<{tag}>" * depth + "inside" + "<p>last</p>").encode(), ".html").text
    assert "inside" in text
    assert "last" in text


def change_member(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    files = unzip(data)
    return zip_of({**files, name: change(files[name])})


def test_chapters_and_slides_that_are_named_often_are_read_once() -> None:
    book = zip_of(
        {
            "META-INF/container.xml": '<c><rootfile full-path="p"/></c>',
            "p": '<p><item id="a" href="a" media-type="text/html"/>' + '<itemref idref="a"/>' * 1000 + "</p>",
            "a": "<p>chapter</p>",
        }
    )
    assert read_epub(book).text == "chapter"
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[0]).shapes.title.text = "Rivers"

    def repeat(xml: bytes) -> bytes:
        start = xml.index(b"<p:sldId ")
        entry = xml[start : xml.index(b"/>", start) + 2]
        return xml.replace(entry, entry * 1000)

    assert read_pptx(change_member(save_bytes(presentation), "ppt/presentation.xml", repeat)).text == "Rivers"


def sheet(xml: str) -> bytes:
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    whole = f'<worksheet xmlns="{namespace}">{xml}</worksheet>'.encode()
    return change_member(save_bytes(openpyxl.Workbook()), "xl/worksheets/sheet1.xml", lambda _: whole)


def test_a_sheet_is_as_large_as_its_cells_and_not_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[int] = []
    monkeypatch.setattr(office, "_write_row", lambda cells, composer: filled.append(len(cells)))
    cell = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'
    read_xlsx(sheet(f'<dimension ref="A1:XFD1048576"/>{cell}'))
    assert filled == [1]


@pytest.mark.parametrize(("kind", "last"), [("rows", 1_000_000_000), ("cells", 2), ("characters", 2)])
def test_a_sheet_has_a_limit(monkeypatch: pytest.MonkeyPatch, kind: str, last: int) -> None:
    row = '<row r="{0}"><c r="CV{0}" t="inlineStr"><is><t>%s</t></is></c></row>' % ("long " * 40)
    assert read_xlsx(sheet(f"<sheetData>{row.format(1)}{row.format(2)}</sheetData>")).text.count("long") == 80
    monkeypatch.setattr(office, f"_MAX_{kind.upper()}", 150)
    with pytest.raises(SourceError, match=f"more than 150 {kind}: save them as csv"):
        read_xlsx(sheet(f"<sheetData>{row.format(1)}{row.format(last)}</sheetData>"))


def test_a_line_of_times_is_no_end_of_a_mailbox() -> None:
    assert grows_with_its_input(lambda size: read_mailbox(b"\n\nFrom " + b"00:0" * size))


@pytest.mark.parametrize(
    ("tag", "attribute"),
    [
        ("<p {}>", " a{}='x>'"),
        ("<p {}>", " a{}"),
        ("<p{}>", "/a{}"),
        ("<p {}>", "a{}=''"),
        ('<p x=a"b {} c"d>', " a{}"),  # hidden by quotes
        ("<!--<script>--><p {}>", " a{}"),  # hidden by a script
    ],
)
def test_thousands_of_attributes_are_dropped(tag: str, attribute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    parse = html.etree.fromstring
    monkeypatch.setattr(html.etree, "fromstring", lambda data, parser: parsed.append(data) or parse(data, parser))
    page = tag.format("".join(attribute.format(number) for number in range(5000)))
    assert html.read_html(f"{page}One.</p>Two.").text == "One.\n\nTwo."
    assert len(parsed[0]) < 1000, "the parser takes the square of the time for them"


def test_ordinary_attributes_and_scripts_stay() -> None:
    script = "if (a<b) {{ {} }}".format("; ".join(f"x{n} = [1, 2]" for n in range(2000)))
    page = f"<script>{script}</script><p id='here' title='a > b'>One <a href='b.html' {'c ' * 500}>two</a>.</p>"
    content = html.read_html(page)
    assert content.text == "One two."
    assert [link.target for link in content.links] == ["b.html"]


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is its catalog; the reader finds them without a table."""
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, each) for number, each in enumerate(objects, start=1))
    return b"%PDF-1.7\n" + body + b"trailer\n<< /Size %d /Root 1 0 R >>\n%%%%EOF" % (len(objects) + 1)


def stream(data: bytes, fields: bytes = b"") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), fields, data)


CATALOG, PAGES = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
WORDS = b"BT /F1 9 Tf 50 700 Td (Some words here.) Tj ET"


def pdf_of_words(pages: bytes = PAGES, catalog: bytes = CATALOG, *more: bytes) -> bytes:
    return pdf_of(catalog, pages, page(), FONT, stream(WORDS), *more)


def page(more: bytes = b"", fields: bytes = b"/Contents 5 0 R") -> bytes:
    resources = b"/Resources << /Font << /F1 4 0 R >> %b >>" % more
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] %b %b >>" % (resources, fields)


def test_a_pdf_that_asks_for_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = zlib.compress(zlib.compress(b" " * 100_000_000 + WORDS))
    bomb = pdf_of(CATALOG, PAGES, page(), FONT, stream(inner, b"/Filter [/FlateDecode /FlateDecode]"))
    assert len(bomb) < 5000
    monkeypatch.setattr(pdf, "_MAX_BYTES", 150 << 20)
    assert read_pdf(pdf_of_words()).text == "Some words here."
    with pytest.raises(SourceError, match="the PDF takes more than 150 MB of memory or 30 s to read: save its text"):
        read_pdf(bomb)


def test_a_pdf_that_asks_for_too_much_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawing that draws another twice, and so on: two to the power of 24 words."""
    forms = []
    for number in range(6, 30):
        inner = b"/XObject << /X %d 0 R >>" % (number + 1)
        form = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << %b >>" % inner
        forms.append(stream(b"/X Do /X Do", form))
    last = stream(WORDS, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 4 0 R >> >>")
    bomb = pdf_of(CATALOG, PAGES, page(b"/XObject << /X 6 0 R >>"), FONT, stream(b"/X Do"), *forms, last)
    monkeypatch.setattr(pdf, "_MAX_SECONDS", 1)
    with pytest.raises(SourceError, match="MB of memory or 1 s to read"):
        read_pdf(bomb)


def test_limits_of_the_caller_hold_for_the_reader_of_a_pdf_too(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of_words())
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (20, 20));"
        "from triplebeam.ingest.pdf import read_pdf; print(read_pdf(open(sys.argv[1], 'rb').read()).text)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a.pdf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "Some words here.\n", done.stderr


@pytest.mark.parametrize("pages", [b"[2 0 R 3 0 R] /Count 1000", b"[3 0 R] /Count 2147483647", b"[3 0 R] /Count -1"])
def test_a_pdf_whose_pages_are_in_a_circle_or_miscounted(pages: bytes) -> None:
    with contextlib.suppress(SourceError):  # it may be damaged
        assert read_pdf(pdf_of_words(b"<< /Type /Pages /Kids %b >>" % pages)).text == "Some words here."


def test_a_pdf_has_at_most_so_many_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_process, "MAX_CHARACTERS", 40)
    kids = b"<< /Type /Pages /Kids [3 0 R 3 0 R 3 0 R] /Count 3 >>"
    layer = pdf_process.read_text_layer(pdf_of_words(kids))
    assert layer == {"error": "the PDF has more than 40 characters: save it in parts"}


def test_bookmarks_in_a_circle_are_read_once() -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>"
    marks = [
        b"<< /Title (%b) /Parent 6 0 R /Next %d 0 R /First %d 0 R /Dest [3 0 R /Fit] >>" % (title, other, other)
        for title, other in ((b"Some words here.", 8), (b"b", 7))
    ]
    outline = b"<< /First 7 0 R /Last 8 0 R /Count 2 >>"
    content = read_pdf(pdf_of_words(PAGES, catalog, outline, *marks))
    assert [heading.text for heading in content.headings] == ["Some words here."]
