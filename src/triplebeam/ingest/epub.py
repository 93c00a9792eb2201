"""EPUB books: the chapters in the order of the book's spine, each read as HTML."""

import posixpath
import zipfile
from collections.abc import Iterable
from io import BytesIO
from urllib.parse import unquote

from lxml import etree

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import check_zip
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.html import read_html
from triplebeam.ingest.text import Content, decode
from triplebeam.ingest.xml import parse_xml
from triplebeam.passage import Heading, Link

_CONTAINER = "META-INF/container.xml"
_MARKUP = ("application/xhtml+xml", "text/html")
_BETWEEN = "\n\n"


def read_epub(data: bytes) -> Content:
    """Read a book. Its title, author and language are in its package."""
    check_zip(BytesIO(data), "epub")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            package_path = _package_path(archive)
            package = parse_xml(archive.read(package_path))
            # Once each: a few hundred bytes can name one chapter a million times.
            names = dict.fromkeys(_chapters(package, package_path))
            chapters = [read_html(decode(archive.read(name))) for name in names]
            fields = {name: _field(package, name) for name in ("title", "creator", "language", "date")}
    except (zipfile.BadZipFile, etree.LxmlError, *DAMAGE) as error:
        raise SourceError(f"the epub file is damaged ({type(error).__name__}: {error})") from error
    title = fields.pop("title")
    return _join_parts(chapters)._replace(title=title, metadata={name: text for name, text in fields.items() if text})


def _package_path(archive: zipfile.ZipFile) -> str:
    container = parse_xml(archive.read(_CONTAINER))
    return str(next(container.iter("{*}rootfile")).get("full-path"))


def _chapters(package: etree._Element, package_path: str) -> list[str]:
    files = {item.get("id"): item for item in package.iter("{*}item")}
    spine = (files[each.get("idref")] for each in package.iter("{*}itemref") if each.get("idref") in files)
    folder = posixpath.dirname(package_path)
    return [
        posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in spine
        if item.get("media-type") in _MARKUP and item.get("properties") != "nav"
    ]


def _field(package: etree._Element, name: str) -> str:
    found = next(package.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"), None)
    return " ".join((found.text or "").split()) if found is not None else ""


def _join_parts(parts: Iterable[Content]) -> Content:
    """Join the parts, and shift their headings and links."""
    texts: list[str] = []
    headings: list[Heading] = []
    links: list[Link] = []
    length = 0
    for part in parts:
        if part.text:
            headings += [heading._replace(start=heading.start + length) for heading in part.headings]
            links += [link._replace(start=link.start + length) for link in part.links]
            texts.append(part.text)
            length += len(part.text) + len(_BETWEEN)
    return Content(_BETWEEN.join(texts), headings=tuple(headings), links=tuple(links))
