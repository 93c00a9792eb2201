"""Plain text, as it is; its headings and headwords are found by how they are set."""

import re
from collections.abc import Iterator

from triplebeam.ingest.asciidoc import is_asciidoc, read_asciidoc
from triplebeam.ingest.content import TERM_LEVEL, Content
from triplebeam.passage import Heading

_UNDERLINED = re.compile(r"(?:\A|(?<=\n))(?:([=\-~^*#])\1{3,}\n)?(\S[^\n]{1,100})\n([=\-~^*#])\3{3,}(?=\n|\Z)")
#: "2.3 Uploading a package", alone on its line
_NUMBERED = re.compile(r"(?:\A|(?<=\n\n))((?:\d{1,3}\.)*\d{1,3}\.?)[ \t]+([A-Z][^\n]{1,80})(?=\n\n)")
_CAPITALS = re.compile(r"(?:\A|(?<=\n\n))([A-Z][A-Z0-9 ,/&'()-]{2,60})(?=\n)")
#: ":headword: what it means", as in old glossaries
_COLONS = re.compile(r"(?:\A|(?<=\n)):([^:\n]{1,60}):(?=[ \t])")
#: A line at the margin over indented text, as manuals set options.
_HANGING = re.compile(r"(?:\A|(?<=\n))(\S[^\n]{0,80})\n(?=[ \t]{2,}\S)")
_UNDERLINES = "=-~^*#"
_ENDS_LIKE_PROSE = tuple(".,;!?")


def read_plain(text: str) -> Content:
    """Read text as it is, or as AsciiDoc if that is what it is."""
    if is_asciidoc(text):
        return read_asciidoc(text)
    found: dict[int, Heading] = {}
    for heading in _headings(text):
        found.setdefault(heading.start, heading)
    return Content(text, headings=tuple(sorted(found.values())))


def _headings(text: str) -> Iterator[Heading]:
    for match in _UNDERLINED.finditer(text):
        yield Heading(match.start(), 1 + _UNDERLINES.index(match[3]), match[2].strip())
    for match in _NUMBERED.finditer(text):
        if not match[2].endswith(_ENDS_LIKE_PROSE):
            yield Heading(match.start(), 1 + match[1].strip(".").count("."), f"{match[1]} {match[2].strip()}")
    for match in _CAPITALS.finditer(text):
        yield Heading(match.start(), 1, match[1].strip())
    for match in _COLONS.finditer(text):
        yield Heading(match.start(), TERM_LEVEL, match[1])
    for match in _HANGING.finditer(text):
        if not match[1].endswith(_ENDS_LIKE_PROSE):
            yield Heading(match.start(), TERM_LEVEL, match[1].strip())
