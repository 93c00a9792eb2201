"""Claims from the bank, true and falsified, as the check would put them to the model.

True are the triples, in the sentence that shares most words with the predicate; the same facts in other words
(``paraphrases.json``), the other way round, in the sentence's own words or some of them, with another fact of the
sentence in the predicate ("born in Rome on", "is a river of Peru that flows into"), or with the place around the one
that is named; and negated facts in negated sentences. False are triples with another predicate (of the passage, of the
same sentence, of any passage, a contrary one), with their ends swapped, with another entity of the sentence as subject
or object, with the title as a subject that the sentence is not about, with a negation in the fact or in the sentence,
or in a sentence that names both ends but has no word of the predicate. Only claims whose ends are named are made: the
others never come to the model.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from banked import Fact, Passage, content, key, overlap, word_set

_TABLE = json.loads(Path(__file__).with_name("paraphrases.json").read_text(encoding="utf-8"))
SAME, INVERSE, CONTRARY, SYMMETRIC = (_TABLE[part] for part in ("same", "inverse", "contrast", "symmetric"))
PARAPHRASES = sorted({each for table in (SAME, INVERSE) for line in table.values() for each in line})
_AUXILIARY = re.compile(r"\b(was|were|is|are|has|had|did|can|could|will)\b")
_DENIALS = (" not", " never", " not yet", " allegedly", " supposedly", " almost", " nearly")
_DOUBTS = ("If ", "Unless ", "It is a myth that ", "It is not true that ", "It was rumored that ", "He denied that ")
_PREPOSITIONS = word_set("in on by at from for with to as of")
_PLACED = re.compile(
    r"\b(?:born|died|locat|situat|lies|based|headquarter|buried|held|city|town|village|district|municipality|commune"
    r"|county|suburb|neighbou?rhood|province|river|mountain|lake|island|region)\w*\b.* (?:in|of|at)"
)
_EVENT = re.compile(r"\b(?:born|died|based|headquarter|buried|held)")
_IN = ("is in", "is located in", "located in", "is situated in", "lies in")
_OFFICE = re.compile(r"(?:(is|was) )?(?:the )?((?!consist|part |member |one )(?:[a-z-]+ ){0,2}[a-z-]+) of")
#: Sentences that say who is what of whom.
_FORMS = (
    "The {noun} of {of} {verb} {name}.",
    "{of}'s {noun} {verb} {name}.",
    "It was then that {of}'s {noun}, {name}, came to be mentioned.",
    "In the same year {name}, {of}'s {noun}, is mentioned.",
    "Another was {name} ({of}'s {noun}), of whom little is known.",
    "He also mentions {name}, the {noun} of {of}.",
    "With {name}, who {verb} the {noun} of {of}, it was different.",
)
#: Of the triples of a passage, so many have claims in one epoch.
_SHARE = 0.6
#: So many claims show the sentence before; the check reads every claim with and without it.
_IN_CONTEXT = 0.7


class Example(NamedTuple):
    """The two texts, whether the second states the first, and whether the label may be wrong."""

    fact: str
    context: str
    stated: bool
    doubtful: bool


class _Claim(NamedTuple):
    """A fact, whether it is stated, whether that is in doubt, and words to be inserted at a place of the passage."""

    fact: Fact
    stated: bool
    doubtful: bool = False
    inserted: tuple[int, str] = (0, "")


def bare(predicate: str) -> str:
    return re.sub(r"^(?:(?:was|is|are|were|has been) )?(?:(?:the|an?) )?", "", predicate.casefold())


def examples(passage: Passage, common: list[str], random: Random) -> Iterator[Example]:
    """Claims about triples of a passage; ``common`` are predicates of all passages, each as often as it occurs."""
    for subject, predicate, object_ in passage.triples:
        places = passage.places(subject, predicate, object_) if random.random() < _SHARE else []
        if subject != object_ and places:
            fact, at = (subject, predicate, object_), places[0][2]
            for claim in (*_true(passage, fact, at, random), *_false(passage, fact, at, common, random)):
                in_context = random.random() < _IN_CONTEXT
                texts = passage.texts(claim.fact, at, claim.inserted, in_context=in_context)
                yield Example(*texts, claim.stated, claim.doubtful)
            far = [place for shared, _, place in places[1:] if places[0][0] < 0 == shared]
            if far and random.random() < 0.5:
                yield Example(*passage.texts(fact, random.choice(far)), False, True)
            yield from _by_itself(passage, fact, at, random)
            yield from _subject_last(passage, fact, at, random)


def _true(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[_Claim]:
    """Return the fact, and the same in other words: each with false claims of the same form."""
    yield _Claim(fact, True, doubtful=True)
    yield from _paraphrased(fact, random)
    yield from _with_another_statement(page, fact, at, random)
    subject, predicate, object_ = fact
    for own, is_shortened in page.in_its_words(subject, object_, at):
        yield _Claim((subject, own, object_), True, is_shortened)
        said = (subject, own, object_)
        yield _Claim(random.choice([*_with_another_end(page, said, at, random), (object_, own, subject)]), False)
        yield from _about_the_title(page, said, at, random)
    around = page.around(object_, at) if _PLACED.search(predicate) and random.random() < 0.7 else []
    if around:
        end, said = random.choice(around), re.sub(" of$", " in", predicate)
        said = said if _EVENT.search(predicate) else random.choice((said, said, *_IN))
        yield _Claim((subject, said, end), True, doubtful=True)
        yield _Claim((end, said, subject), False)


def _paraphrased(fact: Fact, random: Random) -> Iterator[_Claim]:
    subject, predicate, object_ = fact
    said = bare(predicate)
    for table, ends in ((SAME, (subject, object_)), (INVERSE, (object_, subject))):
        if said in table and random.random() < 0.45:
            other = random.choice(table[said])
            yield _Claim((ends[0], other, ends[1]), True)
            if not any(word in each for word in SYMMETRIC for each in (predicate, other)):
                yield _Claim((ends[1], other, ends[0]), False)
    if said in CONTRARY and random.random() < 0.6:
        yield _Claim((subject, random.choice(CONTRARY[said]), object_), False)


def _with_another_statement(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[_Claim]:
    """Predicates that hold another fact about the subject, true or false."""
    subject, predicate, object_ = fact
    others = [
        (said, end)
        for s, said, end in page.triples
        if s == subject and said != predicate and not overlap(page.entities[end], page.entities[object_])
        if {at - 1, at} & page.mentions[end].keys()
    ]
    if not others or random.random() < 0.5:
        return
    said, end = random.choice(others)
    ends = [page.entities[each] for each in (subject, object_, end)]
    wrong = [
        each
        for number, each in enumerate(page.entities)
        if not overlap(each, *ends) and not page.is_known(subject, said, number)
    ]
    last = key(predicate).split()[-1:]
    form = "{} {} " + random.choice(("and", "that", "which", "who", "and also")) + f" {predicate}"
    if content(said)[:1] == content(predicate)[:1] != () and _PREPOSITIONS.issuperset(last):  # "born in Rome on"
        form = "{} {} " + last[0]
    yield _Claim((subject, form.format(said, page.entities[end]), object_), True, doubtful=True)
    if wrong:
        yield _Claim((subject, form.format(said, random.choice(wrong)), object_), False, doubtful=True)


def _false(page: Passage, fact: Fact, at: int, common: list[str], random: Random) -> Iterator[_Claim]:
    subject, predicate, object_ = fact
    others = [
        each
        for each in page.predicates
        if content(each) != content(predicate) and not page.is_known(subject, each, object_)
    ]
    here = [each for s, each, o in page.triples if each in others and page.is_named(s, o, at)]
    for chosen, share in ((others, 1.0), (here, 0.6)):
        if chosen and random.random() < share:
            yield _Claim((subject, random.choice(chosen), object_), False, doubtful=True)
    other, said = random.choice(common), page.stems[at] | set(content(predicate))
    if random.random() < 0.35 and content(other) and not said & set(content(other)):
        yield _Claim((subject, other, object_), False)
    symmetric = any(word in predicate for word in SYMMETRIC)
    if random.random() < 0.75 and not symmetric and not page.is_known(object_, predicate, subject):
        yield _Claim((object_, predicate, subject), False)
    yield from (_Claim(each, False, doubtful=True) for each in _with_another_end(page, fact, at, random))
    yield from _about_the_title(page, fact, at, random)
    yield from _negated(page, fact, at, random)


def _with_another_end(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[Fact]:
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


def _about_the_title(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[_Claim]:
    """Return the title in the place of an end, in a sentence that names both ends and not the title."""
    subject, predicate, object_ = fact
    ends = [page.entities[end] for end in (subject, object_)]
    titles = [n for n in page.titles if at not in page.mentions[n] and not overlap(page.entities[n], *ends)]
    if not titles or not all(at in page.mentions[end] for end in (subject, object_)):
        return
    title = random.choice(sorted(titles))
    # "The film stars Roy Scheider" is about the title; "Marie, the daughter of Sohier" is not.
    alike = ends[0][:1].islower() or set(key(ends[0]).split()) & set(key(page.title).split())
    another = not alike and page.is_between(subject, predicate, object_, at)
    if not page.is_known(title, predicate, object_) and random.random() < 0.8:
        yield _Claim((title, predicate, object_), False, doubtful=not another)
    if not page.is_known(subject, predicate, title) and random.random() < 0.2:
        yield _Claim((subject, predicate, title), False, doubtful=True)


def _negated(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[_Claim]:
    subject, predicate, object_ = fact
    denied = (subject, _denied(predicate, random), object_)
    if random.random() < 0.12:
        yield _Claim(denied, False)
    if random.random() < 0.05:
        yield _Claim(fact, False, inserted=(page.sentences[at][0], random.choice(_DOUBTS)))
    inserted = _denial(page, subject, object_, at, random) if random.random() < 0.3 else None
    if inserted:
        yield _Claim(fact, False, inserted=inserted)
        if inserted[1] in _DENIALS[:2] and random.random() < 0.4:
            yield _Claim(denied, True, inserted=inserted)


def _denied(predicate: str, random: Random) -> str:
    found = re.match(r"^(was|is|are|were|has|had)\b(.*)$", predicate)
    denial = random.choice(("not", "never"))
    return f"{found[1]} {denial}{found[2]}" if found else f"{random.choice((denial, 'did not', 'was not'))} {predicate}"


def _denial(page: Passage, subject: int, object_: int, at: int, random: Random) -> tuple[int, str] | None:
    """Return a place for a negation: behind an auxiliary between the ends, or behind the subject."""
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


def _by_itself(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[Example]:
    """Another name of a sentence whose object is made a pronoun: no "recorded by Leeds" if "by herself in Leeds"."""
    subject, predicate, object_ = fact
    others = [n for n in range(len(page.entities)) if at in page.mentions[n] and n != subject]
    ends = [page.entities[end] for end in (subject, object_)]
    others = [n for n in others if not overlap(page.entities[n], *ends) and not page.are_listed(object_, n, at)]
    for n in others if predicate.endswith(" by") and at in page.mentions[object_] else ():
        said, context = page.texts((subject, predicate, n), at)
        by = f" by {page.entities[object_]} "
        if by in context and random.random() < 0.5:
            itself = random.choice(("himself", "herself", "themselves", "itself"))
            yield Example(said, context.replace(by, f" by {itself} "), stated=False, doubtful=False)


def _subject_last(page: Passage, fact: Fact, at: int, random: Random) -> Iterator[Example]:
    """Claims about a sentence that is made up, behind the fact's own: "The capital of France is Paris."."""
    said = fact[1]
    found = _OFFICE.fullmatch(said) if bare(said) in INVERSE or re.match("(?:is|was) the ", said) else None
    ends = [page.title, *(page.entities[each] for each in fact[::2])]
    names = [each for each in page.entities if re.fullmatch(r"[A-Z]\D+", each) and not overlap(each, *ends)]
    of, name = random.sample(names, 2) if found and len(names) > 1 else ("", "")
    if not found or overlap(of, name):
        return
    verb, noun = found[1] or "is", found[2]
    made = random.choice(_FORMS).format(noun=noun, verb=verb, of="{of}", name="{name}")
    start, end = page.sentences[at]
    before = page.text[start:end] if random.random() < _IN_CONTEXT else ""
    claims: list[tuple[str, str, str, bool]] = [(page.title, said, of, False), (name, said, of, True)]
    claims.append(random.choice(((of, said, name, False), (of, noun, name, True), (name, noun, of, False))))
    for subject, predicate, object_, stated in claims:
        marked = {subject: f"[ {subject} ]", object_: f"{{ {object_} }}"}
        title = marked.get(page.title, page.title)
        sentence = made.format(of=marked.get(of, of), name=marked.get(name, name))
        context = " ".join(f"{title} : {before} {sentence}".split())
        yield Example(f"[ {subject} ] {predicate} {{ {object_} }}", context, stated, doubtful=False)
