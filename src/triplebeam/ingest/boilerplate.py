"""What surrounds the content of a page: menus, breadcrumbs, tables of contents, rows of Prev and Next, permalink signs.

Libraries made for news pages (trafilatura, readability, resiliparse) take these out, and with them a twentieth to a
half of what technical documentation says (docs/formats.md has the comparison). So: rules by structure, each of which
has to be sure. An element goes because of what it *is* (a tag, a role), because of a name that only navigation has, or
because of a name that navigation often has *and* a content of links.
"""

import re
from typing import NamedTuple

from lxml import etree

from triplebeam.text.stop_words import word_set
from triplebeam.text.words import LETTERS

Element = etree._Element

_TAGS = word_set(
    "head script style noscript template nav svg iframe object canvas audio video select button textarea input "
    "form dialog"
)
_ROLES = word_set("navigation contentinfo search banner complementary menu menubar doc-toc doc-index dialog")
_CONTENT_ROLES = word_set("note main article doc-abstract doc-chapter doc-glossary doc-footnote")
_CONTENT_TAGS = word_set("html body main article pre code h1 h2 h3 h4 h5 h6")
#: Classes and ids that only boilerplate has.
_NAMES = word_set(
    "navheader navfooter toctree-wrapper sphinxsidebar related headerlink permalink copiable-anchor anchorjs-link "
    "toc lot contents-toc inlinetoc mw-editsection editsection mw-jump-link jump-to-nav catlinks printfooter navbox "
    "vertical-navbox mw-indicators mw-cite-backlink footnote-backref fn-backref skip-link skiplink visually-hidden "
    "sr-only screen-reader-text noprint no-print genindextable indextable printindex nav-path navpath side-nav "
    "msearchselectwindow msearchresultswindow dynheader dynsummary summary-letter-table viewcode-link viewcode-back "
    "dropdown-menu cookie-banner cookie-consent cookie-notice cookiebar cookie-law-info-bar gdpr onetrust-banner-sdk "
    "breadcrumb breadcrumbs parentlinks pager pagination page-navigation prev-next nextprev share-buttons "
    "social-links social-share newsletter-signup actions pageheader titlearea"
)
#: Words in classes and ids that boilerplate often has; it goes if it is mostly links, or short.
_WORDS = word_set(
    "nav navbar navigation navi menu submenu sidebar sidenav breadcrumb breadcrumbs footer header masthead toc "
    "pagination pager cookie cookies consent gdpr share sharing social follow related recommended trending "
    "popular promo sponsor advert advertisement ad ads banner newsletter subscribe signup login comments disqus "
    "toolbar skip search widget rail byline credits copyright summary ingroups backlinks "
    "feedback teaser outbrain taboola"
)
#: The lines above and below a manual page, where a table has the name.
_RUNNING_TITLES = frozenset(("head", "foot"))
_PART_OF_NAME = re.compile(r"[a-z]+|\d+")
_NAVIGATION_WORDS = word_set(
    "prev previous next up home top back contents content index forward first last parent toc main page table of to "
    "the edit hide show source view permalink return menu skip"
)
_SIGNS = word_set("¶ # § ↩ ↩︎ ↑ ^ 🔗 ⚓ [edit] edit [source] [link] [top] permalink")
_SKIPS = ("jump to ", "skip to ")
_CONTENTS = frozenset(("index", "contents", "table of contents", "on this page", "navigation", "navigation menu"))
_RELATIONS = word_set("prev previous next up start home contents index top first last")
_ACCESS_KEYS = word_set("n p u h")
_BLOCKS = word_set("p div table tr td th ul ol dl center span section header footer aside")
_LISTS = word_set("ul ol dl")
_LAYOUT = word_set("pre ul ol dl table h1 h2 h3 h4 h5 h6")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_MIN_MAJORITY = 0.5
_MIN_NEARLY_ALL = 0.9
_MAX_SHORT_CHARACTERS = 100
_MAX_ROW_CHARACTERS = 300
_MIN_LINKS, _MIN_MANY_LINKS = 3, 5


class Weight(NamedTuple):
    """How much text an element has, and how much of it is links."""

    text: int = 0
    linked: int = 0
    links: int = 0
    inside: int = 0
    """Links to places of the same page."""
    steps: int = 0
    """Links marked as previous, next, up."""
    start: str = ""
    """The text itself, where it is short."""
    has_blocks: bool = False
    """Headings, lists, tables or code: a table cell with one is a part of the page's layout."""

    @property
    def linked_share(self) -> float:
        """From 0 to 1."""
        return self.linked / self.text if self.text else 0.0


class Page:
    """A parsed page, weighed once from the leaves up."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self._elements = list(root.iter(etree.Element))
        self._weights: dict[Element, Weight] = {}
        for element in reversed(self._elements):
            self._weights[element] = self._weigh(element)

    def _weigh(self, element: Element) -> Weight:
        """Add up the weights of its children, so that a page of any shape is weighed in one pass."""
        pieces, below = [element.text or ""], []
        own = len(pieces[0].strip())
        for child in element:
            tail = child.tail or ""
            own += len(tail.strip())
            if (weight := self._weights.get(child)) is not None and child.tag not in ("script", "style"):
                pieces.append(weight.start)
                below.append(weight)
            pieces.append(tail)
        text, linked, links, inside, steps = map(
            sum, zip((own, 0, 0, 0, 0), *(each[:5] for each in below), strict=True)
        )
        has_blocks = element.tag in _LAYOUT or any(each.has_blocks for each in below)
        if element.tag == "a" and (target := element.get("href")) is not None:
            linked, links, inside, steps = text, links + 1, inside + target.startswith("#"), steps + _is_step(element)
        start = " ".join(" ".join(pieces).split()) if text < _MAX_SHORT_CHARACTERS else ""
        return Weight(text, linked, links, inside, steps, start, has_blocks)

    def is_layout(self, cell: Element) -> bool:
        """Return whether a table cell holds more than a value."""
        return self._weights[cell].has_blocks

    def content(self) -> Element:
        """Return the element with the content: the page's one ``main``, else a news page's one article; else all."""
        total = self._weights[self.root].text
        mains = [each for each in self._elements if each.tag == "main" or each.get("role") == "main"]
        if len(mains) == 1 and self._weights[mains[0]].text > _MAX_SHORT_CHARACTERS:
            return mains[0]
        articles = [e for e in self._elements if e.tag == "article" or e.get("itemprop") == "articleBody"]
        longest = max(articles, key=lambda each: self._weights[each].text, default=self.root)
        is_news = self.root.find(".//meta[@property='og:type'][@content='article']") is not None
        return longest if is_news and self._weights[longest].text > total * _MIN_MAJORITY / 2 else self.root

    def is_boilerplate(self, element: Element) -> bool:
        """Return whether this element, with all that is in it, surrounds the content."""
        tag = element.tag
        if tag in _TAGS or element.get("role") in _ROLES or _is_hidden(element):
            return tag != "form" or self._weights[element].text < _MAX_ROW_CHARACTERS
        if tag in _CONTENT_TAGS or element.get("role") in _CONTENT_ROLES:
            return self._is_heading_of_contents(element) or self._is_banner(element)
        if tag == "a":
            return self._is_permalink(element)
        weight = self._weights.get(element, Weight())
        return (
            self._is_named(element, weight)
            or ((tag in ("footer", "header") or _is_footer(element, weight)) and _is_of_the_page(element))
            or (tag in _BLOCKS and weight.text < _MAX_ROW_CHARACTERS and _is_row_of_steps(weight))
            or (tag in _LISTS and _is_list_of_links(weight))
        )

    def _is_permalink(self, link: Element) -> bool:
        text, parent = self._weights[link].start.lower(), link.getparent()
        if text in _SIGNS or text.startswith(_SKIPS) or (0 < len(text) <= 2 and bool(_names(link) & _NAMES)):
            return True
        is_step = (parent is not None and parent.tag == "body") or any(
            _words(name) <= _NAVIGATION_WORDS for name in _names(link)
        )
        return is_step and _is_of_steps(text)

    def _is_heading_of_contents(self, heading: Element) -> bool:
        """Return whether a heading says so, over nothing but links."""
        following = heading.getnext()
        if self._weights[heading].start.lower() not in _CONTENTS or following is None:
            return False
        return self._weights.get(following, Weight()).linked_share > _MIN_NEARLY_ALL

    def _is_banner(self, heading: Element) -> bool:
        """Return whether this is the name of the site above every page: named so, and only a link to elsewhere."""
        link = heading.find(".//a[@href]")
        if link is None or self._weights[heading].linked_share < _MIN_NEARLY_ALL or "://" not in link.get("href", ""):
            return False
        return any(_words(name) & _WORDS for name in _names(heading))

    def _is_named(self, element: Element, weight: Weight) -> bool:
        names = _names(element)
        if not names:
            return False
        if names & _NAMES or element.get("summary", "").startswith("Navigation"):
            return True
        if element.tag == "table" and names & _RUNNING_TITLES:
            return True
        is_thin = weight.linked_share > _MIN_MAJORITY or (weight.text < _MAX_SHORT_CHARACTERS and weight.links > 0)
        return is_thin and any(_words(name) & _WORDS for name in names)


def _is_row_of_steps(weight: Weight) -> bool:
    """Return whether this is a row of Prev, Up, Next: marked as such, or made of these words alone."""
    return weight.links > 0 and (weight.steps >= 2 or _is_of_steps(weight.start.lower()))


def _is_of_steps(text: str) -> bool:
    """Return whether there are only the words of Prev, Up and Next."""
    words = LETTERS.findall(text)
    return bool(words) and all(word in _NAVIGATION_WORDS for word in words)


def _is_step(link: Element) -> bool:
    relations = {*link.get("rel", "").lower().split()}
    return bool(relations & _RELATIONS) or link.get("accesskey", "").lower() in _ACCESS_KEYS


def _is_list_of_links(weight: Weight) -> bool:
    """Return whether this is a table of contents or an index: only links, to places of this page or many to others."""
    most_are_inside = weight.inside >= _MIN_LINKS and weight.inside > weight.links * _MIN_MAJORITY
    return weight.linked_share > _MIN_NEARLY_ALL and (most_are_inside or weight.links >= _MIN_MANY_LINKS)


def _is_footer(element: Element, weight: Weight) -> bool:
    """Return whether this is ``<div class="footer">`` with a line or two, such as a copyright notice."""
    return element.tag == "div" and weight.text < _MAX_ROW_CHARACTERS and "footer" in _names(element)


def _is_of_the_page(element: Element) -> bool:
    """Return whether this belongs to the page, and is not the header or footer of an article or a quotation."""
    parent = element.getparent()
    while parent is not None and parent.tag in ("div", "form", "center"):
        parent = parent.getparent()
    has_title = element.tag == "header" and element.find(".//h1") is not None
    return parent is not None and parent.tag == "body" and not has_title


def _is_hidden(element: Element) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    # Wikis hide a formula and show its picture.
    return style is not None and bool(_HIDDEN.search(style)) and element.find("math") is None


def _names(element: Element) -> set[str]:
    return set(f"{element.get('class', '')} {element.get('id', '')}".lower().split())


def _words(name: str) -> set[str]:
    return set(_PART_OF_NAME.findall(name))
