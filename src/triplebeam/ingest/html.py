"""HTML to plain text with its headings and links, without what surrounds the content of a page."""

import re
from collections.abc import Callable
from html import unescape

from lxml import etree

from triplebeam.ingest.boilerplate import Page
from triplebeam.ingest.content import Composer, Content
from triplebeam.text.characters import replace_unstorable
from triplebeam.text.stop_words import word_set

Element = etree._Element

_PARAGRAPHS = word_set(
    "address article aside blockquote body center details dialog div dl fieldset figcaption figure footer form "
    "header hr main ol p section table ul"
)
_LINES = word_set("br caption option summary tr")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NO_TEXT = word_set("head script style noscript template svg select")
_TAG = re.compile(r"<[^<>]*>")
#: The parser takes the square of their number, and a page has a few dozen.
_MAX_ATTRIBUTES = 1000
_ATTRIBUTE = r"""(?>[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+)"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_OPENING_TAG = re.compile(rf"(<[a-zA-Z][^\s/>]*+)((?:{_ATTRIBUTE})*+)")
_END_OF_SCRIPT = re.compile(r"</(?:script|style)\s*\Z", re.IGNORECASE)
_MAX_TARGET_CHARACTERS = 500


def read_html(markup: str, code_mark: str = "") -> Content:
    """Take text, title (``<title>``, else the first ``<h1>``), headings and links out of markup, however broken.

    Inline code is put between two ``code_mark``.
    """
    root = _parse(markup)
    if root is None:  # nothing there, or nested deeper than any page is: the text without its tags
        return Content("\n".join(filter(None, map(str.strip, unescape(_TAG.sub("\n", markup)).split("\n")))))
    page = Page(root)
    content = _Walk(page, page.is_boilerplate, code_mark).content(page.content())
    if not content.text:  # a page of nothing but links, such as a table of contents, is better than none
        content = _Walk(page, lambda element: element.tag in _NO_TEXT, code_mark).content(root)
    return content._replace(title=_title(root))


def _parse(markup: str) -> Element | None:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    data = _OPENING_TAG.sub(_drop_attributes, replace_unstorable(markup)).encode()
    root = etree.fromstring(data, parser) if data.strip() else None
    is_whole = all(error.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log)
    return root if is_whole else None


def _drop_attributes(tag: re.Match[str]) -> str:
    """Leave out the attributes of a tag that has more of them than any page has.

    What looks like one may be a comparison in a script, and then the end of the script is its last word.
    """
    if len(tag[2]) <= _MAX_ATTRIBUTES or len(_ATTRIBUTES.findall(tag[2])) <= _MAX_ATTRIBUTES:
        return tag[0]
    end = _END_OF_SCRIPT.search(tag[2])
    return tag[1] + (end[0] if end else "")


def _title(root: Element) -> str:
    for name in ("title", "h1"):
        found = root.find(f".//{name}")
        if found is not None and (title := " ".join("".join(map(str, found.itertext())).split())):
            return title.rstrip(" ¶#")
    return ""


class _Walk:
    """Through a page in document order, without recursion: markup may be nested to any depth."""

    def __init__(self, page: Page, is_boilerplate: Callable[[Element], bool], code_mark: str) -> None:
        self._page = page
        self._code_mark = code_mark
        self._is_boilerplate = is_boilerplate
        self._composer = Composer()
        self._ends: dict[Element, tuple[str, Callable[[], None] | None]] = {}
        """Of the elements that are open: the mark at the end, and what to do there."""
        self._numbers: dict[Element, int] = {}
        self._definitions = 0

    def content(self, root: Element) -> Content:
        """Return the text below an element."""
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if self._is_boilerplate(element) or self._write_whole(element):
                    walk.skip_subtree()
                else:
                    self._open(element)
            else:
                mark, close = self._ends.pop(element, ("", None))
                self._composer.words(mark)
                if close is not None:
                    close()
                self._composer.words((element.tail or "") if element is not root else "")
        return self._composer.content()

    def _write_whole(self, element: Element) -> bool:
        """Write a heading, a headword, code or an image; False where it is none of them."""
        tag = element.tag
        if tag in _HEADINGS:
            self._composer.heading(_HEADINGS[tag], self._inline(element), _anchor(element))
        elif tag == "dt":
            self._composer.term(self._inline(element), _anchor(element), self._definitions)
        elif tag == "pre" or "fragment" in element.get("class", "").split():
            self._composer.code(_code(element))
        elif tag == "img":
            description, parent = element.get("alt", ""), element.getparent()
            if " " in description.strip() and (parent is None or parent.tag != "a"):  # no mere name, and no button
                self._composer.words(f" {description} ")
        else:
            return False
        return True

    def _open(self, element: Element) -> None:
        mark = self._code_mark if element.tag == "code" or "literal" in element.get("class", "").split() else ""
        self._ends[element] = mark, self._begin(element)
        self._composer.words(mark + (element.text or ""))

    def _begin(self, element: Element) -> Callable[[], None] | None:
        """Begin an element; what to do at its end."""
        tag, composer = element.tag, self._composer
        if tag in _PARAGRAPHS:
            composer.end_paragraph()
            return composer.end_paragraph
        if tag in ("td", "th"):
            composer.cell()
            if not self._page.is_layout(element):
                composer.open_cell()
                return composer.close_cell
        elif tag == "dd":
            return self._open_definition()
        elif tag == "li":
            composer.item(self._bullet(element))
        elif tag in _LINES:
            composer.end_line()
        elif tag == "a" and (target := element.get("href")) and len(target) < _MAX_TARGET_CHARACTERS:
            composer.link(target)
        return None

    def _open_definition(self) -> Callable[[], None]:
        self._composer.end_line()
        self._definitions += 1

        def close() -> None:
            self._definitions -= 1

        return close

    def _bullet(self, item: Element) -> str:
        parent = item.getparent()
        if parent is None or parent.tag != "ol":
            return "- "
        self._numbers[parent] = self._numbers.get(parent, 0) + 1
        return f"{self._numbers[parent]}. "

    def _inline(self, heading: Element) -> str:
        """Return the text of a heading, without signs and links that edit it."""
        pieces: list[str] = []
        walk = etree.iterwalk(heading, events=("start", "end"))
        for event, element in walk:
            if event == "end":
                pieces.append((element.tail or "") if element is not heading else "")
            elif element is not heading and self._is_boilerplate(element):
                walk.skip_subtree()
            else:
                pieces += [" " if element.tag in ("br", "dt") else "", element.text or ""]  # a <dt> may not be closed
        return "".join(pieces)


def _code(element: Element) -> str:
    for line in element.iter("br", "div"):
        line.tail = "\n" + (line.tail or "")
    return "".join(map(str, element.itertext()))


def _anchor(element: Element) -> str:
    """Return the names that links call a heading by: its own, one inside it, those of the section it opens."""
    parent, inside = element.getparent(), element.find(".//a[@name]")
    names = [element.get("id"), inside.get("name") if inside is not None else None]
    before = list(element.itersiblings("span", preceding=True))  # as Sphinx writes labels
    if parent is not None and parent.tag in ("section", "div") and parent.index(element) == len(before):
        names += [each.get("id") for each in (parent, *before)]
    return " ".join(filter(None, names))
