"""How the hits of a question refer to each other across documents, in words.

Manuals have few facts, but they say where to read on: one page names ``batch_max``, or links to a section, and another
page defines it. A hit that defines a term of the question is explained by that, and one to which the first hit refers,
or which refers to the first, by the reference. References between other hits are left out: most of them are beside the
point.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from triplebeam.index.content.entities import LINK, find_defined_terms, is_code
from triplebeam.index.folder.tables import title_keys
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key
from triplebeam.triple import Chain, Triple

if TYPE_CHECKING:
    from triplebeam.index.folder.snapshot import Snapshot

#: What a chain says of a reference.
MENTIONS, DESCRIBED_IN, LINKS_TO = "mentions", "is described in", "links to"


@dataclass(frozen=True)
class CrossReferences:
    """Those among the hits of one question, best first."""

    graph: "Snapshot" = field(repr=False)
    question: str
    hits: Sequence[Passage] = field(repr=False)

    def chains(self, place: int) -> tuple[Chain, ...]:
        """Find what explains a hit: a term of the question, else a reference between it and the first hit."""
        passage, first = self.hits[place], self.hits[0]
        found = chain(self._asked_for(passage), self._refers(first, passage), self._refers(passage, first))
        return tuple(islice(found, 1))

    def _asked_for(self, passage: Passage) -> Iterator[Chain]:
        for term in find_defined_terms(passage):
            if entity_key(term) in self.graph.entities.numbers and self._is_asked(term):
                yield (Triple(term, DESCRIBED_IN, name_passage(passage)),)

    def _is_asked(self, term: str) -> bool:
        """Return whether a term is asked for. A name in code must be written as it is: *force* is not ``--force``."""
        if is_code(term):
            return _bare(term) in self._asked_code
        return f" {entity_key(term)} " in f" {entity_key(self.question)} "

    @cached_property
    def _asked_code(self) -> frozenset[str]:
        return frozenset(_bare(word) for word in self.question.split() if is_code(_bare(word)))

    def _refers(self, source: Passage, target: Passage) -> Iterator[Chain]:
        for term in self._terms_between(*self.graph.passages.rows((source.id, target.id))):
            if term == LINK:
                yield (Triple(name_passage(source), LINKS_TO, name_passage(target)),)
            # Where the question names an option or the like, a reference to another says nothing.
            elif not self._asked_code or self._is_asked(self.graph.entities.names[term]):
                name = self.graph.entities.names[term]
                yield Triple(name_passage(source), MENTIONS, name), Triple(name, DESCRIBED_IN, name_passage(target))

    def _terms_between(self, here: int, there: int) -> list[int]:
        """Find the terms of the references from one row to another."""
        references = self.graph.references
        start, end = np.searchsorted(references[:, 0], [here, here + 1])
        terms: list[int] = references[start:end][references[start:end, 1] == there, 2].tolist()
        return terms


def _bare(word: str) -> str:
    """Strip the punctuation of the sentence it is in."""
    bare = word.casefold().lstrip("`'\"“‘([").rstrip("`'\"”’].,;:!?")
    return bare if bare.endswith("()") else bare.rstrip(")")


def telling_facts(chains: Iterable[Chain]) -> Iterator[Triple]:
    """Yield what of chains the passage may say itself: their last facts; of a reference, the term without headings."""
    for *_, last in chains:
        if last.predicate == DESCRIBED_IN:
            yield last._replace(object="")
        elif last.predicate != LINKS_TO:
            yield last


def is_made_by(passage: Passage, fact: Triple) -> bool:
    """Return whether a fact says of a passage what it refers to, or what it describes."""
    own = fact.object if fact.predicate == DESCRIBED_IN else fact.subject
    return fact.predicate in (MENTIONS, DESCRIBED_IN, LINKS_TO) and own == name_passage(passage)


def describe_hop(passage: Passage, chains: Iterable[Chain], own: Container[Triple]) -> str:
    """Return which hop leads to a passage, such as "second hop: through William Herschel from Uranus"; empty if none.

    ``own`` are the facts of the passage itself, which are no hop.
    """
    for chain_ in chains:
        fact, last = chain_[-2:][0], chain_[-1]
        ends = title_keys(passage.title) if fact is last else [entity_key(last.subject), entity_key(last.object)]
        for name, start in ((fact.subject, fact.object), (fact.object, fact.subject)):
            if fact not in own and entity_key(name) in ends:
                number = {1: "second", 2: "second", 3: "third"}.get(len(chain_), f"{len(chain_)}th")
                return f"{number} hop: through {name} from {start}"
    return ""


def name_passage(passage: Passage) -> str:
    """Write title and section, without the name of the manual that some titles end with: ``borg init — Borg 1.2``."""
    title, _, _ = passage.title.partition(" — ")
    return " › ".join(filter(None, (title or passage.id, passage.section)))
