"""What a reader takes out of a file: decoded, put together piece by piece, or refused because the file is damaged."""

import codecs
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple

from triplebeam.errors import SourceError
from triplebeam.passage import Heading, Link

#: What the parser of a binary format lets through from the depths of a damaged file, beside its own errors: it trusts
#: the structure of the file, and a wrong byte surfaces as whatever stumbled over it first. The list was drawn up by
#: reading files with random bytes changed. ``OSError`` and ``MemoryError`` are the machine's, not the file's.
DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, TypeError, ValueError),
    RuntimeError,  # also RecursionError, NotImplementedError
    SyntaxError,  # lxml's XMLSyntaxError is one
    *(StopIteration, struct.error, zlib.error),
)
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: How HTML, XML, Python and editors declare it, in the first lines.
_DECLARED = re.compile(rb"(?:charset|coding|encoding)\s*[=:]\s*[\"']?([-\w.]{3,30})", re.IGNORECASE)
_HEAD_BYTES = 1024
#: For names of hosts, not for texts: decoding takes the square of their length.
_FOR_NAMES = ("punycode", "idna")
_WESTERN = "cp1252"
#: In Western languages letters with accents are single among others; elsewhere whole words are such bytes.
_FOREIGN_WORD = re.compile(rb"[\x80-\xff]{3,}")
_MAX_FOREIGN_SHARE = 0.1
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: Left behind by the program that wrote a file: "Microsoft Word - draft3.doc", "untitled", "paper.dvi", "(anonymous)".
_NOT_A_TITLE = re.compile(
    r"untitled.*|document\d*|word document|powerpoint presentation|title|\(.*\)|microsoft \w+ - .*|"
    r"\S+\.(?:docx?|tex|dvi|pdf|indd|qxd|rtf|odt|txt|html?|pptx?|xlsx?)",
    re.IGNORECASE,
)
#: Headwords of definitions are headings below all others.
TERM_LEVEL = 7
_LINE, _PARAGRAPH = 1, 2
_MAX_HEADING_CHARACTERS = 160


class Content(NamedTuple):
    """What a format's reader takes out of a file. An empty title stands for "none found"."""

    text: str
    title: str = ""
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    metadata: Mapping[str, str] = MappingProxyType({})
    warnings: tuple[str, ...] = ()
    """What of the file was not read as it may have been meant."""
    parts: tuple["Content", ...] = ()
    """The documents of a file of several, such as the rows of a table; then there is no other text."""

    @property
    def first_heading(self) -> str:
        """What a document without a title is called."""
        return self.headings[0].text if self.headings else ""


class NoDocumentError(SourceError):
    """A file of a kind that is read is no document all the same, and is skipped."""


@contextmanager
def report_damage(message: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise SourceError where a parser stumbles over a file: by ``errors`` of its own, or others."""
    try:
        yield
    except errors + DAMAGE as error:
        raise SourceError(f"{message} ({type(error).__name__}: {error})") from error


def clean_title(title: str | None) -> str:
    """Give the title of a file's properties on one line, or nothing where a program and not a person wrote it."""
    words = " ".join((title or "").split())
    is_name = any(character.isalpha() for character in words) and not _NOT_A_TITLE.fullmatch(words)
    return words if is_name else ""


def decode(data: bytes, encoding: str | None = None) -> str:
    """Decode text: in the encoding given, else as UTF-8, or what its first bytes declare, or what can only be meant.

    A text that is not UTF-8 is taken for UTF-16 where every other byte is zero, and for Windows-1252 (a superset of
    Latin-1) where the bytes beyond ASCII are single, as accented letters are in Western languages. Nothing else is
    guessed: a wrong guess is silent.
    """
    text = _decode_bytes(data, encoding)
    if "\0" in text:
        raise SourceError("it holds NUL characters, so it is no text; if it is, give its --encoding")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode_bytes(data: bytes, encoding: str | None) -> str:
    encoding = encoding or next((marked for mark, marked in _MARKS.items() if data.startswith(mark)), None)
    if encoding is not None:
        return _decode_as(data, encoding)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        guess = _find_declared_encoding(data) or _guess(data)
        if guess is None:
            raise SourceError(
                f"byte {error.start} is not UTF-8; save the file as UTF-8, or give its --encoding"
            ) from error
        return _decode_as(data, guess)


def _decode_as(data: bytes, encoding: str) -> str:
    try:
        if codecs.lookup(encoding).name in _FOR_NAMES:
            raise LookupError(encoding)
        return data.decode(encoding)
    except UnicodeError as error:
        raise SourceError(f"it is not in {encoding}; save the file as UTF-8, or give its --encoding") from error
    except LookupError as error:
        raise SourceError(f"there is no encoding {encoding!r}; save the file as UTF-8") from error


def _find_declared_encoding(data: bytes) -> str | None:
    declared = _DECLARED.search(data, 0, _HEAD_BYTES)
    if declared is None:
        return None
    name = declared[1].decode("ascii", "replace")
    try:
        is_text = codecs.lookup(name)._is_text_encoding
    except LookupError:
        return None
    return name if is_text and name.lower() not in ("utf-8", "utf8") else None


def _guess(data: bytes) -> str | None:
    head = data[: 64 * _HEAD_BYTES]
    if len(head) > 3 and len(data) % 2 == 0:
        for encoding, zeros, letters in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
            if zeros.count(0) > len(zeros) // 2 and letters.count(0) == 0:
                return encoding
    beyond_ascii = sum(byte > 127 for byte in head)
    foreign = sum(map(len, _FOREIGN_WORD.findall(head)))
    return None if _CONTROLS.search(head) or foreign > _MAX_FOREIGN_SHARE * beyond_ascii else _WESTERN


class Composer:
    """Takes words, breaks, code and headings in the order of the document, and knows the offset of each."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._break = 0
        self._space = False
        self._before = ""  # a bullet, or the bar between two cells, once there is text behind it
        self._glued = False
        self._cells = 0
        self._headings: list[Heading] = []
        self._links: list[tuple[int, str]] = []

    def words(self, text: str) -> None:
        """Add running text; white space of any kind is one space."""
        if not text:
            return
        words = " ".join(text.replace("\u00ad", "").split())
        self._space = self._space or text[0].isspace()
        if words:
            self._write(words)
            self._space = text[-1].isspace()

    def paragraph(self, text: str) -> None:
        """Add a paragraph, which keeps its lines."""
        self.end_paragraph()
        for line in text.split("\n"):
            self.line(line)
        self.end_paragraph()

    def line(self, text: str) -> None:
        """Add running text on a new line."""
        self.end_line()
        self.words(text)

    def code(self, text: str) -> None:
        """Add a block that keeps its lines and its indentation."""
        lines = [line.rstrip() for line in text.expandtabs().split("\n")]
        kept = "\n".join(lines).strip("\n")
        self.end_paragraph()
        if kept.strip():
            self._write(kept)
        self.end_paragraph()

    def heading(self, level: int, text: str, anchor: str = "") -> None:
        """Add a heading in a paragraph of its own."""
        self.end_paragraph()
        self._title(level, text, anchor)
        self.end_paragraph()

    def term(self, text: str, anchor: str = "", depth: int = 0) -> None:
        """Add the headword of a definition. What follows stays with it: there is no blank line between the two."""
        self.end_paragraph()
        self._title(TERM_LEVEL + depth, text, anchor)
        self.end_line()
        self._glued = True

    def _title(self, level: int, text: str, anchor: str) -> None:
        words = " ".join(text.split())
        if words:
            self._write(words)
            if len(words) <= _MAX_HEADING_CHARACTERS:
                self._headings.append(Heading(self._length - len(words), level, words, anchor))

    def item(self, bullet: str) -> None:
        """Begin an item of a list."""
        self.end_line()
        self._before = bullet

    def cell(self) -> None:
        """Begin a cell of the row; the first with text in it is at the beginning of the line."""
        self._before = "" if self._break or not self._length else " | "

    def open_cell(self) -> None:
        """Open a cell: until it is closed, breaks are spaces, and the row stays on one line."""
        self._cells += 1

    def close_cell(self) -> None:
        """Close the cell."""
        self._cells -= 1

    def link(self, target: str) -> None:
        """Begin a link here."""
        separator = max(self._break, self._space) if self._length else 0
        self._links.append((self._length + separator + len(self._before), target))

    def end_line(self) -> None:
        """End the line: what follows begins on a new one."""
        self._end(_LINE)

    def end_paragraph(self) -> None:
        """End the paragraph: what follows begins after a blank line."""
        self._end(_LINE if self._glued else _PARAGRAPH)

    def _end(self, lines: int) -> None:
        if self._cells:
            self._space = True
        else:
            self._break = max(self._break, lines)

    def _write(self, text: str) -> None:
        if self._break:
            separator = "\n" * self._break + self._before
        elif self._before:
            separator = self._before
        else:
            separator = " " if self._space else ""
        text = separator.lstrip("\n ") + text if not self._length else separator + text
        self._pieces.append(text)
        self._length += len(text)
        self._break, self._space, self._before = 0, False, ""
        self._glued = False

    def content(self, title: str = "", metadata: Mapping[str, str] | None = None) -> Content:
        """Return all of the content."""
        links = tuple(Link(min(start, self._length), target) for start, target in self._links)
        return Content("".join(self._pieces), title, tuple(self._headings), links, metadata or {})
