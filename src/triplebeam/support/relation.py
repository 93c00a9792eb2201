"""Whether a sentence carries a relation between two entities that it mentions."""

from collections.abc import Iterator

from triplebeam.support.clause import Reading, defines, lies_in, owns, preposition_before, read_between, subject_of
from triplebeam.support.mentions import Mention
from triplebeam.support.page import Page, Sentence, Word
from triplebeam.support.predicate import Predicate
from triplebeam.support.words import COPULAS, DENIALS, PREPOSITION_GROUPS

_MAY_LACK = frozenset({"goal", "company", "owner", "role"})
#: "The film stars him" says that he "starred in" it.
_CASTING = frozenset({"star", "featur"})
_DASHES = frozenset("-–—")
_INTRODUCTION = 2
#: First and last word (not included) of what carries the relation, its entities included.
Extent = tuple[int, int]


def extents(
    page: Page, sentence: Sentence, subject: Mention, object_: Mention, predicate: Predicate, *, dated: bool
) -> Iterator[Extent]:
    """The stretches of a sentence that carry the relation between two mentions; ``dated``: the object is a date."""
    if sentence.question or max(subject.first, object_.first) < min(subject.last, object_.last):
        return
    first, last = min(subject.first, object_.first), max(subject.last, object_.last)
    bare = _light if not predicate.stems else _without_trigger
    carried = bare(page, sentence, subject, object_, predicate, dated)
    if carried and _as_stated(page, sentence, subject, object_, last, predicate):
        yield first, last
    for trigger in _triggers(page, sentence, subject, object_, predicate):
        others = _others(page, sentence, subject, object_, trigger, predicate)
        if others is None or not _fits(page.words, sentence, subject, trigger, object_, predicate, dated):
            continue
        places = [first, last - 1, trigger, *others]
        if _as_stated(page, sentence, subject, object_, max(places) + 1, predicate):
            yield min(places), max(places) + 1


def _triggers(page: Page, sentence: Sentence, subject: Mention, object_: Mention, predicate: Predicate) -> list[int]:
    taken = {*range(subject.first, subject.last), *range(object_.first, object_.last)}
    return [n for n in range(sentence.first, sentence.last) if n not in taken and page.words[n].stem == predicate.main]


def _others(
    page: Page, sentence: Sentence, subject: Mention, object_: Mention, trigger: int, predicate: Predicate
) -> list[int] | None:
    """The places, nearest to the main word, of the other words that carry the relation; None where one is missing."""
    places = []
    for wanted in predicate.stems:
        if wanted != predicate.main:
            found = [n for n in range(sentence.first, sentence.last) if page.words[n].stem == wanted]
            if not found:
                return None
            places.append(min(found, key=lambda n: abs(n - trigger)))
    return places


def _fits(
    words: list[Word],
    sentence: Sentence,
    subject: Mention,
    trigger: int,
    object_: Mention,
    predicate: Predicate,
    dated: bool,
) -> bool:
    """The relation word relates the entities as the predicate says."""
    if subject.last <= trigger < object_.first:
        reading = read_between(words, sentence, subject, trigger, object_)
        return reading is not None and _agrees(reading, predicate, dated, swapped=False)
    if object_.last <= trigger < subject.first:
        reading = read_between(words, sentence, object_, trigger, subject)
        return reading is not None and _agrees(reading, predicate, dated, swapped=True)
    if trigger < min(subject.first, object_.first):
        return _opening(words, sentence, trigger, subject, object_, predicate, dated)
    return _dated_opening(words, sentence, object_, subject, trigger, predicate, dated)


def _agrees(reading: Reading, predicate: Predicate, dated: bool, *, swapped: bool) -> bool:
    """What is read is what the predicate says. ``swapped``: the sentence has the triple's object first."""
    if predicate.symmetric and reading.preposition in ("", "goal", "company", "owner"):
        return True
    if swapped and predicate.main in _CASTING:
        return {reading.preposition, predicate.preposition} == {"", "place"}
    if swapped:
        plain = {reading.preposition, predicate.preposition} <= {"", "agent", "owner"}
        return reading.backward != predicate.backward and plain
    if reading.backward != predicate.backward:
        return False
    if reading.backward or reading.preposition == predicate.preposition:
        return True
    if not reading.preposition:
        return dated or predicate.preposition in _MAY_LACK
    return dated and not predicate.preposition and reading.preposition == "place"


def _opening(
    words: list[Word],
    sentence: Sentence,
    trigger: int,
    subject: Mention,
    object_: Mention,
    predicate: Predicate,
    dated: bool,
) -> bool:
    """Say it first: "Born in B, A …", "Directed by B, A …"; "The capital of A is B"."""
    first, second = sorted((subject, object_))
    inner, between = words[trigger + 1 : first.first], words[first.last : second.first]
    if len(inner) > 3 or any(word.verb for word in inner):
        return False
    place = preposition_before(words, first, trigger)
    preposition = PREPOSITION_GROUPS[words[place].key] if place else ""
    if preposition == "owner" and between and between[0].key in COPULAS and len(between) <= 3:
        return subject == (first if predicate.backward or not predicate.preposition else second)
    at_start = trigger - sentence.first < _INTRODUCTION and words[trigger].verb
    comma = "," in words[second.first].gap or any("," in word.gap for word in between[-2:])
    if not (at_start and comma and subject == second) or any(word.verb for word in between):
        return False
    return _agrees(Reading(preposition == "agent", preposition), predicate, dated, swapped=False)


def _dated_opening(
    words: list[Word],
    sentence: Sentence,
    object_: Mention,
    subject: Mention,
    trigger: int,
    predicate: Predicate,
    dated: bool,
) -> bool:
    """Say it last, as in "In 1950, A moved …": a phrase before the subject, and the relation word after it."""
    if object_.first - sentence.first > _INTRODUCTION or object_.last > subject.first or predicate.backward:
        return False
    key = words[object_.first - 1].key if object_.first > sentence.first else ""
    if PREPOSITION_GROUPS.get(key) != "place" or predicate.preposition not in ("", "place"):
        return False
    between = words[object_.last : subject.first]
    if not (dated or predicate.preposition) or any(word.verb for word in between):
        return False
    return not owns(words, subject) and subject_of(words, sentence, subject, trigger) and trigger - subject.last <= 4


def _light(
    page: Page, sentence: Sentence, subject: Mention, object_: Mention, predicate: Predicate, dated: bool
) -> bool:
    """A predicate of light words only: the grammar alone must carry it."""
    words = page.words
    if predicate.copular:
        return not dated and defines(words, sentence, subject, object_)
    if predicate.preposition == "place":
        return lies_in(words, sentence, subject, object_)
    between = words[subject.last : object_.first]
    if subject.last > object_.first or any(w.verb and w.key not in ("has", "have", "had") for w in between):
        return False
    if predicate.possessive:
        has = [n for n in range(subject.last, object_.first) if words[n].key in ("has", "have", "had")]
        return bool(has) and not preposition_before(words, object_, has[0])
    place = preposition_before(words, object_, subject.last - 1)
    return bool(place) and PREPOSITION_GROUPS[words[place].key] == predicate.preposition and place - subject.last <= 1


def _without_trigger(
    page: Page, sentence: Sentence, subject: Mention, object_: Mention, predicate: Predicate, dated: bool
) -> bool:
    """Ways to say it without the word: "A in B" for a place, "A (1899 – 1963)" for birth and death."""
    if predicate.stems == ("locate",) and predicate.preposition == "place":
        return lies_in(page.words, sentence, subject, object_)
    if not dated or predicate.stems not in (("bear",), ("die",)) or subject.last > object_.first:
        return False
    start, end = page.words[subject.last - 1].end, page.words[object_.first].start
    before = page.text[start:end]
    bracket = page.text[start : page.text.find(")", end) + 1]
    if before.lstrip()[:1] != "(" or ")" in before or not _DASHES.intersection(bracket):
        return False
    return bool(_DASHES.intersection(before)) == (predicate.main == "die")


def _as_stated(
    page: Page, sentence: Sentence, subject: Mention, object_: Mention, last: int, predicate: Predicate
) -> bool:
    """The sentence denies, up to the stretch's end and outside the names, exactly what the predicate denies."""
    said = set()
    for place in range(sentence.first, last):
        if subject.first <= place < subject.last or object_.first <= place < object_.last:
            continue
        word, following = page.words[place], page.words[place + 1].key if place + 1 < len(page.words) else ""
        aside = (word.key == "t" and word.gap not in ("'", "’")) or following == "only" or following.isdecimal()
        if word.key in DENIALS and not aside:
            said.add(word.key)
    return said == predicate.denials
