"""Claims from the bank, true and falsified, as the check would put them to the model.

True are the triples, in the sentence that shares most words with the predicate; the same facts in other words
(``paraphrases.json``), the other way round, or in the sentence's own words; and negated facts in negated sentences.
False are triples with another predicate (of the passage, of the same sentence, of any passage, a contrary one), with
their ends swapped, with another entity of the sentence as subject or object, with the title as a subject that the
sentence is not about, with a negation in the fact or in the sentence, or in a sentence that names both ends but has no
word of the predicate. Only claims whose ends are named are made: the others never come to the model.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from triplebeam.ingest.word_set import word_set

_TABLE = json.loads(Path(__file__).with_name("paraphrases.json").read_text(encoding="utf-8"))
SAME, INVERSE, CONTRARY, SYMMETRIC = (_TABLE[part] for part in ("same", "inverse", "contrast", "symmetric"))
PARAPHRASES = sorted({each for table in (SAME, INVERSE) for line in table.values() for each in line})
_LIGHT = word_set("is was are were be been became a an the has had in on at")
_JOINING = word_set("and or in near the as well of region state province city county district central")
_JOINING |= {f"{side}{ending}" for side in ("north", "south", "east", "west") for ending in ("", "ern")}
_AUXILIARY = re.compile(r"\b(was|were|is|are|has|had|did|can|could|will)\b")
_DENIALS = (" not", " never", " not yet", " allegedly", " supposedly", " almost", " nearly")
_DOUBTS = ("If ", "Unless ", "It is a myth that ", "It is not true that ", "It was rumored that ", "He denied that ")
_PREPOSITIONS = word_set("in on by at from for with to as of")
_CONTEXT = 200

Mention = tuple[int, int]


class Example(NamedTuple):
    """The two texts, whether the second states the first, and whether the label may be wrong."""

    fact: str
    context: str
    stated: bool
    doubtful: bool


def key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def content(predicate: str) -> tuple[str, ...]:
    """The beginnings of the words that carry a predicate."""
    return tuple(word[:5] for word in key(predicate).split() if word not in _LIGHT)


def bare(predicate: str) -> str:
    return re.sub(r"^(was|is|are|were|has been|the) ", "", predicate.casefold())


def overlap(entity: str, *others: str) -> bool:
    return any(key(entity) in key(other) or key(other) in key(entity) for other in others)


class Passage:
    """A passage of the bank."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.title, self.text, self.entities, self.triples = (row[k] for k in ("title", "text", "entities", "triples"))
        self.sentences, self.titles = row["sentences"], set(row["titles"])
        self.mentions: list[dict[int, list[Mention]]] = [{} for _ in self.entities]
        for found, mentioned in zip(self.mentions, row["mentions"], strict=True):
            for sentence, start, end in mentioned:
                found.setdefault(sentence, []).append((start, end))
        self.known = {(key(self.entities[s]), content(p), key(self.entities[o])) for s, p, o in self.triples}
        self.predicates = sorted({predicate for _, predicate, _ in self.triples})
        self.stems = [{word[:5] for word in key(self.text[start:end]).split()} for start, end in self.sentences]

    def is_known(self, subject: int, predicate: str, object_: int) -> bool:
        return (key(self.entities[subject]), content(predicate), key(self.entities[object_])) in self.known

    def is_named(self, subject: int, object_: int, sentence: int) -> bool:
        here = [sentence in self.mentions[end] for end in (subject, object_)]
        return any(here) and all(at or end in self.titles for at, end in zip(here, (subject, object_), strict=True))

    def places(self, subject: int, predicate: str, object_: int) -> list[tuple[int, bool, int]]:
        """The sentences that name both ends, those with most words of the predicate first."""
        shared = set(content(predicate))
        return sorted(
            (-len(shared & stems), not all(n in self.mentions[end] for end in (subject, object_)), n)
            for n, stems in enumerate(self.stems)
            if self.is_named(subject, object_, n)
        )

    def are_listed(self, one: int, other: int, sentence: int) -> bool:
        """Only names and light words are between two mentions ("Lyon in France"): both may be meant."""
        for first in self.mentions[one].get(sentence, ()):
            for second in self.mentions[other].get(sentence, ()):
                between = self.text[min(first[1], second[1]) : max(first[0], second[0])]
                plain = [word for word in re.findall(r"\w+", between) if word[0].islower()]
                if _JOINING.issuperset(plain) and not re.search(r"[;()–—:]", between):
                    return True
        return False

    def in_its_words(self, subject: int, object_: int, sentence: int) -> list[str]:
        """Predicates in the sentence's own words: "invited to his court"; "moved to Rome in", of a date in front."""
        start, end = self.sentences[sentence]
        subjects, objects = (self.mentions[each].get(sentence, []) for each in (subject, object_))
        pronoun = re.match(r"(He|She|It|They)\b", self.text[start : start + 6])
        if not subjects and pronoun and subject in self.titles:
            subjects = [(start, start + pronoun.end())]
        if not subjects or not objects:
            return []
        (before, behind), (first, last) = subjects[0], objects[0]
        if behind <= first:
            return self._between(behind, first, last, end)
        lead = self.text[start:first].strip().lower()
        rest = re.match(r" ((?:[\w'’-]+ ){2,7}[\w'’-]+)(?=[,.;]|$)", self.text[behind:end])
        opens = lead in ("in", "on", "at", "by", "during", "after", "since", "from", "until", "in the", "on the")
        return [f"{rest[1]} {lead.split()[0]}"] if rest and opens and self.text[last:before].strip(" ,") == "" else []

    def _between(self, start: int, first: int, last: int, end: int) -> list[str]:
        between = self.text[start:first]
        fit = 1 <= len(between.split()) <= 9 and not re.search(r'[,;:()\[\]{}–—."“”]', between)
        if not fit or not re.search(r"[a-z]{2}", between):
            return []
        said = re.sub(r" (?:the|a|an|his|her|its)$", "", between.strip())
        tail = re.match(r" ((?:[\w'’-]+ ?){2,5})(?=[,.;]|$)", self.text[last:end])
        return [said, f"{said} {tail[1].strip()}"] if tail else [said]

    def texts(self, fact: tuple[int, str, int], sentence: int, inserted: tuple[int, str] = (0, "")) -> tuple[str, str]:
        """What the model reads: see triplebeam.support.claim. Words may be inserted at a place of the passage."""
        subject, predicate, object_ = fact
        place, words = inserted
        text = self.text[:place] + words + self.text[place:]
        start, end = self.sentences[sentence]
        marks = [
            mark
            for entity, (opening, closing) in ((subject, "[]"), (object_, "{}"))
            for first, last in (_moved(each, place, len(words)) for each in self.mentions[entity].get(sentence, ()))
            for mark in (((first, 1, -last), opening), ((last, 0, -first), closing))
        ]
        marked, at = "", start
        for (where, *_), mark in sorted(marks):
            marked, at = f"{marked}{text[at:where]} {mark} ", where
        title = self.title if sentence in self.mentions[subject] else f"[ {self.title} ]"
        title = title if sentence in self.mentions[object_] else f"{{ {title} }}"
        before = text[max(self.sentences[max(0, sentence - 1)][0], start - _CONTEXT) : start]
        context = " ".join(f"{title} : {before} {marked}{text[at : end + len(words)]}".split())
        return f"[ {self.entities[subject]} ] {predicate} {{ {self.entities[object_]} }}", context


def _moved(mention: Mention, place: int, by: int) -> Mention:
    return tuple(each + by * (each > place or (each == place and last)) for last, each in enumerate(mention))


def examples(passage: Passage, common: list[str], random: Random) -> Iterator[Example]:
    """Claims about each triple of a passage; ``common`` are predicates of all passages, each as often as it occurs."""
    for subject, predicate, object_ in passage.triples:
        places = passage.places(subject, predicate, object_)
        if subject != object_ and places:
            fact, sentence = (subject, predicate, object_), places[0][2]
            for is_true, doubtful, claimed, where, inserted in _variants(
                passage, fact, sentence, places, common, random
            ):
                yield Example(*passage.texts(claimed, where, inserted), is_true, doubtful)


def _variants(
    page: Passage, fact: tuple[int, str, int], at: int, places: list[Any], common: list[str], random: Random
) -> Iterator[tuple[bool, bool, tuple[int, str, int], int, tuple[int, str]]]:
    """Whether it is true, whether that is in doubt, the fact, its sentence, and words to be inserted there."""
    plain = (0, "")
    subject, predicate, object_ = fact
    stems, carried = page.stems[at], content(predicate)
    yield True, True, fact, at, plain
    for claim, is_true in _reworded(page, fact, at, random):
        yield is_true, False, claim, at, plain
    others = [
        each for each in page.predicates if content(each) != carried and not page.is_known(subject, each, object_)
    ]
    here = [each for s, each, o in page.triples if each in others and page.is_named(s, o, at)]
    for chosen, share in ((others, 1.0), (here, 0.6)):
        if chosen and random.random() < share:
            yield False, True, (subject, random.choice(chosen), object_), at, plain
    other = random.choice(common)
    if random.random() < 0.35 and content(other) and not set(content(other)) & (stems | set(carried)):
        yield False, False, (subject, other, object_), at, plain
    symmetric = any(word in predicate for word in SYMMETRIC)
    if random.random() < 0.75 and not symmetric and not page.is_known(object_, predicate, subject):
        yield False, False, (object_, predicate, subject), at, plain
    yield from ((False, True, claim, at, plain) for claim in _with_another_end(page, fact, at, random))
    far = [place for shared, _, place in places[1:] if places[0][0] < 0 == shared]
    if far and random.random() < 0.5:
        yield False, True, fact, random.choice(far), plain
    denied = (subject, _denied(predicate, random), object_)
    if random.random() < 0.12:
        yield False, False, denied, at, plain
    if random.random() < 0.05:
        yield False, False, fact, at, (page.sentences[at][0], random.choice(_DOUBTS))
    inserted = _denial(page, subject, object_, at, random) if random.random() < 0.3 else None
    if inserted:
        yield False, False, fact, at, inserted
        if inserted[1] in _DENIALS[:2] and random.random() < 0.4:
            yield True, False, denied, at, inserted


def _reworded(
    page: Passage, fact: tuple[int, str, int], at: int, random: Random
) -> Iterator[tuple[tuple[int, str, int], bool]]:
    subject, predicate, object_ = fact
    said = bare(predicate)
    for table, ends in ((SAME, (subject, object_)), (INVERSE, (object_, subject))):
        if said in table and random.random() < 0.45:
            other = random.choice(table[said])
            yield (ends[0], other, ends[1]), True
            if not any(word in each for word in SYMMETRIC for each in (predicate, other)):
                yield (ends[1], other, ends[0]), False
    if said in CONTRARY and random.random() < 0.6:
        yield (subject, random.choice(CONTRARY[said]), object_), False
    joined = [
        (other, end)
        for s, other, end in page.triples
        if s == subject and end != object_ and other != predicate and content(other)[:1] == content(predicate)[:1] != ()
        if key(other).split()[-1] in _PREPOSITIONS and page.is_named(subject, end, at)
    ]
    if joined and at in page.mentions[object_] and random.random() < 0.5:  # "born in Rome on" and a date
        other, end = random.choice(joined)
        yield (subject, f"{predicate} {page.entities[object_]} {key(other).split()[-1]}", end), True
        wrong = [
            each for each in page.entities if not overlap(each, *(page.entities[n] for n in (subject, object_, end)))
        ]
        if wrong:
            yield (subject, f"{predicate} {random.choice(wrong)} {key(other).split()[-1]}", end), False
    for own in page.in_its_words(subject, object_, at):
        yield (subject, own, object_), True
        yield from ((claim, False) for claim in _with_another_end(page, (subject, own, object_), at, random))
        yield (object_, own, subject), False


def _with_another_end(
    page: Passage, fact: tuple[int, str, int], at: int, random: Random
) -> Iterator[tuple[int, str, int]]:
    subject, predicate, object_ = fact
    ends = [page.entities[end] for end in (subject, object_)]
    strange = [n for n, entity in enumerate(page.entities) if not overlap(entity, *ends)]
    here = [n for n in strange if at in page.mentions[n]]
    objects = [n for n in here if not page.is_known(subject, predicate, n) and not page.are_listed(object_, n, at)]
    subjects = [n for n in here if not page.is_known(n, predicate, object_) and not page.are_listed(subject, n, at)]
    if objects and random.random() < 0.75:
        yield subject, predicate, random.choice(objects)
    if subjects and random.random() < 0.4:
        yield random.choice(subjects), predicate, object_
    titles = [n for n in strange if n in page.titles and n not in here and not page.is_known(n, predicate, object_)]
    if titles and all(at in page.mentions[end] for end in (subject, object_)) and random.random() < 0.4:
        yield random.choice(titles), predicate, object_


def _denied(predicate: str, random: Random) -> str:
    found = re.match(r"^(was|is|are|were|has|had)\b(.*)$", predicate)
    denial = random.choice(("not", "never"))
    return f"{found[1]} {denial}{found[2]}" if found else f"{random.choice((denial, 'did not', 'was not'))} {predicate}"


def _denial(page: Passage, subject: int, object_: int, at: int, random: Random) -> tuple[int, str] | None:
    """A place for a negation: behind an auxiliary between the ends, or behind the subject."""
    subjects, objects = (page.mentions[end].get(at, []) for end in (subject, object_))
    both = sorted([*subjects, *objects])
    found = [
        match.end()
        for match in _AUXILIARY.finditer(page.text, both[0][0], both[-1][1])
        if not any(start <= match.start() < end for start, end in both)
    ]
    if found and random.random() < 0.8:
        return random.choice(found[:2]), random.choice(_DENIALS)
    if subjects and objects and subjects[0][1] < objects[0][0]:
        return subjects[0][1], random.choice((" never", " failed to", " allegedly", " almost", " did not"))
    return None
