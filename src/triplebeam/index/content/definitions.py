"""Terms that documents define: the headwords and section titles of manuals, each with the passages that define it.

A heading names its section, and a line that begins with an option, a variable, a function or a setting is about it. A
term that more than ``MAX_PASSAGES`` define is none: every program has a ``--help``. Nor is a heading that says
what kind of text follows ("Introduction", "See also"), a question, or a single plain word. Only documents with sections
define anything: rows and plain text have none.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from triplebeam.extract.extractor import KEYWORDS_MARK
from triplebeam.ingest.split import strip_number
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key, strip_article
from triplebeam.text.stop_words import word_set

#: A term that more passages define is defined nowhere in particular.
MAX_PASSAGES = 3
_MIN_KEY_CHARACTERS, _MAX_WORDS = 3, 8
#: What is written as no word is: ``--force``, ``$domain``, ``?installed``, ``batch_max``, ``APT::Get``, ``fork()``.
#: Signs join parts to one name: ``pg_stat_statements.save`` is no ``pg_stat_statements``.
_JOINED = r"(?:(?:::|[./-])\w+)*"
_CODE = (
    rf"(?:--?[A-Za-z][\w-]+{_JOINED}|\$\{{?[A-Za-z]\w+{_JOINED}|\?[a-z][\w-]+"
    rf"|(?=[\w./-]*(?:::|_)\w)[A-Za-z]\w*{_JOINED}|[A-Za-z]\w*\(\))"
)
_IS_CODE = re.compile(_CODE)
_LINE = re.compile(
    rf"^(?:(?:Option|Variable|Command|Function|Setting): )?({_CODE})(?=$| \| |,? (?:-|<|\[))", re.MULTILINE
)
_ALTERNATIVES = re.compile(r",\s+|\s+/\s+|\s+or\s+")
_BEHIND = re.compile(r"\s*(?:\([^()]*\)|=.*)$")
_GENERIC = word_set(
    "a about also an and appendix arguments author authors available background basic bugs change changes chapter "
    "command commands common conclusion configuration contents copyright description details documentation "
    "environment example examples faq features files for format further general getting history how important in "
    "index information installation installing introduction issues license line list log main miscellaneous more "
    "name names new note notes of on option options other output overview parameters part private problems quick "
    "reading reference references release requirements return section see settings start started summary support "
    "synopsis table terms the this to topics usage use using value values variables version warning what with"
)


class Definition(NamedTuple):
    """A term as its heading has it, and the rows of the passages that define it."""

    name: str
    rows: tuple[int, ...]

    def is_named(self, name: str) -> bool:
        """Return whether a name with the same normal form means this term. ``ACL`` is not the option ``-acl``."""
        return not is_code(self.name) or name.casefold() == self.name.casefold()


def find_local_definitions(passages: Iterable[Passage], extractors: Iterable[str]) -> dict[str, Definition]:
    """Find the definitions in passages that the local extractor has read, by normal form; rows count all passages.

    A language model's graph is made of its triples alone, as in the papers.
    """
    return find_definitions(
        (row, passage)
        for row, (passage, extractor) in enumerate(zip(passages, extractors, strict=True))
        if extractor.startswith("local:") and KEYWORDS_MARK not in extractor
    )


def find_definitions(passages: Iterable[tuple[int, Passage]]) -> dict[str, Definition]:
    """Find definitions by the normal form of the term. Passages come with their rows, those of a document together."""
    names: dict[str, str] = {}
    rows: dict[str, dict[int, None]] = {}
    for row, term in _list_definitions(passages):
        key = entity_key(term)
        if len(key) >= _MIN_KEY_CHARACTERS:
            names.setdefault(key, term)
            rows.setdefault(key, {})[row] = None
    return {key: Definition(names[key], tuple(places)) for key, places in rows.items() if len(places) <= MAX_PASSAGES}


def _list_definitions(passages: Iterable[tuple[int, Passage]]) -> Iterator[tuple[int, str]]:
    for _, group in groupby(passages, key=lambda numbered: numbered[1].document_id):
        document = list(group)
        if any(passage.section for _, passage in document):
            yield from ((row, term) for row, passage in document for term in find_defined_terms(passage))


def find_defined_terms(passage: Passage) -> list[str]:
    """Find the terms that a passage defines, each once: those of its innermost heading, and those that begin a line."""
    heading = passage.section.rsplit(" › ", 1)[-1]
    return list(dict.fromkeys([*parse_heading_terms(heading), *(match[1] for match in _LINE.finditer(passage.text))]))


def parse_heading_terms(heading: str) -> list[str]:
    """Parse what a heading names: every option of ``-d, --download-only``, or the text without number and article."""
    title = strip_number(heading)
    if code := [match[0] for part in _ALTERNATIVES.split(title) if (match := _IS_CODE.match(part))]:
        return code
    title = _BEHIND.sub("", strip_article(title))
    words = entity_key(title).split()
    is_name = 2 <= len(words) <= _MAX_WORDS and not title.endswith(("?", ":", "!"))
    return [title] if is_name and any(word.isalpha() and word not in _GENERIC for word in words) else []


def is_code(term: str) -> bool:
    """Return whether the term is code, written as no word is."""
    return _IS_CODE.fullmatch(term) is not None
