"""A document and the passages it is cut into: what is searched, ranked and quoted."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple, Protocol


class Heading(NamedTuple):
    """Where a section of a document begins, how deep it is (1 for a chapter), and the anchors of links to it, with
    spaces between them.
    """

    start: int
    level: int
    text: str
    anchor: str = ""


class Link(NamedTuple):
    """A link out of a document: where in its text, and the id of the document it leads to, with ``#anchor`` if any."""

    start: int
    target: str


#: The most tokens a passage has, unless the user sets another number.
PASSAGE_TOKENS = 200
#: A title that more passages of an index have than this says nothing about each of them.
SHARED_TITLE = 5
#: Of the metadata of a file, what comes from the file system; it may change while the document does not.
FILE_FIELDS = frozenset(("path", "type", "modified"))
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?")
_NUMBER_OF_HEADING = re.compile(
    r"(?:(?:chapter|appendix|section|part)\s+)?(?:(?:\d+|[a-z](?=\.\d))(?:\.\d+)*|[a-z](?=[.:)]))[.:)]?\s+(?:[-–—]\s+)?",
    re.IGNORECASE,
)
_MAX_NAME_CHARACTERS = 100
_LETTER = re.compile(r"[^\W\d_]")
#: In English, whatever the system's language is.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One source text, as its reader returned it. Passages point into ``text`` by character offsets."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    is_passage: bool = False
    """The document is a passage already (a line of JSON, a BEIR row) and is not cut unless the user asks for it."""
    headings: tuple[Heading, ...] = ()
    """In the order of the text, in which they appear too."""
    links: tuple[Link, ...] = ()
    """Links to other files, and to anchors of this one. Whether there is such a document is known to the index."""
    source: str = ""
    """The file it was read from, by its name in the index; empty for a text that was in no file."""
    warnings: tuple[str, ...] = ()
    """What of the file was not read as it may have been meant: for whoever indexes it, not for the index."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document. Its id comes from the document, never from a hash of the text."""

    id: str
    text: str
    title: str = ""
    document_id: str = ""
    position: int = 0
    start: int = 0
    end: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)
    section: str = ""
    """The headings above the passage, as in ``Managing packages › Uploading``; without the document's title."""

    @property
    def searchable(self) -> str:
        """The whole text: the title, the section, then the passage."""
        return "\n".join(filter(None, (self.title, self.section, self.text)))

    def format_for_embedding(self, shared_titles: Collection[str] = ()) -> str:
        """Return the text to embed: the title, unless too many passages share it, the section, then the passage."""
        return replace(self, title="").searchable if self.title in shared_titles else self.searchable

    @property
    def date(self) -> str:
        """The day it is from, as ``2024-05-03``: that of its metadata, else one in its title; empty without any."""
        own = (value.strip() for name, value in self.metadata.items() if name not in FILE_FIELDS)
        days = filter(None, map(_day, (*own, *_DATE.findall(self.title))))
        return next((day.isoformat() for day in days), "")

    @property
    def origin(self) -> str:
        """Where it is from: the section, and names and dates of its metadata, as in ``source: The Age``."""
        shown = (f"{name}: {value}" for name, value in self.metadata.items() if _is_telling(name, value))
        return "; ".join(filter(None, (self.section, *shown)))

    @property
    def term_text(self) -> str:
        """The text that goes into the term index: names in the metadata, and the title twice."""
        return "\n".join(filter(None, (*metadata_terms(self.metadata), self.title, self.searchable)))


class Passages(Protocol):
    """Texts by id: an open index is one."""

    def __getitem__(self, passage_id: str, /) -> Passage:
        """Return the passage of that id."""
        ...


def strip_number(heading: str) -> str:
    """Return the heading without its number: ``Main configuration`` of ``Chapter 14 - Main configuration``."""
    return heading[numbered.end() :] if (numbered := _NUMBER_OF_HEADING.match(heading)) else heading


def metadata_terms(metadata: Mapping[str, str]) -> Iterator[str]:
    """Return what goes into the term index: dates in words, and names twice, as the words of a title.

    "What did TechCrunch report in October 2023?" names a source and a date, which stand in the fields of a row and not
    in its text. Fields of the file system say nothing that a question asks for.
    A name is a short text; an address, a number or a whole text in a field is none.
    """
    for value in (value for name, value in metadata.items() if _is_telling(name, value)):
        day = _day(value.strip())
        yield f"{_MONTHS[day.month - 1]} {day.day} {day.year}" if day else f"{value}\n{value}"


def _is_telling(name: str, value: str) -> bool:
    """Is a field of the metadata a name or a date that a question may ask for?"""
    is_name = len(value) <= _MAX_NAME_CHARACTERS and _LETTER.search(value) and "://" not in value
    return name not in FILE_FIELDS and bool(is_name or _day(value.strip()))


def _day(value: str) -> date | None:
    match = _DATE.fullmatch(value)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None
