"""Archives that would fill the memory, and XML of a stranger: no reader opens a file, asks a server, or unfolds it."""

import contextlib
import gzip
import http.server
import io
import struct
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from made_files import MADE, unzip, zip_of

from triplebeam.errors import SourceError
from triplebeam.ingest import Unreadable, archive, read_sources
from triplebeam.ingest.archive import check_gzip, check_zip
from triplebeam.ingest.sources import read_content
from triplebeam.ingest.xml import read_epub

CONTAINER = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    '<dc:title>Rivers</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '</manifest><spine><itemref idref="a"/></spine></package>'
)
BOOK = {"META-INF/container.xml": CONTAINER, "book.opf": PACKAGE, "a.xhtml": "<html><p>Words.</p></html>"}


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


@pytest.mark.parametrize("kind", [".docx", ".pptx", ".xlsx", ".epub", ".odt"])
def test_no_part_of_an_archive_reads_a_file_asks_a_server_or_unfolds(kind: str, tmp_path: Path, listener: str) -> None:
    (tmp_path / "secret.txt").write_text("Kumquatius")
    parts = unzip(next(make for name, make in MADE.items() if name.endswith(kind))())
    unread = ("ppt/slideLayouts", "ppt/slideMasters", "ppt/theme", "customXml", "word/theme")
    attacked = [name for name, part in parts.items() if part.lstrip().startswith(b"<") and not name.startswith(unread)]
    assert attacked
    for name in attacked:
        for doctype in doctypes(tmp_path / "secret.txt", listener):
            files = {**parts, name: with_doctype(parts[name], doctype)}
            with contextlib.suppress(SourceError):
                content = read_content(zip_of(files), kind)
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
            assert ("Words." in text, "Kumquatius" in text, len(text) < 10_000) == (True, False, True)
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


MEGABYTE = 1_000_000


def write_zip(path: Path, size: int, count: int = 1) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(count):
            file.writestr(f"word/{number}.xml", b"\0" * size)
    return path


def test_a_bomb_is_refused_by_its_declared_size_and_the_rest_goes_on(tmp_path: Path) -> None:
    bomb = write_zip(tmp_path / "bomb.docx", 40 * MEGABYTE, 3)
    (tmp_path / "fine.txt").write_text("Fine.")
    refused, fine = list(read_sources([tmp_path]))
    assert isinstance(refused, Unreadable)
    assert "inflate to 120,000,000" in refused.reason
    assert bomb.stat().st_size < MEGABYTE
    assert not isinstance(fine, Unreadable)


def test_a_dense_archive_is_refused_from_some_size_on_and_where_it_lies_about_its_size(tmp_path: Path) -> None:
    check_zip(write_zip(tmp_path / "small.docx", 5 * MEGABYTE))
    path = write_zip(tmp_path / "dense.docx", 20 * MEGABYTE)
    with pytest.raises(SourceError, match="looks like a zip bomb"):
        check_zip(path)
    size, lie = struct.pack("<I", 20 * MEGABYTE), struct.pack("<I", 10)
    path.write_bytes(path.read_bytes().replace(size, lie))
    with pytest.raises(SourceError):
        check_zip(path)


def test_more_elements_than_any_document_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TAGS", 1000)
    path = tmp_path / "paragraphs.docx"
    for count, fits in ((499, True), (501, False)):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("word/document.xml", b"<p>a</p>" * count)
        with contextlib.nullcontext() if fits else pytest.raises(SourceError, match="more than 1,000 tags: save it"):
            check_zip(path)


def test_lines_are_read_while_they_look_like_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(archive, "MAX_INFLATED_BYTES", 5000)
    path = tmp_path / "rows.jsonl.gz"
    for rows, reason in ((b" " * 2000, "a line of more than 1,000 bytes"), (b" \n" * 500_000, "looks like a zip bomb")):
        path.write_bytes(gzip.compress(b'{"text": "Fine."}\n' + rows))
        fine, refused = read_sources([path])
        assert not isinstance(fine, Unreadable)
        assert isinstance(refused, Unreadable)
        assert reason in refused.reason


def test_gzip_bombs_and_damaged_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"\0" * (20 * MEGABYTE)))
    with pytest.raises(SourceError, match="looks like a zip bomb"):
        check_gzip(path)
    path.write_bytes(gzip.compress(b"{}")[:-3])
    with pytest.raises(SourceError, match="damaged"):
        check_gzip(path)
    path.write_bytes(gzip.compress(b"{}"))
    check_gzip(path)
    monkeypatch.setattr(archive, "MAX_INFLATED_BYTES", MEGABYTE)
    path.write_bytes(gzip.compress(bytes(5 * MEGABYTE)))
    with pytest.raises(SourceError, match="inflate to 1,048,576 or more"):  # it stops when it has seen enough
        check_gzip(path)
