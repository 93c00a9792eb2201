"""Which chains are shown as the reason why a passage was found: those that explain it to a reader.

A chain is shown if its facts have a word in common with the question, each of them says something, a name joins each to
the next, and

- it joins two documents: one of its facts is from elsewhere, and one is stated in the document of the passage found, or
  names that document by its title; or
- it is a single fact of that document about a name in the question.

A fact that only says that something is mentioned says nothing, nor does a bare "is" or "are", unless it is between two
names ("Ada Linde was Treasurer of Turku"). A title that several files share is no name: a fact about "Handbook" joins
no two handbooks. Everything else is hidden: no chain is better than a noisy one.

Where no chain is shown, and a link over a title, a topic or a rare term lists the passage above plain search, that link
is the reason: from which passage it starts, and through which name it leads. A term that is written like any other
word, or that is a part of two different names, is none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplebeam.explain.cross_references import DESCRIBED_IN, MENTIONS, CrossReferences, name_passage, telling_facts
from triplebeam.explain.passages import first_alike
from triplebeam.explain.snippet import Snippet, snippet, wanted_words
from triplebeam.index.folder.tables import title_keys
from triplebeam.index.source import Source
from triplebeam.passage import FILE_FIELDS, Passage
from triplebeam.ranking import Hit
from triplebeam.text.names import entity_key
from triplebeam.text.stop_words import ARTICLES, word_set
from triplebeam.text.terms import words_in
from triplebeam.triple import Chain, Triple

if TYPE_CHECKING:
    from triplebeam.index.folder.snapshot import Snapshot

#: What distinguishes a term from a word: a capital, a digit within (ext4), a sign within or before (dpkg.cfg, --force).
_LIKE_A_NAME = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|\w[_/.:@]\w|^(?:-|/|\.|\$)+\w")
#: How a passage writes a name: as code, or behind a word in small letters and perhaps other names.
_IN_CODE = r"`{name}`|(?:--|[$@/]){name}\b(?![_/-])|(?<![_/-])\b{name}\("
_IN_SENTENCE = r"\b[^\W\d_A-Z]+,? ((?:[^\W\d_a-z]\w*\.? )*{name}\b(?: [^\W\d_a-z]\w*)*)"
_BARE = ARTICLES | word_set("is was are were be been being am became become becomes remains remained")
_MENTION = words_in("mentions")
#: The lists of `blend` that follow links, and that of `rerank`.
_LINKS = ("titles", "owners", "terms", "bridge")


@dataclass(frozen=True)
class Explanation:
    """The chains that explain the hits of one question."""

    graph: "Snapshot" = field(repr=False)
    question: str
    _names: dict[str, bool] = field(default_factory=dict, init=False, repr=False)

    def chains(self, hit: Hit, passage: Passage) -> tuple[Chain, ...]:
        """Return those of a hit that are shown, in their order."""
        return tuple(chain for chain in hit.chains if self._explains(chain, passage.document_id))

    def links(self, hit: Hit, passage: Passage) -> tuple[Chain, ...]:
        """Find the link that was followed to a hit: the fact about its start, else what the start mentions."""
        ranks = dict(hit.found_by)
        linked = min((rank for part, rank in hit.found_by if part in _LINKS), default=0)
        if not hit.hops or ranks.get("plain", linked + 1) <= linked:
            return ()
        sender, name = self.graph.passages[hit.hops[0].passage_id], hit.hops[0].name
        for chain in hit.chains:
            if len(chain) == 1 and self._says_something(chain[0]) and _is_between(chain[0], name, sender.title):
                return (chain,)
        # The link of `rerank` comes first, that of a rare term last.
        is_term = "bridge" in ranks or ("terms" in ranks and not ranks.keys() & {"titles", "owners"})
        name = self._find_shared_name(name, sender, passage) if is_term else name
        if not name or entity_key(name) in title_keys(sender.title):
            return ()
        mention = Triple(name_passage(sender), MENTIONS, name)
        if entity_key(name) in title_keys(passage.title):
            return ((mention,),)
        if is_term and not words_in(name) <= words_in(name_passage(passage)):
            return ((mention, Triple(name_passage(passage), MENTIONS, name)),)
        return ((mention, Triple(name, DESCRIBED_IN, name_passage(passage))),)

    def _find_shared_name(self, term: str, sender: Passage, passage: Passage) -> str:
        """Find what two passages name by a term: code, a name within a sentence, or metadata; empty if it is a word."""
        if re.search(_IN_CODE.format(name=re.escape(term)), sender.text) or term.upper() == term.lower():
            return term
        whole = re.findall(_IN_SENTENCE.format(name=re.escape(term)), sender.text) if self._is_name(term) else []
        fields = [text for name, text in sender.metadata.items() if name not in FILE_FIELDS and term in text]
        there = " ".join((passage.title, passage.section, passage.text, *passage.metadata.values()))
        return next((name for name in (*whole, *fields) if name in there), "")

    def _explains(self, chain: Chain, document: str) -> bool:
        if not (
            self._wanted & words_in(" ".join(map(str, chain)))
            and all(map(self._says_something, chain))
            and all(self._join(*pair) for pair in pairwise(chain))
        ):
            return False
        from_elsewhere = [document not in self._documents(fact) for fact in chain]
        if any(from_elsewhere):
            titles = (end for end in _ends(chain[-1]) if document in self._find_titled(end))
            return not all(from_elsewhere) or any(map(self._is_name, titles))
        asked = (end for end in _ends(chain[0]) if f" {entity_key(end)} " in self._asked)
        return len(chain) == 1 and any(map(self._is_name, asked))

    def _says_something(self, fact: Triple) -> bool:
        keys = entity_key(fact.predicate).split()
        if keys and _BARE.issuperset(keys):
            return all(map(self._is_name, _ends(fact)))
        return bool(keys) and words_in(fact.predicate) != _MENTION

    def _join(self, before: Triple, after: Triple) -> bool:
        keys = set(map(entity_key, _ends(before)))
        return any(entity_key(end) in keys and self._is_name(end) for end in _ends(after))

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return wanted_words(self.question)

    @cached_property
    def _asked(self) -> str:
        return f" {entity_key(self.question)} "

    def _is_name(self, entity: str) -> bool:
        if entity not in self._names:
            self._names[entity] = self._looks_like_a_name(entity)
        return self._names[entity]

    def _looks_like_a_name(self, entity: str) -> bool:
        """Return whether the entity is written like a name, or is the title of one document; a number alone is none.

        Scripts without capitals are in doubt, and pass.
        """
        titled = self._find_titled(entity)
        files = {self.graph.passages.read_row(row).metadata.get("path", "") for row in titled.values()}
        if not any(map(str.isalpha, entity)) or len(files) > 1:
            return False
        cased = entity == entity.upper() or entity != entity.lower()
        return cased or bool(titled) or bool(_LIKE_A_NAME.search(entity))

    def _find_titled(self, entity: str) -> dict[str, int]:
        """Find the documents of that title, each with a row of its passages."""
        passages = self.graph.passages
        return {passages.documents[row]: row for row in passages.rows_by_title.get(entity_key(entity), ())}

    def _documents(self, fact: Triple) -> set[str]:
        """Find the documents that state a fact."""
        triples, numbers = self.graph.triples, self.graph.entities.numbers
        subject, object_ = (numbers.get(entity_key(end)) for end in _ends(fact))
        if subject is None or object_ is None:  # read by a model, and not in the index
            return set()
        both = np.intersect1d(triples.of_entity(subject), triples.of_entity(object_), assume_unique=True).tolist()
        rows = [int(triples.triple_passages[number]) for number in both if triples.triple(number) == fact]
        return {self.graph.passages.documents[row] for row in rows}


def _ends(fact: Triple) -> tuple[str, str]:
    return fact.subject, fact.object


def _is_between(fact: Triple, name: str, title: str) -> bool:
    """Return whether one end of the fact is the name, and the other what the title names."""
    here, there = map(entity_key, _ends(fact))
    key, titles = entity_key(name), title_keys(title)
    return (here == key and there in titles) or (there == key and here in titles)


class Explained(NamedTuple):
    """What explains a result."""

    chains: tuple[Chain, ...]
    snippet: Snippet
    stemmer: str
    like: str | None


def explain_hits(source: Source, question: str, hits: Sequence[Hit], passages: Sequence[Passage]) -> list[Explained]:
    """Explain the hits of a question, whose passages are given."""
    if not hits:
        return []
    starts = (hop.passage_id for hit in hits for hop in hit.hops[:1])
    graph = source.graph(passages=[*(hit.passage_id for hit in hits), *starts])
    explanation, references = Explanation(graph, question), CrossReferences(graph, question, passages)
    stemmers = find_stemmers(graph, [passage.id for passage in passages])
    alike = first_alike([each.text for each in passages])
    explained = []
    for place, (hit, passage) in enumerate(zip(hits, passages, strict=True)):
        chains = explanation.chains(hit, passage) or references.chains(place) or explanation.links(hit, passage)
        stemmer, first = stemmers[passage.id], alike[place]
        shown = snippet(passage, question, telling_facts(chains), stemmer)
        explained.append(Explained(chains, shown, stemmer, None if first is None else passages[first].id))
    return explained


def find_stemmers(source: Source, passage_ids: Sequence[str]) -> dict[str, str]:
    """Return the stemmer of each of these passages, by id, as its words were indexed."""
    rows = source.passages.rows(passage_ids)
    return dict(zip(passage_ids, source.passage_terms.stemmers_of(rows), strict=True))
