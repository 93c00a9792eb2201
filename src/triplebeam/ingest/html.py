"""HTML to plain text, without what surrounds the content of a page."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam.errors import SourceError
from triplebeam.ingest.text import Content, decode, tidy

if TYPE_CHECKING:
    from bs4 import Tag

_BOILERPLATE = "head script style noscript template nav svg iframe select button textarea"
_BOILERPLATE_ROLES = ("navigation", "contentinfo", "search")
_PARAGRAPHS = (
    "address article aside blockquote body details dialog div dl fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr main ol p pre section table ul"
)
_LINES = "br caption dd dt li option summary tr"
_BREAKS_AROUND = dict.fromkeys(_PARAGRAPHS.split(), "\n\n")
_BREAKS_BEFORE = _BREAKS_AROUND | dict.fromkeys(_LINES.split(), "\n") | {"td": "\t", "th": "\t"}
_DROPPED = frozenset(_BOILERPLATE.split())
_WHITE_SPACE = re.compile(r"\s+")


def read_html(path: Path) -> Content:
    """Read an HTML file: in UTF-8, or in the encoding that it declares itself."""
    data = path.read_bytes()
    try:
        return html_content(decode(data))
    except SourceError:
        declared = _declared_encoding(data)
        if declared is None:
            raise
        return html_content(_decode_as(data, declared))


def html_content(markup: str) -> Content:
    """Take the text and the title (``<title>``, else the first ``<h1>``) out of markup, however broken."""
    from bs4 import BeautifulSoup

    with warnings.catch_warnings(action="ignore", category=UserWarning):  # "this looks like a file name", "like XML"
        soup = BeautifulSoup(markup, "lxml")
    titles = (tag.get_text() for tag in (soup.title, soup.h1) if tag is not None)
    title = next(filter(None, (" ".join(title.split()) for title in titles)), "")
    return Content(tidy("".join(_pieces(soup))), title)


def _pieces(soup: "Tag") -> Iterator[str]:
    """Text and breaks in document order. A stack, not recursion: markup may be nested to any depth."""
    from bs4.element import NavigableString, PreformattedString, Tag

    waiting: list[object] = [soup]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Tag):
            if _is_boilerplate(node):
                continue
            if node.name == "pre":
                yield "\n\n" + node.get_text().expandtabs() + "\n\n"
                continue
            yield _BREAKS_BEFORE.get(node.name, "")
            waiting += [_BREAKS_AROUND.get(node.name, ""), *reversed(node.contents)]
        elif isinstance(node, PreformattedString):  # a comment, a doctype
            continue
        elif isinstance(node, NavigableString):
            yield _WHITE_SPACE.sub(" ", node)
        else:
            yield str(node)


def _is_boilerplate(tag: "Tag") -> bool:
    if tag.name in _DROPPED or tag.has_attr("hidden") or tag.get("role") in _BOILERPLATE_ROLES:
        return True
    # A footer inside an article or a quotation belongs to it; the page's own does not.
    return tag.name == "footer" and tag.parent is not None and tag.parent.name == "body"


def _declared_encoding(data: bytes) -> str | None:
    from bs4.dammit import EncodingDetector

    return EncodingDetector.find_declared_encoding(data, is_html=True)


def _decode_as(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise SourceError(f"it is not in {encoding}, the encoding it declares; save the file as UTF-8") from error
