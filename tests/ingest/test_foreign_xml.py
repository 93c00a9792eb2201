"""XML of a stranger: no reader opens a file, asks a server, or unfolds entities for it; nor do links in an archive."""

import contextlib
import http.server
import io
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import docx
import openpyxl
import pptx
import pytest

from triplebeam.errors import SourceError
from triplebeam.ingest.docx import read_docx
from triplebeam.ingest.epub import read_epub
from triplebeam.ingest.formats import read_content
from triplebeam.ingest.odt import read_odt
from triplebeam.ingest.office import read_pptx, read_xlsx
from triplebeam.ingest.text import Content

_ODT = "urn:oasis:names:tc:opendocument:xmlns"
CONTENT = (
    f'<o:document-content xmlns:o="{_ODT}:office:1.0" xmlns:t="{_ODT}:text:1.0"><o:body><o:text><t:p>Words.</t:p>'
    "</o:text></o:body></o:document-content>"
)
META = '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Rivers</dc:title></m>'
CONTAINER = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    '<dc:title>Rivers</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '</manifest><spine><itemref idref="a"/></spine></package>'
)
BOOK = {"META-INF/container.xml": CONTAINER, "book.opf": PACKAGE, "a.xhtml": "<html><p>Words.</p></html>"}


def saved(file: Any) -> bytes:
    data = io.BytesIO()
    file.save(data)
    return data.getvalue()


def zip_of(files: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def whole_file(kind: str) -> tuple[bytes, Callable[[bytes], Content]]:
    match kind:
        case "docx":
            document = docx.Document()
            document.add_paragraph("Words.")
            return saved(document), read_docx
        case "pptx":
            slides = pptx.Presentation()
            slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Words."
            return saved(slides), read_pptx
        case "xlsx":
            book = openpyxl.Workbook()
            book.active.append(("Words.",))
            return saved(book), read_xlsx
        case "epub":
            return zip_of(BOOK), read_epub
        case _:
            return zip_of({"content.xml": CONTENT, "meta.xml": META}), read_odt


class Listener(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'<!ENTITY x "Fetched.">')


@pytest.fixture
def listener() -> Iterator[str]:
    """The address of a server that no reader should ask."""
    Listener.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def doctypes(secret: Path, address: str) -> Iterator[bytes]:
    yield f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'.encode()
    yield f'<!DOCTYPE a [<!ENTITY x SYSTEM "{address}/entity">]>'.encode()
    yield f'<!DOCTYPE a SYSTEM "{address}/a.dtd">'.encode()
    yield f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{address}/parameter"> %p;]>'.encode()
    laughs = "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 12))
    yield f'<!DOCTYPE a [<!ENTITY x0 "lol">{laughs}<!ENTITY x "&x11;">]>'.encode()


def with_doctype(xml: bytes, doctype: bytes) -> bytes:
    """The same with a document type, and a reference to its entity in the first element that ends."""
    head, mark, body = xml.rpartition(b"?>") if xml.startswith(b"<?xml") else (b"", b"", xml)
    return head + mark + doctype + body.replace(b"</", b"&x;</", 1)


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "epub", "odt"])
def test_no_part_of_an_archive_reads_a_file_asks_a_server_or_unfolds(kind: str, tmp_path: Path, listener: str) -> None:
    whole, read = whole_file(kind)
    (tmp_path / "secret.txt").write_text("Kumquatius")
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    unread = ("ppt/slideLayouts", "ppt/slideMasters", "ppt/theme", "customXml", "word/theme")
    attacked = [name for name, part in parts.items() if part.lstrip().startswith(b"<") and not name.startswith(unread)]
    assert attacked
    for name in attacked:
        for doctype in doctypes(tmp_path / "secret.txt", listener):
            files = {**parts, name: with_doctype(parts[name], doctype)}
            with contextlib.suppress(SourceError):
                content = read(zip_of(files))
                said = f"{content.text}{content.title}{dict(content.metadata)}"
                assert "Kumquatius" not in said, name
                assert len(said) < 10_000, name
    assert Listener.asked == []


def test_no_page_or_xml_file_reads_a_file_asks_a_server_or_unfolds(tmp_path: Path, listener: str) -> None:
    (tmp_path / "secret.txt").write_text("Kumquatius")
    picture = f'<svg><image href="{listener}/svg"/></svg><img src="{listener}/img"><iframe src="{listener}/frame">'
    for ending, page in ((".html", f"<p>Words.</p>{picture}"), (".xhtml", "<p>Words.</p>"), (".xml", "<a>Words.</a>")):
        for doctype in doctypes(tmp_path / "secret.txt", listener):
            text = read_content(with_doctype(page.encode(), doctype), ending).text
            assert "Words." in text
            assert "Kumquatius" not in text
            assert len(text) < 10_000
    assert Listener.asked == []


def test_links_and_paths_in_an_archive_lead_nowhere_else(tmp_path: Path) -> None:
    """An entry that is a link is read as what is written in it, and a path out of a book is no chapter of it."""
    secret = tmp_path / "secret.xhtml"
    secret.write_text("<p>Kumquatius</p>")
    link = zipfile.ZipInfo("a.xhtml")
    link.external_attr = 0o120777 << 16
    data = io.BytesIO(zip_of({name: part for name, part in BOOK.items() if name != "a.xhtml"}))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr(link, str(secret))
    assert read_epub(data.getvalue()).text == str(secret)
    for path in (f"../../../../../..{secret}", str(secret), secret.as_uri()):
        with pytest.raises(SourceError, match="damaged"):
            read_epub(zip_of({**BOOK, "book.opf": PACKAGE.replace("a.xhtml", path)}))
