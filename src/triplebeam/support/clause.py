"""Who does what in a clause, by simple rules over its words: no parser, and in doubt no."""

from collections.abc import Sequence
from typing import NamedTuple

from triplebeam.support.mentions import Mention
from triplebeam.support.page import Sentence, Word
from triplebeam.support.words import (
    ARTICLES,
    AUXILIARIES,
    CONJUNCTIONS,
    COPULAS,
    LIGHT,
    PREPOSITION_GROUPS,
    PREPOSITIONS,
    RELATIVES,
    is_role,
)

_NEAR = 3
_SUBJECTS = frozenset({"he", "she", "it", "they", "i", "we"})
_OWNERS = frozenset({"his", "her", "its", "their"})
_BORDERS = frozenset(",;:(—")
_BETWEEN = RELATIVES | AUXILIARIES | ARTICLES | {"also", "later", "first", "then", "soon", "often", "once"}


class Reading(NamedTuple):
    """What a sentence says of its first and second entity: the first does it to the second, or the other way round."""

    backward: bool
    preposition: str = ""


def read_between(
    words: Sequence[Word], sentence: Sentence, first: Mention, trigger: int, second: Mention
) -> Reading | None:
    """Entity, relation word, entity: what is said, or None where the word may belong to another pair."""
    if not subject_of(words, sentence, first, trigger) or not reaches(words, trigger, second):
        return None
    place = preposition_before(words, second, trigger)
    preposition = PREPOSITION_GROUPS[words[place].key] if place else ""
    if preposition == "owner" and not is_role(words[trigger].key):  # "in the province of B" says "in B" as well
        earlier = next((n for n in range(place - 1, trigger, -1) if words[n].key in PREPOSITIONS), 0)
        place, preposition = (earlier, "place") if words[earlier].key in ("in", "at") else (place, preposition)
    if not is_role(words[trigger].key):
        return Reading(preposition == "agent", preposition)
    if place == trigger + 1:  # "A, director of B"
        return Reading(backward=False, preposition=preposition)
    has = any(word.key in ("has", "had", "have", "with") for word in words[first.last : trigger])
    near = trigger + 1 == second.first and trigger - first.last <= _NEAR
    if not place and (owns(words, first) or has or near):  # "A's director B"
        return Reading(backward=True)
    return None


def subject_of(words: Sequence[Word], sentence: Sentence, entity: Mention, trigger: int) -> bool:
    """The entity before a relation word is what the word is said of."""
    between = words[entity.last : trigger]
    if owns(words, entity):
        return trigger - entity.last <= 3 and (is_role(words[trigger].key) or not words[trigger].verb)
    if not _is_subject(words, sentence, entity):
        return len(between) <= 4 and all(word.key in _BETWEEN or word.key.endswith("ly") for word in between)
    if between and words[trigger].verb and _is_name(words[trigger - 1]) and words[trigger].gap == " ":
        return False  # "A … at the B located in C": located is said of B
    return not _new_clause(words, entity.last, trigger)


def reaches(words: Sequence[Word], trigger: int, entity: Mention) -> bool:
    """No other verb and no new clause is between a relation word and the entity after it."""
    place = trigger + 1
    while place < entity.first and (words[place].key == "and" or words[place].gap.startswith(",") or words[place].verb):
        if words[place].key in AUXILIARIES and not is_role(words[trigger].key):
            return False
        if not (words[place].verb or words[place].key == "and"):
            break
        place += 1
    rest = words[place : entity.first]
    if any(word.verb or word.key in RELATIVES | _SUBJECTS for word in rest):
        return False
    if any(mark in word.gap for word in words[trigger + 1 : entity.last] for mark in ";:"):
        return False
    return not owns(words, entity)


def preposition_before(words: Sequence[Word], entity: Mention, after: int) -> int:
    """The place of the last preposition between a word and an entity; 0 where there is none."""
    return next((n for n in range(entity.first - 1, after, -1) if words[n].key in PREPOSITIONS), 0)


def owns(words: Sequence[Word], entity: Mention) -> bool:
    """The entity is in the possessive: "Cahn's", "his"."""
    if entity.last - entity.first == 1 and words[entity.first].key in _OWNERS:
        return True
    return entity.last < len(words) and words[entity.last].key == "s" and words[entity.last].gap in ("'", "’")


def defines(words: Sequence[Word], sentence: Sentence, subject: Mention, kind: Mention) -> bool:
    """Whether it says "A is a kind", "A, a kind," or "the kind A"."""
    if kind.last == subject.first:
        return words[subject.first].gap == " "
    if subject.last > kind.first:
        return False
    between = range(subject.last, kind.first)
    if not between:
        return False
    copula = next((n for n in reversed(between) if words[n].key in COPULAS), None)
    if copula is None:
        if not (words[subject.last].gap.startswith(",") and words[subject.last].key in ARTICLES):
            return False
        copula = subject.last
    elif not subject_of(words, sentence, subject, copula):
        return False
    rest = words[copula + 1 : kind.first]
    return not any(word.verb or word.key in PREPOSITIONS | RELATIVES for word in rest) and not owns(words, kind)


def lies_in(words: Sequence[Word], sentence: Sentence, inner: Mention, outer: Mention) -> bool:
    """Whether it says "A in B", "A is a town in B" or "A, B"."""
    if inner.last > outer.first:
        return False
    if inner.last == outer.first:
        return words[outer.first].gap == ", "
    between = words[inner.last : outer.first]
    verbs = [word for word in between if word.verb and word.key not in COPULAS]
    place = preposition_before(words, outer, inner.last - 1)
    kept = all(word.key in ("in", "of", "on") for word in between if word.key in PREPOSITIONS)
    said_of = place - inner.last <= _NEAR or any(word.key in COPULAS for word in between)
    if (
        verbs
        or not said_of
        or not place
        or words[place].key == "of"
        or not kept
        or not subject_of(words, sentence, inner, place)
    ):
        return False
    return not owns(words, outer) and not any(word.key in RELATIVES for word in between)


def _is_subject(words: Sequence[Word], sentence: Sentence, entity: Mention) -> bool:
    for place in range(entity.first, sentence.first, -1):
        word, before = words[place], words[place - 1]
        if _BORDERS.intersection(word.gap):
            return True
        if before.key in PREPOSITIONS:
            return word.key.isdecimal() and place < entity.first  # "In 1903 the firm …"
        if before.key in CONJUNCTIONS:
            return True
        if before.verb:
            return False
    return True


def _new_clause(words: Sequence[Word], start: int, trigger: int) -> bool:
    """Another subject takes over before the relation word."""
    bracketed = False
    for place in range(start, trigger):
        word, following = words[place], words[place + 1]
        bracketed = (bracketed or "(" in word.gap) and ")" not in word.gap
        if bracketed and any(")" in later.gap for later in words[place + 1 : trigger + 1]):
            continue  # what is in brackets is an aside
        foreign = word.key in RELATIVES and place > start and _is_name(words[place - 1])
        if ";" in word.gap or foreign or word.key in _SUBJECTS:
            return True
        after = words[place + 2] if following.key in ARTICLES and place + 2 < len(words) else following
        if word.key in CONJUNCTIONS - {"or"} and (_is_name(after) or after.key in _SUBJECTS) and place + 1 < trigger:
            return True
    return False


def _is_name(word: Word) -> bool:
    return word.capital and word.key not in LIGHT
