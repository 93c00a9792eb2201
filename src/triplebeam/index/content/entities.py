"""The entities of triples, which of them are topics of passages, and terms that passages define.

Names that have the same normal form are one entity. The topic of a passage is the most frequent subject of its triples.
Where a topic belongs to one passage, or to two or three, an entity that another passage mentions leads somewhere
definite, and walks from entity to entity find the next hop. Where everything is about the same few people or products,
they lead everywhere. `Ownership` is that difference as a number, and decides how much the default search relies on such
walks.

Terms that documents define are entities, too: the headwords and section titles of manuals, each with the passages that
define it. A heading names its section, and a line that begins with an option, a variable, a function or a setting is
about it. A term that more than ``MAX_PASSAGES`` define is none: every program has a ``--help``. Nor is a heading that
says what kind of text follows ("Introduction", "See also"), a question, or a single plain word. Only documents with
sections define anything: rows and plain text have none. A passage refers to one in another document where it links
there, or names a term that is defined there.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.extract.extractor import KEYWORDS_MARK
from triplebeam.index.source import Ownership
from triplebeam.passage import Passage, strip_number
from triplebeam.text.names import entity_key, strip_article
from triplebeam.text.stop_words import word_set
from triplebeam.triple import Triple

#: The most passages that a topic belongs to.
MAX_OWNERS = 3
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
#: Where references are stored, in the order of the passages that refer.
REFERENCES = "passage_references"
#: In the place of a term, where there is a link.
LINK = -1


def number_entities(triples: Iterable[Triple], others: Iterable[str] = ()) -> tuple[list[str], NDArray[np.int64]]:
    """Assign a number to each entity, by its first name; returns the two of every triple, too: subject and object.

    Behind those of triples come ``others``, of which no triple says anything.
    """
    numbers: dict[str, int] = {}
    names: list[str] = []

    @cache
    def number(name: str) -> int:
        key = entity_key(name)
        if key not in numbers:
            numbers[key] = len(numbers)
            names.append(name)
        return numbers[key]

    ends = [(number(triple.subject), number(triple.object)) for triple in triples]
    for other in others:
        number(other)
    return names, np.array(ends, np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Topics:
    """The topic of every passage, read off its triples."""

    triple_entities: NDArray[np.int64] = field(repr=False)
    """Subject and object of every triple."""
    triple_passages: NDArray[np.int64] = field(repr=False)
    passages: int
    entities: int

    @cached_property
    def of_passages(self) -> NDArray[np.int64]:
        """The most frequent subject of each passage, the one of lower number between equals; -1 without triples."""
        keys = self.triple_passages * self.entities + self.triple_entities[:, 0]
        pairs, counts = np.unique(keys, return_counts=True)
        rows, subjects = np.divmod(pairs, max(self.entities, 1))
        order = np.lexsort((subjects, -counts, rows))
        found, first = np.unique(rows[order], return_index=True)
        topics = np.full(self.passages, -1)
        topics[found] = subjects[order][first]
        return topics

    @cached_property
    def passage_counts(self) -> NDArray[np.int64]:
        """How many passages have each entity as their topic."""
        return np.bincount(self.of_passages[self.of_passages >= 0], minlength=self.entities).astype(np.int64)

    def list_owned(self, most: int) -> NDArray[np.int64]:
        """List topics that at most ``most`` passages have, each with one of their rows, in the order of rows."""
        rows = np.flatnonzero(self.of_passages >= 0)
        rows = rows[self.passage_counts[self.of_passages[rows]] <= most]
        return np.stack([self.of_passages[rows], rows], axis=1)

    def measure_ownership(self) -> Ownership:
        """Measure topic ownership over all passages; 0 where there are none."""
        own = self.of_passages[self.of_passages >= 0]
        return Ownership(exclusive=np.count_nonzero(self.passage_counts[own] <= MAX_OWNERS) / max(self.passages, 1))


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
    for _, group in groupby(passages, key=lambda numbered: numbered[1].document_id):
        document = list(group)
        if not any(passage.section for _, passage in document):
            continue
        for row, term in ((row, term) for row, passage in document for term in find_defined_terms(passage)):
            key = entity_key(term)
            if len(key) >= _MIN_KEY_CHARACTERS:
                names.setdefault(key, term)
                rows.setdefault(key, {})[row] = None
    return {key: Definition(names[key], tuple(places)) for key, places in rows.items() if len(places) <= MAX_PASSAGES}


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


def find_references(
    documents: Sequence[str],
    names: Iterable[tuple[int, str]],
    defined: Mapping[str, Definition],
    numbers: Mapping[str, int],
    links: Iterable[tuple[int, int]],
) -> NDArray[np.int64]:
    """Find references as rows of three: a passage, the passage it refers to, and the number of the term or ``LINK``.

    A document that defines a term itself means its own. A link to where a named term is defined says nothing more.
    """
    named: set[tuple[int, int, int]] = set()
    for here, name in names:
        definition = defined.get(key := entity_key(name))
        if definition is None or not definition.is_named(name):
            continue
        if documents[here] not in {documents[row] for row in definition.rows}:
            named |= {(here, there, numbers[key]) for there in definition.rows}
    joined = {(here, there) for here, there, _ in named}
    linked = {(here, there, LINK) for here, there in links if documents[here] != documents[there]}
    found = named | {link for link in linked if link[:2] not in joined}
    return np.array(sorted(found), np.int64).reshape(-1, 3)
