"""Facts of real passages, true and falsified, through the check of quotations: the figures of docs/evidence.md.

``quoted_facts.jsonl`` has facts as a careful reader notes them down, each with the id of its passage and the place of
its quotation there. The facts of the agent are those of the first draw in ``careful_reader``. The passages and the
triples that GPT-3.5 extracted are in the data folder. No passage of these was trained on. On half of the facts, chosen
by the ids of their passages, the least score of a claim was chosen; the other half is held out.
"""

import gzip
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from trials import FULL
from triplebeam.passage import Passage
from triplebeam.support import find_support, locate_fact
from triplebeam.support.claim import Claim, claim_of
from triplebeam.support.find import locate
from triplebeam.support.names import is_title, mentions
from triplebeam.support.page import page_of
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

pytestmark = [pytest.mark.slow, pytest.mark.data]
DATASETS = ("musique", "2wikimultihopqa", "hotpotqa")
#: Passages of each dataset that were not trained on, and how many of them are checked here: all take half an hour.
PASSAGES, CHECKED = 100, 10
LIGHT = ("is", "was", "are", "were", "be", "been", "became", "a", "an", "the", "has", "had", "in", "on", "at")
SYMMETRIC = ("marri", "wife", "husband", "spouse", "brother", "sister", "cousin", "divorc", "known as", "real name")


#: Falsified facts that their quotations state all the same: see docs/evidence.md.
STATED = {
    ("Valley girl", "is associated with the dialect of", "Valleyspeak"),
    ("Born a Lion", "performer", "Canadian rock band"),
    ("Auctor", "is", "Latin"),
    ("Sammy Hagar", "launched", "Cabo Wabo Tequila"),
    ("Donald Rumsfeld", "did not wish to name", "a non-CEO"),
    ("Nintendo Entertainment System", "abbreviated as", "NES"),
    ("New York Yankees", "played in", "Major League Baseball"),
    ("University of Zurich", "located in", "Switzerland"),
    ("Claude Autant-Lara", "was", "film director"),
    ("John Alton", "collaborated with", "Anthony Mann"),
    ("Queen Victoria's reign", "was a period of", "political change"),
    ("Rialto Bridge", "is located in", "Venice"),
    ("The Boatniks", "released", "1970"),
    ("Michael Bublé and Josh Groban", "is", "AC artists"),
    ('Andrew Joseph "Andy" Cohen', "full name", "Andy Cohen"),
    ("$72,641", "was", "mean household income in the United States"),
    ("$55,250", "was", "national median household income"),
    ("a significant tourist attraction", "is", "Rialto Bridge"),
    ("An Phú", "is a district in", "Mekong Delta region"),
    ("Colorado Rapids", "compete in", "Western Conference"),
    ("Navy SEALs", "named as", "Sea, Air, and Land Teams"),
    ("Sleep-and-charge USB ports", "is powered even when", "the computer is off"),
    ("real median household income in the United States", "recorded as", "$59,039"),
    ("$59,039", "was in 2016", "real median household income in the United States"),
    ("American film and television producer", "was", "Aaron Spelling"),
    ("American documentary filmmaker", "is", "Mary Mazzio"),
    ("Sacramento", "was founded by", "John Augustus Sutter, Jr."),
    ("Perarasu", "comes from", "Tamil Nadu"),
    ("Marvin Heemeyer", "inspired", "Leviathan"),
    ("Maysum", "married", "Muawiya"),
    ("an English politician", "was", "Henry Cavendish, 2nd Duke of Newcastle"),
}

#: Facts, by where they are from and whether they are held out: how many, the share of them that passes, and that of
#: those with another object, another predicate, and swapped ends.
TABLE = {
    ("read", False): (148, 89.2, 0.0, 1.4, 0.0),
    ("read", True): (147, 86.4, 1.4, 0.7, 2.9),
    ("agent", False): (65, 92.3, 1.6, 4.8, 0.0),
    ("agent", True): (66, 89.4, 1.5, 1.6, 0.0),
}


class Fact(NamedTuple):
    passage: Passage
    triple: Triple
    quotation: str = ""
    also: tuple[str, ...] = ()
    """Other objects of which the passage says the same."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


class Library:
    """Passages, the triples that GPT-3.5 extracted from them, and what readers noted down."""

    def __init__(self, folder: Path) -> None:
        self.passages: dict[str, Passage] = {}
        self.extracted: dict[str, list[Triple]] = defaultdict(list)
        self.samples: dict[str, list[Fact]] = {}
        self.sampled: list[Fact] = []
        for name in DATASETS:
            for row in rows(folder / name / "corpus.jsonl.gz"):
                self.passages[row["id"]] = Passage(row["id"], row["text"], row["title"])
            for row in rows(folder / name / "triples.gpt-3.5-turbo-1106.jsonl.gz"):
                whole = (Triple(*each) for each in row["triples"] if len(each) == 3 and all(each))
                self.extracted[row["passage_id"]] += whole
            gold = sorted({each for row in rows(folder / name / "questions.dev.jsonl.gz") for each in row["gold"]})
            chosen = Random(0).sample(gold, PASSAGES)
            self.sampled += [Fact(self.passages[key], each) for key in chosen for each in self.extracted[key]]
            self.samples[name] = [each for each in self.sampled if each.passage.id in chosen[:CHECKED]]
        self.read = [self._fact(json.loads(line)) for line in _fixture().read_text(encoding="utf-8").splitlines()]
        self.agent = self._of_the_agent()
        self.triples = defaultdict(list, {key: list(each) for key, each in self.extracted.items()})
        for fact in (*self.read, *self.agent):
            self.triples[fact.passage.id].append(fact.triple)

    def _fact(self, row: dict[str, Any]) -> Fact:
        passage = self.passages[row["passage_id"]]
        return Fact(passage, Triple(*row["triple"]), passage.text[row["start"] : row["end"]], (*row.get("also", ()),))

    def _of_the_agent(self) -> list[Fact]:
        """The facts of the recorded replies, each in the first passage found that has its quotation."""
        facts: dict[tuple[Triple, str, str], None] = {}
        for row in rows(Path(__file__).parent / "careful_reader" / "first.jsonl.gz"):
            found = [id_ for ids in (*row["searches"].values(), *row["walks"].values()) for id_ in ids]
            replies = (json.loads(each["reply"]) for each in row["replies"].values())
            for fact in (each for reply in replies for each in reply.get("facts", ())):
                quotation = fact["quotation"]
                id_ = next(each for each in found if locate(quotation, self.passages[each].text))
                facts[Triple(*fact["triple"]), id_, quotation] = None
        # Read with stop_when_stuck=no alone, it came last when falsified facts were marked; these depend on the order.
        in_order = sorted(facts, key=lambda fact: fact[0].subject == "Waterloo")
        return [Fact(self.passages[id_], triple, quotation) for triple, id_, quotation in in_order]

    def false(self, facts: list[Fact], kind: str) -> Iterator[Fact]:
        """Each fact with its object or its predicate replaced, or with its entities exchanged."""
        random = Random(0)
        for passage, triple, quotation, also in facts:
            others = self.triples[passage.id]
            entities = sorted({end for each in others for end in (each.subject, each.object)})
            false = {
                "object": [
                    triple._replace(object=end) for end in entities if end not in also and not overlap(end, *triple)
                ],
                "predicate": [
                    triple._replace(predicate=predicate)
                    for predicate in sorted({each.predicate for each in others})
                    if content(predicate) != content(triple.predicate)
                ],
                "swapped": [Triple(triple.object, triple.predicate, triple.subject)] * (not symmetric(triple)),
            }[kind]
            known = {tuple(map(entity_key, each)) for each in others}
            false = [each for each in false if tuple(map(entity_key, each)) not in known]
            chosen = random.choice(false) if false else None
            if chosen and tuple(chosen) not in STATED:
                yield Fact(passage, chosen, quotation)

    def about_titles(self) -> Iterator[tuple[Fact, Fact]]:
        """Extracted facts about others in sentences that do not name the title, each with the title as its subject."""
        for passage, triple, *_ in filter(is_held_out, self.sampled):
            page, false = page_of(passage.text, passage.title), triple._replace(subject=passage.title)
            known = {tuple(map(entity_key, each)) for each in self.triples[passage.id]}
            title = {word.folded for word in page.title_words}
            if (
                not triple.subject[:1].isupper()
                or title & set(entity_key(triple.subject).split())
                or overlap(passage.title, *triple)
                or overlap(triple.subject, passage.title, "", triple.object)
                or any(is_title(end, page) for end in (triple.subject, triple.object))
                or tuple(map(entity_key, false)) in known
            ):
                continue
            for sentence in page.sentences:
                words = page.words[sentence.start : sentence.stop]
                quotation = passage.text[words[0].start : words[-1].end]
                claims = [claim_of(each, page, words[0].start, words[-1].end) for each in (triple, false)]
                says = set(content(triple.predicate)) & {word.key[:5] for word in words}
                if says and not mentions(passage.title, page, sentence) and all(isinstance(c, Claim) for c in claims):
                    yield Fact(passage, triple, quotation), Fact(passage, false, quotation)
                    break


def is_held_out(fact: Fact) -> bool:
    return bool(zlib.crc32(fact.passage.id.encode()) % 2)


def _fixture() -> Path:
    return Path(__file__).with_name("quoted_facts.jsonl")


def overlap(entity: str, subject: str, _: str, object_: str) -> bool:
    keys = [entity_key(entity), entity_key(subject), entity_key(object_)]
    return any(keys[0] in key or key in keys[0] for key in keys[1:])


def content(predicate: str) -> list[str]:
    """The beginnings of the words that carry it: "criticising" is no other predicate than "criticised"."""
    return [word[:5] for word in entity_key(predicate).split() if word not in LIGHT]


def symmetric(triple: Triple) -> bool:
    return any(word in triple.predicate for word in SYMMETRIC)


def by_quotation(fact: Fact) -> bool:
    return locate_fact(fact.triple, fact.quotation, fact.passage) is not None


def by_search(fact: Fact) -> bool:
    return find_support(fact.triple, fact.passage) is not None


def share(check: Callable[[Fact], bool], facts: list[Fact]) -> float:
    return 100 * sum(map(check, facts)) / len(facts)


@pytest.fixture(scope="module")
def library(data: Path) -> Library:
    return Library(data)


@pytest.mark.parametrize(("facts", "held_out"), TABLE, ids=str)
def test_the_table_with_quotations(library: Library, facts: str, held_out: bool) -> None:
    true = [fact for fact in getattr(library, facts) if is_held_out(fact) == held_out]
    false = [list(library.false(true, kind)) for kind in ("object", "predicate", "swapped")]
    shares = [share(by_quotation, each) for each in (true, *false)]
    assert (len(true), *shares) == pytest.approx(TABLE[facts, held_out], abs=0.05)


def test_a_title_is_no_subject_of_what_is_said_of_others(library: Library) -> None:
    true, false = zip(*library.about_titles(), strict=True)
    assert len(true) == 137
    assert [sum(map(by_quotation, each)) for each in (true, false)] == [107, 20]  # of 21 before, 12 were true


@pytest.mark.parametrize("name", DATASETS if FULL else DATASETS[:1])
def test_triples_of_a_model_are_found(library: Library, name: str) -> None:
    assert share(by_search, library.samples[name]) >= 55


@pytest.mark.parametrize("kind", ["object", "predicate", "swapped"] if FULL else ["object"])
def test_falsified_triples_are_not(library: Library, kind: str) -> None:
    false = [fact for name in DATASETS for fact in library.false(library.samples[name], kind)]
    assert share(by_search, false) <= 4
