"""Text put together piece by piece, as a reader walks through a file: white space, breaks, and what begins where."""

from collections.abc import Mapping

from triplebeam.ingest.text import Content
from triplebeam.passage import Heading, Link

_LINE, _PARAGRAPH = 1, 2
#: Headwords of definitions are headings below all others.
TERM_LEVEL = 7
_MAX_HEADING_CHARACTERS = 160


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

    def row(self) -> None:
        """Begin a row of a table."""
        self.end_line()

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
