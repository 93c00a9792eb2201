"""Plain text, source code and configuration, as they are, and AsciiDoc, which many files of text are.

The headings and headwords of plain text are found by how they are set. Classes, functions, tables and outer keys are
sections of code. There is no small library for AsciiDoc: what is
read here are titles, lists, blocks and macros.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import accumulate

from triplebeam.ingest.content import DAMAGE, TERM_LEVEL, Composer, Content, NoDocumentError
from triplebeam.ingest.markdown import parse_front_matter
from triplebeam.passage import Heading

_UNDERLINED = re.compile(r"(?:\A|(?<=\n))(?:([=\-~^*#])\1{3,}\n)?(\S[^\n]{1,100})\n([=\-~^*#])\3{3,}(?=\n|\Z)")
#: "2.3 Uploading a package", alone on its line
_NUMBERED = re.compile(r"(?:\A|(?<=\n\n))((?:\d{1,3}\.)*\d{1,3}\.?)[ \t]+([A-Z][^\n]{1,80})(?=\n\n)")
_CAPITALS = re.compile(r"(?:\A|(?<=\n\n))([A-Z][A-Z0-9 ,/&'()-]{2,60})(?=\n)")
#: ":headword: what it means", as in old glossaries
_COLONS = re.compile(r"(?:\A|(?<=\n)):([^:\n]{1,60}):(?=[ \t])")
#: A line at the margin over indented text, as manuals set options.
_HANGING = re.compile(r"(?:\A|(?<=\n))(\S[^\n]{0,80})\n(?=[ \t]{2,}\S)")
_PLAIN_UNDERLINES = "=-~^*#"
_ENDS_LIKE_PROSE = tuple(".,;!?")

_HEAD_CHARACTERS = 20_000
_SIGNS_OF_ASCIIDOC = (
    re.compile(r"^={1,5} \S.*$", re.MULTILINE),
    re.compile(r"^\[(?:verse|quote|source|NOTE|TIP|options|cols|horizontal|listing|id=|\[)[^\n]*\]$", re.MULTILINE),
    re.compile(r"\b(?:linkgit|link|xref|image|include|ifdef|manmanual):{1,2}[^\s\[]{0,200}\["),
    re.compile(r"^[\w`<>*'-][^\n]{0,80}::$", re.MULTILINE),
    re.compile(r"^:[\w-]+: \S", re.MULTILINE),
)
_MIN_SIGNS = 2

_TITLE = re.compile(r"(={1,6})\s+(\S.*)")
_UNDERLINES = "=-~^+"
_UNDERLINE = re.compile(r"([=\-~^+])\1{2,}\s*")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|\|===+)\s*")
_VERBATIM = ("----", "....", "++++", "```")
_COMMENT = "////"
_ATTRIBUTES = re.compile(
    r"\[[^\]]*\]|:[\w!-]+:.*|(?:ifdef|ifndef|ifeval|endif|include|toc|manmanual)::.*|\.[A-Z][^.].*|//.*"
)
_CONTINUATION = "+"
_TERM = re.compile(r"\s*(\S.{0,150}?):{2,4}(?:\s+(.*))?")
_ITEM = re.compile(r"\s*(?:(-|\*{1,5})|(\.{1,5}|\d{1,3}\.|[a-z]\.))\s+(\S.*)")

#: Every stretch has a limit, so that no line makes a pattern look at all of it again and again.
_MAN_LINK = re.compile(r"linkgit:([\w.+-]{1,80})\[(\d\w{0,8})\]")
_LINK = re.compile(
    r"(?:link|xref|mailto):{1,2}([^\s\[]{1,300})\[([^\]\n]{0,300})\]"
    r"|(https?://[^\s\[\]]{1,300})\[([^\]\n]{0,300})\]|<<([^,<>\n]{1,100})(?:,([^<>\n]{0,300}))?>>"
)
_ATTRIBUTE_NAMES = {"nbsp": " ", "empty": "", "sp": " ", "apostrophe": "'", "plus": "+", "asterisk": "*", "litdd": "--"}
_ATTRIBUTE = re.compile(r"\{([a-z][\w-]*)\}")
_QUOTED = re.compile(r"(?<![\w`*_+'])(``|`|\*\*|\*|__|_|\+\+|\+|')(?=\S)([^\n]{1,200}?)(?<=\S)\1(?![\w`*_+'])")
#: "[tool.ruff]", "[[product]]", or "services:" over what is indented or a list
_SECTION = re.compile(
    r"^(?:\[{1,2}(?P<table>[^\[\]\n]{1,100})\]{1,2}[ \t]*(?:#.*)?$"
    r"|(?P<key>[\w\"'./-]{1,100}):[ \t]*(?:#.*)?\n(?=[ \t]+\S|- ))",
    re.MULTILINE,
)
#: A script of this many characters is looked at; more than half of them in lines of this many is no person's work.
_MIN_SCRIPT_CHARACTERS, _MAX_LINE_CHARACTERS = 2_000, 1_000


def read_plain(text: str) -> Content:
    """Read text as it is; as AsciiDoc if its head has two kinds of that markup or more."""
    head = text[:_HEAD_CHARACTERS]
    if sum(bool(sign.search(head)) for sign in _SIGNS_OF_ASCIIDOC) >= _MIN_SIGNS:
        return read_asciidoc(text)
    found: dict[int, Heading] = {}
    for heading in _headings(text):
        found.setdefault(heading.start, heading)
    return Content(text, headings=tuple(sorted(found.values())))


def _headings(text: str) -> Iterator[Heading]:
    for match in _UNDERLINED.finditer(text):
        yield Heading(match.start(), 1 + _PLAIN_UNDERLINES.index(match[3]), match[2].strip())
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


def read_asciidoc(source: str) -> Content:
    """Read AsciiDoc. The title is the document's, else the first section's."""
    fields, body, warnings = parse_front_matter(source)
    reader = _Reader()
    reader.read(body.split("\n"))
    content = reader.composer.content(metadata={name: text for name, text in fields.items() if name != "title"})
    return content._replace(title=fields.get("title") or content.first_heading, warnings=warnings)


class _Reader:
    """Goes through the lines once."""

    def __init__(self) -> None:
        self.composer = Composer()
        self._is_table = False

    def read(self, lines: list[str]) -> None:
        """Read blocks between fences whole; what is between them is paragraphs, titles and lists."""
        place = 0
        while place < len(lines):
            line = lines[place]
            fence = _FENCE.fullmatch(line)
            following = lines[place + 1] if place + 1 < len(lines) else ""
            if self._is_title(line, following):
                self.composer.heading(1 + _UNDERLINES.index(following[0]), self._inline(line))
                place += 2
            elif fence is not None:
                place = self._block(lines, place, fence[1])
            else:
                self._line(line)
                place += 1

    def _is_title(self, line: str, following: str) -> bool:
        is_underlined = bool(_UNDERLINE.fullmatch(following)) and line[:1].isalnum()
        return is_underlined and abs(len(following.rstrip()) - len(line.rstrip())) <= 2

    def _block(self, lines: list[str], place: int, fence: str) -> int:
        """Read a verbatim block whole, to its closing fence; of another, skip the fence alone."""
        if fence.startswith("|==="):
            self._is_table = not self._is_table
            self.composer.end_paragraph()
        if not fence.startswith((*_VERBATIM, _COMMENT)):
            self.composer.end_paragraph()
            return place + 1
        ends = (fence, "```") if fence[0] == "`" else (fence,)
        end = next((n for n in range(place + 1, len(lines)) if lines[n].rstrip() in ends), len(lines))
        if not fence.startswith(_COMMENT):
            self.composer.code("\n".join(lines[place + 1 : end]))
        return end + 1

    def _line(self, line: str) -> None:
        title, term, item = _TITLE.fullmatch(line), _TERM.fullmatch(line), _ITEM.fullmatch(line)
        if not line.strip() or line.strip() == _CONTINUATION or (_ATTRIBUTES.fullmatch(line) and not title):
            self.composer.end_paragraph()
        elif title is not None:
            self.composer.heading(len(title[1]), self._inline(title[2]))
        elif self._is_table and line.startswith("|"):
            self.composer.end_line()
            for cell in line.split("|")[1:]:
                self.composer.cell()
                self._words(cell)
        elif term is not None and "://" not in term[1]:
            self.composer.term(self._inline(term[1]))
            self._words(term[2] or "")
        elif item is not None:
            self.composer.item("- " if item[1] else "1. ")
            self._words(item[3])
        else:
            self._words(line)

    def _words(self, line: str) -> None:
        for text, target in self._pieces(line):
            if target:
                self.composer.link(target)
            self.composer.words(text)
        self.composer.words(" ")

    def _pieces(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield the text of a line cut at its links, each with the target of the link before it."""
        last = 0
        for link in _LINK.finditer(line := _MAN_LINK.sub(r"link:\1.txt[\1(\2)]", line)):
            yield self._inline(line[last : link.start()]), ""
            yield _link_text(link), link[1] or link[3] or f"#{link[5]}"
            last = link.end()
        yield self._inline(line[last:]), ""

    def _inline(self, text: str) -> str:
        text = _LINK.sub(_link_text, _MAN_LINK.sub(r"\1(\2)", text))
        text = _ATTRIBUTE.sub(lambda name: _ATTRIBUTE_NAMES.get(name[1], name[0]), text)
        return _QUOTED.sub(r"\2", text)


def _link_text(link: re.Match[str]) -> str:
    return next(text for number in (2, 4, 6, 5, 1, 3) if (text := link[number]))


def read_code(source: str) -> Content:
    """Read any language: the text alone."""
    return Content(source.expandtabs())


def read_script(source: str) -> Content:
    """Read a script as it is written. One that a program packed, in lines that no person writes, is no document."""
    packed = sum(len(line) for line in source.split("\n") if len(line) > _MAX_LINE_CHARACTERS)
    if len(source) > _MIN_SCRIPT_CHARACTERS and 2 * packed > len(source):
        raise NoDocumentError(
            f"it is a minified script: most of it is in lines of over {_MAX_LINE_CHARACTERS:,} characters"
        )
    return read_code(source)


def read_python(source: str) -> Content:
    """Read Python, with a heading for each class and function; what does not parse is text all the same."""
    text = source.expandtabs()
    try:
        with warnings.catch_warnings(action="ignore"):  # invalid escapes in strings
            tree = ast.parse(text)
        return Content(text, headings=tuple(_find_code_headings(tree, text)))
    except (MemoryError, *DAMAGE):  # nested beyond what the parser takes
        return Content(text)


def _find_code_headings(tree: ast.Module, text: str) -> Iterator[Heading]:
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    waiting: list[tuple[int, ast.stmt]] = [(1, node) for node in reversed(tree.body)]
    while waiting:
        level, node = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Heading(starts[first - 1], level, node.name)
            waiting += [(level + 1, inner) for inner in reversed(node.body)]


def read_configuration(source: str) -> Content:
    """Read YAML or TOML. Nothing is parsed, so that a broken file is text all the same."""
    text = source.expandtabs()
    found = ((match, match.lastgroup or "table") for match in _SECTION.finditer(text))
    return Content(text, headings=tuple(Heading(match.start(group), 1, match[group]) for match, group in found))
