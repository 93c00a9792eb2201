"""Chains of triples that lead from passage to passage: the skeletons of multi-hop questions.

A chain goes from a start over bridges to an answer, a triple and a passage per hop, always from subject to object: the
other way round ("what is also in Tokyo?") has many answers. Its conditions:

- The start and the bridges are names (no date, number, pronoun or common noun) that occur in few passages. A bridge of
  one word is also the title of one of the two passages it joins: "Peter" in two passages is seldom the same person. A
  title such as "Mercury (planet)" says that the name has several bearers, so it is no bridge. The answer is a short
  name, or a few words with a date or a number in them.
- A hop's passage is about the hop's subject: its title, or the subject of two triples and of no fewer than any other.
  What a passage says in passing makes strange questions.
- A hop is the only one of its kind: no triple says the same predicate of the same subject and another object.
- A passage names the two ends of its own hop and no other entity of the chain, so that none holds two hops; nor does
  any passage with a triple about the start name the answer.
- No entity comes twice, and none is part of another's name, which would give it away.

Chains are sampled with a seed, their lengths in turn. An entity starts one chain, a triple is part of one, a passage
of few. The graph is read once into dictionaries: fast enough up to some million triples.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.support.names import is_date
from triplebeam.text.names import entity_key, strip_article, strip_qualifier
from triplebeam.text.stop_words import ARTICLES, PRONOUNS, word_set
from triplebeam.triple import Triple

#: The most passages with a triple about an entity that is still specific. Countries, genres and years have more.
MAX_PASSAGES = 10
#: The most chains that a passage is part of.
MAX_CHAINS = 3
_MAX_NAME_WORDS = 8
_MAX_ANSWER_WORDS = 6
_NO_NAMES = PRONOUNS | word_set("i we you me us this that these those who what there someone")


class GoldChain(NamedTuple):
    """One triple and one passage per hop; ``entities`` are the start, the bridges and the answer, in order."""

    triples: tuple[Triple, ...]
    passages: tuple[str, ...]
    entities: tuple[str, ...]

    @property
    def start(self) -> str:
        """The entity that a question names."""
        return self.entities[0]

    @property
    def bridges(self) -> tuple[str, ...]:
        """The entities that a question must not name."""
        return self.entities[1:-1]

    @property
    def answer(self) -> str:
        """The far end."""
        return self.entities[-1]


def sample_chains(index: Snapshot, *, seed: int = 0, hops: Sequence[int] = (2, 3)) -> Iterator[GoldChain]:
    """Sample chains under the conditions above, in an order given by the seed, until there are no more."""
    if not hops or min(hops) < 2:
        raise BadInputError(f"chains of {list(hops)} hops cannot be sampled: each needs two or more.")
    sampler = _Sampler(_Graph(index))
    walkers = [sampler.chains(length, np.random.default_rng([seed, length])) for length in dict.fromkeys(hops)]
    while walkers:
        for walker in list(walkers):
            chain = next(walker, None)
            if chain is None:
                walkers.remove(walker)
            else:
                yield chain


def explain_no_chains(index: Snapshot) -> str:
    """Explain what an index without a chain lacks, as far as counts show."""
    graph = _Graph(index)
    if not graph.triples:
        return "it holds no triples: index again with --extractor local or llm"
    if len(graph.subjects) == 1:
        return "all its triples come from one passage: index more documents, or cut them into shorter passages"
    joints = [key for key, passages in graph.about.items() if len(passages) > 1]
    if not joints:
        return "no two of its passages share an entity: index documents that speak of the same things"
    few = sum(len(graph.about[key]) <= MAX_PASSAGES for key in joints)
    return (
        f"of the {len(joints)} entities that join two passages or more, {few} occur in at most {MAX_PASSAGES}, and"
        " none of these is a name that clearly leads from one passage to the next: index more documents about"
        " the same things"
    )


def normalize_text(text: str) -> str:
    """Return a text in the normal form of entities, between spaces."""
    return f" {entity_key(text)} "


def is_named(name: str, text: str) -> bool:
    """Return whether a text in normal form has the name, as whole words; articles and brackets are optional."""
    return f" {_core(name)} " in text


@lru_cache(maxsize=100_000)
def _core(name: str) -> str:
    return strip_article(entity_key(strip_qualifier(name) or name))


def _overlap(one: str, other: str) -> bool:
    return is_named(one, normalize_text(other)) or is_named(other, normalize_text(one))


@lru_cache(maxsize=100_000)
def _is_name(name: str) -> bool:
    """Return whether a name begins and ends with a capital or a digit, has a letter, is short and no date."""
    words = [word for word in name.split() if word.casefold() not in ARTICLES]
    if not words or len(words) > _MAX_NAME_WORDS or words[0].casefold() in _NO_NAMES or is_date(name):
        return False
    return any(c.isalpha() for c in name) and all(_is_prominent(word) for word in (words[0], words[-1]))


def _is_prominent(word: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in word) or not any(c.islower() for c in word)


def _is_answer(name: str) -> bool:
    return len(name.split()) <= _MAX_ANSWER_WORDS and (_is_name(name) or any(c.isdigit() for c in name))


class _Graph:
    """The triples of an index by what they hang together by."""

    def __init__(self, index: Snapshot) -> None:
        self._table = index.passages
        self.triples = [index.triples.triple(number) for number in range(len(index.triples))]
        self.passages = index.triples.passage_of(np.arange(len(self.triples)))
        #: Triples by their subject, passages by the entities they have a triple about, subjects by passage.
        self.leaving: dict[str, list[int]] = defaultdict(list)
        self.about: dict[str, dict[str, None]] = defaultdict(dict)
        self.subjects: dict[str, Counter[str]] = defaultdict(Counter)
        for number, (triple, passage) in enumerate(zip(self.triples, self.passages, strict=True)):
            subject = entity_key(triple.subject)
            self.leaving[subject].append(number)
            self.subjects[passage][subject] += 1
            for key in (subject, entity_key(triple.object)):
                self.about[key][passage] = None

    def is_specific(self, name: str) -> bool:
        """Return whether few passages name it."""
        return _is_name(name) and len(self.about[entity_key(name)]) <= MAX_PASSAGES

    def is_clear(self, number: int) -> bool:
        """Return whether a triple's passage is about its subject, and no other triple says the same of another."""
        triple, passage = self.triples[number], self.passages[number]
        subject, predicate = entity_key(triple.subject), entity_key(triple.predicate)
        counts = self.subjects[passage]
        if counts[subject] < max(2, *counts.values()) and _core(self.title(passage)) != _core(triple.subject):
            return False
        alike = (self.triples[other] for other in self.leaving[subject])
        return len({entity_key(each.object) for each in alike if entity_key(each.predicate) == predicate}) == 1

    def title(self, passage: str) -> str:
        """Return a passage's title."""
        return self._table[passage].title

    @lru_cache(maxsize=20_000)  # noqa: B019 - a graph lives no longer than the sampling of its chains
    def text(self, passage: str) -> str:
        """Return a passage with its title, in normal form."""
        return normalize_text(self._table[passage].searchable)


@dataclass(frozen=True)
class _Sampler:
    """Samples chains, and remembers what is already part of one."""

    graph: _Graph
    passages: Counter[str] = field(default_factory=Counter)
    triples: set[Triple] = field(default_factory=set)
    starts: set[str] = field(default_factory=set)

    def chains(self, hops: int, random: np.random.Generator) -> Iterator[GoldChain]:
        """Yield chains of one length."""
        for number in random.permutation(len(self.graph.triples)).tolist():
            start = self.graph.triples[number].subject
            if entity_key(start) in self.starts or not self.graph.is_specific(start):
                continue
            chain = next(self._grow_chain(GoldChain((), (), (start,)), [number], hops, random), None)
            if chain is not None:
                self.passages.update(chain.passages)
                self.triples.update(chain.triples)
                self.starts.add(entity_key(start))
                yield chain

    def _grow_chain(
        self, chain: GoldChain, numbers: Sequence[int], hops: int, random: np.random.Generator
    ) -> Iterator[GoldChain]:
        """Yield the whole chains that go on from this one by one of the triples."""
        for number in numbers:
            longer = self._add_hop(chain, number)
            if longer is None:
                continue
            if len(longer.triples) == hops:
                if _is_answer(longer.answer) and not self._start_tells(longer):
                    yield longer
            elif self.graph.is_specific(longer.answer):
                onward = random.permutation(self.graph.leaving[entity_key(longer.answer)]).tolist()
                yield from self._grow_chain(longer, onward, hops, random)

    def _add_hop(self, chain: GoldChain, number: int) -> GoldChain | None:
        """Return the chain with one hop more, if that hop is one to take."""
        triple, passage = self.graph.triples[number], self.graph.passages[number]
        if passage in chain.passages or self.passages[passage] >= MAX_CHAINS or triple in self.triples:
            return None
        if not _is_name(triple.subject) or not self.graph.is_clear(number):
            return None
        if chain.passages and not self._is_bridge(triple.subject, (chain.passages[-1], passage)):
            return None
        if any(_overlap(triple.object, entity) for entity in chain.entities):
            return None
        if not self._is_needed(chain, triple, passage):
            return None
        return GoldChain((*chain.triples, triple), (*chain.passages, passage), (*chain.entities, triple.object))

    def _is_bridge(self, bridge: str, passages: tuple[str, str]) -> bool:
        """Return whether two passages can be trusted to mean one thing by a name."""
        titles = [self.graph.title(passage) for passage in passages]
        if any(strip_qualifier(title) != title and _core(title) == _core(bridge) for title in titles):
            return False
        return " " in entity_key(bridge) or entity_key(bridge) in map(entity_key, titles)

    def _is_needed(self, chain: GoldChain, triple: Triple, passage: str) -> bool:
        """Return whether it names the ends of its hop and no earlier one, and no earlier passage names the new end."""
        text = self.graph.text(passage)
        return (
            is_named(triple.subject, text)
            and is_named(triple.object, text)
            and not any(is_named(entity, text) for entity in chain.entities[:-1])
            and not any(is_named(triple.object, self.graph.text(earlier)) for earlier in chain.passages)
        )

    def _start_tells(self, chain: GoldChain) -> bool:
        """Return whether a passage about the start names the answer: then one hop is enough."""
        about = self.graph.about[entity_key(chain.start)]
        return any(is_named(chain.answer, self.graph.text(passage)) for passage in about)
