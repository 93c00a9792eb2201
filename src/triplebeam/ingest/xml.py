"""XML, alone or inside other files: read without entities, network or anything else that a stranger's file asks for.

An EPUB book is a zip file of XML: the chapters are in the order of the book's spine, each read as HTML.
"""

import posixpath
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from urllib.parse import unquote

from lxml import etree

from triplebeam.ingest.archive import open_zip
from triplebeam.ingest.content import Composer, Content, decode
from triplebeam.ingest.html import read_html
from triplebeam.text.characters import replace_unstorable
from triplebeam.text.stop_words import word_set

_TITLES = word_set("title name subtitle heading head")
_PROSE = word_set("p para simpara text body description summary abstract note term li item entry cell code")
_MAX_VALUE_WORDS = 12
_MAX_LEVEL = 6
_CONTAINER = "META-INF/container.xml"
_MARKUP = ("application/xhtml+xml", "text/html")
_BETWEEN = "\n\n"


def parse_xml(data: bytes, encoding: str | None = None) -> etree._Element:
    """Parse XML into its root element. Entities are not expanded: a few lines of them can be made to fill the memory.

    The data is in ``encoding``, else in the one that it declares. Comments are left out.
    """
    parser = etree.XMLParser(
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    return etree.fromstring(data, parser)


def read_xml(source: str) -> Content:
    """Read XML. A short value is a line of ``element: value``; what is no XML is read as HTML, which may be broken.

    Nothing outside the file is read, and entities that it defines are left out.
    """
    try:
        root = parse_xml(replace_unstorable(source).encode(), encoding="utf-8")
    except (etree.XMLSyntaxError, ValueError):
        return read_html(source)
    composer = Composer()
    for element, level in _blocks(root):
        if element is None:
            composer.end_paragraph()
        else:
            _write(element, level, composer)
    content = composer.content()
    of_level = Counter(heading.level for heading in content.headings)
    first = next((each for each in content.headings if each.start == 0 and of_level[each.level] == 1), None)
    return content._replace(title=first.text if first else "")


def _write(element: etree._Element, level: int, composer: Composer) -> None:
    tag, text = etree.QName(element).localname, " ".join("".join(map(str, element.itertext())).split())
    if tag in _TITLES and text:
        composer.heading(level, text)
    elif tag in _PROSE or len(element) or len(text.split()) > _MAX_VALUE_WORDS:
        composer.paragraph(text)
    elif text:
        composer.line(f"{tag}: {text}")


def _blocks(root: etree._Element) -> Iterator[tuple[etree._Element | None, int]]:
    """Yield the elements with text of their own, and how deep they are; None where one of elements begins."""
    waiting = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        has_text = any(text and text.strip() for text in (element.text, *(child.tail for child in element)))
        if has_text:
            yield element, min(max(depth, 1), _MAX_LEVEL)
        elif len(element):
            yield None, 0
            waiting += [(child, depth + 1) for child in element.iterchildren("*", reversed=True)]


def read_epub(data: bytes) -> Content:
    """Read a book. Its title, author and language are in its package."""
    with open_zip(data, "epub") as file, zipfile.ZipFile(file) as archive:
        package_path = str(next(parse_xml(archive.read(_CONTAINER)).iter("{*}rootfile")).get("full-path"))
        package = parse_xml(archive.read(package_path))
        # Once each: a few hundred bytes can name one chapter a million times.
        names = dict.fromkeys(_list_chapters(package, posixpath.dirname(package_path)))
        chapters = [read_html(decode(archive.read(name))) for name in names]
        fields = {name: find_field(package, name) for name in ("title", "creator", "language", "date")}
    title = fields.pop("title")
    book = _join_parts([chapter for chapter in chapters if chapter.text])
    return book._replace(title=title, metadata={name: text for name, text in fields.items() if text})


def find_field(package: etree._Element, name: str) -> str:
    """Find a field that says what the file is, such as its title."""
    found = next(package.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"), None)
    return " ".join((found.text or "").split()) if found is not None else ""


def _list_chapters(package: etree._Element, folder: str) -> list[str]:
    files = {item.get("id"): item for item in package.iter("{*}item")}
    spine = (files[each.get("idref")] for each in package.iter("{*}itemref") if each.get("idref") in files)
    return [
        posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in spine
        if item.get("media-type") in _MARKUP and item.get("properties") != "nav"
    ]


def _join_parts(parts: list[Content]) -> Content:
    """Join the parts, and shift their headings and links."""
    starts = accumulate((len(part.text) + len(_BETWEEN) for part in parts[:-1]), initial=0)
    placed = list(zip(parts, starts, strict=True)) if parts else []
    headings = tuple(each._replace(start=each.start + start) for part, start in placed for each in part.headings)
    links = tuple(each._replace(start=each.start + start) for part, start in placed for each in part.links)
    return Content(_BETWEEN.join(part.text for part in parts), headings=headings, links=links)
