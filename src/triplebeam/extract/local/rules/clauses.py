"""Facts that verbs state: who did what, to whom, where and when."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_words
from triplebeam.extract.local.resolve.phrases import (
    BE,
    OBJECTS,
    find_names_within,
    is_bracketed,
    is_common,
    is_complete,
    is_empty,
    is_named,
    is_stranded,
    is_time,
    is_vague,
    is_verb,
    iterate_conjuncts,
    iterate_prepositions,
    says_something,
    write_noun,
    write_verb,
)
from triplebeam.extract.local.rules.asserted import is_asserted, is_duty
from triplebeam.extract.local.rules.subjects import find_subjects

if TYPE_CHECKING:
    from spacy.tokens import Token

    from triplebeam.extract.local.resolve.reference import References

_PARTS_OF_OTHERS = ("aux", "auxpass", "xcomp", "pcomp", "amod", "compound")
_SAYING_NOTHING = get_words("empty_verbs")
_COMPLEMENTS = (*OBJECTS, "prep", "agent", "xcomp")
_RELATIVE = ("WDT", "WP")
_FINITE = ("VBD", "VBZ", "VBP")
_MAX_DEPTH = 3
#: A predicate and the token of its object.
Statement = tuple[str, "Token"]


def extract_clauses(stated: "Iterable[Token]", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every verb among the stated tokens that has a subject which can be named."""
    for verb in stated:
        if is_verb(verb) and verb.dep_ not in _PARTS_OF_OTHERS and is_asserted(verb):
            yield from _facts_of(verb, references)


def _facts_of(verb: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    stated = list(list_statements(verb, write_verb(verb))) if verb.lower_ not in _SAYING_NOTHING else []
    for noun, subject, role in find_subjects(verb, references) if stated else ():
        for predicate, other in stated:
            target = references.entity(other)
            if not target or target == subject or not _worth_saying(verb, noun, other):
                continue
            if target == references.title or not (is_vague(other) or references.is_small_talk(other)):
                yield subject, f"{role} {predicate}".strip(), target


def _worth_saying(verb: "Token", subject: "Token", target: "Token") -> bool:
    """One end at least is a name or stands for one, and it is not only a date; of a duty, both are whole terms."""
    if is_common(subject) and is_common(target):
        return is_duty(verb) and any(child.dep_ == "compound" for child in target.lefts)
    return not is_common(subject) or (is_named(target) and not is_time(target))


def list_statements(verb: "Token", group: str) -> Iterator[Statement]:
    """Predicates and objects: direct ones, those behind a preposition, times, and those of verbs that hang below."""
    yield from _shared_statements(verb, group)
    given = any(child.dep_ == "dobj" for child in verb.children)
    roles = [role for role in OBJECTS if not (given and role == "dative")]  # "gives owners the option": not owners
    listed = [(child, noun) for child in verb.children if child.dep_ in roles for noun in iterate_conjuncts(child)]
    objects = [noun for first, noun in listed if first.dep_ != "attr" or _is_alike(first, noun)]
    for noun in objects:
        yield from list_object_statements(verb.head if noun.tag_ in _RELATIVE and verb.dep_ == "relcl" else noun, group)
    first = next((noun for noun in objects if is_common(noun) or is_named(noun)), None)
    longer = f"{group} {write_noun(first)}" if first is not None else group
    half = (first is not None and not _is_expressed(first)) or any(map(_completes, verb.children))
    governed = list(iterate_prepositions(verb))
    for word, noun in governed:
        first_word = word == governed[0][0] or is_time(noun)
        named = is_named(noun) and not is_time(noun) and _may_stand_apart(verb, first_word)
        if (verb.lower_ not in BE and not half and first_word) or named:
            yield from list_object_statements(noun, f"{longer} {word}")
    for child in verb.children:
        if not (child.dep_ == "xcomp" and objects):  # "takes the union to find": not "takes to find"
            yield from _hanging_below(child, group, None if half else longer)


def _may_stand_apart(verb: "Token", first_word: bool) -> bool:
    """Return whether the verb and this preposition say something true without the verb's other complements."""
    complements = {child.dep_ for child in verb.children}
    if verb.lower_ in BE:
        return "attr" in complements or (first_word and "acomp" not in complements)
    return not any(child.dep_ == "dobj" and child.tag_ == "PRP" for child in verb.children)


def _is_alike(noun: "Token", other: "Token") -> bool:
    """Recognise ``a member of Ajax and PSV``: what is listed is not what X is."""
    owned = any(child.tag_ == "PRP$" for child in other.lefts)
    return noun == other or is_named(noun) or (is_common(other) and noun.tag_ == other.tag_ and not owned)


def _completes(child: "Token") -> bool:
    """Without this child the verb says only half: ``was asked to sing in 2002``, ``accused him of fraud``."""
    nameless = child.dep_ in ("dobj", "dative") and not (is_common(child) or is_named(child))
    predicative = child.dep_ == "acomp" and child.head.lower_ not in BE  # "pleaded guilty"
    return child.dep_ in ("xcomp", "ccomp") or nameless or predicative


def _is_expressed(noun: "Token") -> bool:
    """Return whether the words of the noun phrase are enough to know what is meant."""
    return is_named(noun) or (says_something(noun) and is_complete(noun))


def _shared_statements(verb: "Token", group: str) -> Iterator[Statement]:
    """``written and directed by``: what follows the last verb belongs to those before it as well."""
    complements = [child for child in verb.children if child.dep_ in _COMPLEMENTS]
    if verb.tag_ in ("VBN", "VBG", "VBD") and all(is_stranded(child) for child in complements):
        following = [child for child in verb.children if child.dep_ == "conj" and is_verb(child)]
        for other in following[:1]:
            if complements or other.tag_ == verb.tag_:
                yield from list_statements(other, group)


def _hanging_below(child: "Token", group: str, longer: str | None) -> Iterator[Statement]:
    """``is famous for``, ``began to write``, ``known for playing``."""
    if child.dep_ == "acomp":
        yield from ((f"{group} {child.lower_} {word}", noun) for word, noun in iterate_prepositions(child))
    elif child.dep_ == "xcomp" and is_verb(child) and child.tag_ not in _FINITE:
        linked = "to " if any(part.tag_ == "TO" for part in child.children) else ""
        yield from list_statements(child, f"{group} {linked}{write_verb(child)}")
    elif child.dep_ == "prep" and longer and child.head.lower_ not in BE:
        for inner in child.children:
            if inner.dep_ == "pcomp" and inner.tag_ == "VBG":
                yield from list_statements(inner, f"{longer} {child.lower_} {write_verb(inner)}")


def list_object_statements(noun: "Token", predicate: str, depth: int = 0) -> Iterator[Statement]:
    """Return the noun as object; a common noun's own prepositions lead on: ``played trumpet on``."""
    if is_named(noun) or noun.tag_ in ("PRP", "PRP$"):
        yield predicate, noun
        return
    names = [c for c in noun.children if c.dep_ == "appos" and is_named(c) and not is_bracketed(noun, c)]
    if names:
        yield from ((predicate, name) for first in names for name in iterate_conjuncts(first))
        return
    if not write_noun(noun) or any(child.lower_ in ("no", "following", "above") for child in noun.lefts):
        return
    phrase = f"{predicate} {write_noun(noun)}"
    further = [
        statement
        for word, target in (iterate_prepositions(noun) if depth < _MAX_DEPTH else ())
        if word == "of" or is_common(noun)
        for statement in list_object_statements(target, f"{phrase} {word}", depth + 1)
    ]
    further += [
        (f"{phrase} of", name)  # "launched Park's career"
        for child in noun.lefts
        if child.dep_ == "poss" and is_named(child) and not is_time(child)
        for name in iterate_conjuncts(child)
    ]
    yield from further
    yield from ((f"{predicate} {noun.lower_} of", name) for name in find_names_within(noun))
    leads_to_name = any(is_named(target) and not is_time(target) for _, target in further)
    whole = is_complete(noun) or (predicate in BE and " " in write_noun(noun) and not is_empty(noun))
    if says_something(noun) and whole and not leads_to_name and (depth == 0 or predicate.endswith(" of")):
        yield predicate, noun
