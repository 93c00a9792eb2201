"""XML, alone or inside other files: read without entities, network or anything else that a stranger's file asks for."""

from collections import Counter
from collections.abc import Iterator

from lxml import etree

from triplebeam.ingest.compose import Composer
from triplebeam.ingest.html import read_html
from triplebeam.ingest.text import Content
from triplebeam.text.characters import replace_unstorable
from triplebeam.text.stop_words import word_set

_TITLES = word_set("title name subtitle heading head")
_PROSE = word_set("p para simpara text body description summary abstract note term li item entry cell code")
_MAX_VALUE_WORDS = 12
_MAX_LEVEL = 6


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
        composer.end_paragraph()
        composer.words(text)
        composer.end_paragraph()
    elif text:
        composer.end_line()
        composer.words(f"{tag}: {text}")


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
