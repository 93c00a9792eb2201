"""What a verb says: its predicate with each of its objects."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.kinds import BE, OBJECTS, is_common, is_named, is_time, is_verb
from triplebeam.extract.local.phrases import (
    is_bracketed,
    is_complete,
    is_empty,
    is_stranded,
    measured,
    named_modifiers,
    noun_phrase,
    prepositions,
    says_something,
    verb_group,
    with_conjuncts,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

_COMPLEMENTS = (*OBJECTS, "prep", "agent", "xcomp")
_RELATIVE = ("WDT", "WP")
_FINITE = ("VBD", "VBZ", "VBP")
_DEEPEST = 3
#: Verbs that say nothing of their object without the infinitive behind it.
_CAUSES_WORDS = (
    "permit permits permitted allow allows allowed allowing enable enables enabled enabling force forces forced forcing"
    " ask asks asked tell tells told order ordered urge urges urged require requires required invited persuaded causes"
    " caused causing encourage encourages encouraged wants wanted instructed convinced expect expects expected"
    " triggering prompting leading led helping helped"
)
_CAUSES = frozenset(_CAUSES_WORDS.split())
_BARE_WORDS = "go goes went gone come comes came get gets got take takes took make makes made"
_BARE = frozenset(_BARE_WORDS.split())
_CIRCUMSTANCES = ("in", "at", "near", "during", "by")
_DURATION = re.compile(r"\b(?:second|minute|hour|day|week|month|year)s?\b")
#: A predicate and the token of its object.
Statement = tuple[str, "Token"]


def statements(verb: "Token", group: str) -> Iterator[Statement]:
    """Predicates and objects: direct ones, those behind a preposition, times, and those of verbs that hang below."""
    yield from _shared_statements(verb, group)
    given = any(child.dep_ == "dobj" for child in verb.children)
    roles = [role for role in OBJECTS if not (given and role == "dative")]  # "gives owners the option": not owners
    listed = [(child, noun) for child in verb.children if child.dep_ in roles for noun in with_conjuncts(child)]
    objects = [noun for first, noun in listed if first.dep_ != "attr" or _is_alike(first, noun)]
    if objects and verb.lower_ in _CAUSES and any(child.dep_ in ("xcomp", "ccomp") for child in verb.rights):
        return  # "permitted Spain to leave": nobody permitted Spain
    own = next((child for child in verb.children if child.dep_ == "nsubj"), None)
    if verb.dep_ == "relcl" and not objects and own is not None and own.tag_ not in _RELATIVE:
        where = any(child.lower_ == "where" for child in verb.children)
        yield from object_statements(verb.head, f"{group} in" if where else group)  # "Ghent, where he died"
    for noun in objects:
        yield from object_statements(verb.head if noun.tag_ in _RELATIVE and verb.dep_ == "relcl" else noun, group)
    first = next((noun for noun in objects if is_common(noun) or is_named(noun)), None)
    longer = f"{group} {noun_phrase(first)}" if first is not None else group
    half = (first is not None and not _is_expressed(first)) or any(map(_completes, verb.children))
    governed = list(prepositions(verb))
    if len({word for word, _ in governed}) > 1 and any(child.dep_ == "neg" for child in verb.children):
        governed = []  # "did not qualify for the cup until 1990": no part of it is true by itself
    for word, noun in governed:
        if word in ("with", "without") and noun.i < verb.i:
            continue  # "With two outs, Gibson stepped in": a circumstance
        first_word = word == governed[0][0] or is_time(noun)
        named = is_named(noun) and not is_time(noun) and _may_stand_apart(verb, word, noun, first_word)
        if verb.lower_ in BE and (adjective := _adjective_before(verb, noun)) is not None:
            yield from object_statements(noun, f"{group} {adjective.lower_} {word}") if is_named(noun) else ()
            continue
        bare = first is None and verb.lower_ in _BARE and is_time(noun)  # "went to trial in May": not "went in May"
        if (verb.lower_ not in BE and not half and first_word and not bare) or named:
            yield from object_statements(noun, f"{longer} {word}")
    for child in verb.children:
        if not (child.dep_ == "xcomp" and objects):  # "takes the union to find": not "takes to find"
            yield from _hanging_below(child, group, None if half else longer)


def _may_stand_apart(verb: "Token", word: str, noun: "Token", first_word: bool) -> bool:
    """The verb and this preposition say something true without the verb's other complements."""
    complements = {child.dep_ for child in verb.children}
    if verb.lower_ in BE:
        return "attr" in complements or (first_word and "acomp" not in complements)
    if noun.i < verb.i and complements & {"xcomp", "ccomp"}:
        return False  # "With Kupp back, Stafford continues to trust Nacua"
    given = any(child.dep_ == "dobj" and child.tag_ == "PRP" for child in verb.children)
    return (not given or word in _CIRCUMSTANCES) and not (verb.lower_ == "known" and not first_word)


def _adjective_before(verb: "Token", noun: "Token") -> "Token | None":
    return next((child for child in verb.children if child.dep_ == "acomp" and child.i < noun.i), None)


def _is_alike(noun: "Token", other: "Token") -> bool:
    """``a member of Ajax and PSV``, ``the monarchy of Spain and its islands``: what is listed is not what X is."""
    owned = any(child.tag_ == "PRP$" for child in other.lefts)
    return noun == other or is_named(noun) or (is_common(other) and noun.tag_ == other.tag_ and not owned)


def _is_restricted_by_clause(noun: "Token") -> bool:
    """``Brown's first song to reach the top``: not his first song."""
    return any(child.dep_ in ("acl", "relcl") for child in noun.rights)


def _completes(child: "Token") -> bool:
    """Without this child the verb says only half: ``was asked to sing in 2002``, ``accused him of fraud``."""
    nameless = child.dep_ in ("dobj", "dative") and not (is_common(child) or is_named(child))
    predicative = child.dep_ == "acomp" and child.head.lower_ not in BE  # "pleaded guilty"
    return child.dep_ in ("xcomp", "ccomp") or nameless or predicative


def _is_expressed(noun: "Token") -> bool:
    """The words of the noun phrase are enough to know what is meant."""
    return is_named(noun) or (says_something(noun) and is_complete(noun))


def _shared_statements(verb: "Token", group: str) -> Iterator[Statement]:
    """``written and directed by``: what follows the last verb belongs to those before it as well."""
    complements = [child for child in verb.children if child.dep_ in _COMPLEMENTS]
    if verb.tag_ in ("VBN", "VBG", "VBD") and all(is_stranded(child) for child in complements):
        following = [child for child in verb.children if child.dep_ == "conj" and is_verb(child)]
        for other in following[:1]:
            if complements or other.tag_ == verb.tag_:
                yield from statements(other, group)


def _hanging_below(child: "Token", group: str, longer: str | None) -> Iterator[Statement]:
    """``is famous for``, ``released June 2016``, ``began to write``, ``known for playing``."""
    if child.dep_ == "acomp":
        yield from ((f"{group} {child.lower_} {word}", noun) for word, noun in prepositions(child))
    elif child.dep_ == "npadvmod" and is_time(child) and longer and not _DURATION.search(child.text):
        yield f"{longer} on", child
    elif child.dep_ == "xcomp" and is_verb(child) and child.tag_ not in _FINITE:
        linked = "to " if any(part.tag_ == "TO" for part in child.children) else ""
        yield from statements(child, f"{group} {linked}{verb_group(child)}")
    elif child.dep_ == "prep" and longer and child.head.lower_ not in BE:
        for inner in child.children:
            if inner.dep_ == "pcomp" and inner.tag_ == "VBG":
                yield from statements(inner, f"{longer} {child.lower_} {verb_group(inner)}")


def object_statements(noun: "Token", predicate: str, depth: int = 0) -> Iterator[Statement]:
    """The noun as object; a common noun's own prepositions lead on: ``played trumpet on``, ``is town in county of``."""
    if is_named(noun) or noun.tag_ in ("PRP", "PRP$"):
        yield predicate, noun
        return
    if (target := measured(noun)) is not None and predicate not in BE:
        yield from object_statements(target, predicate, depth)
        return
    names = [c for c in noun.children if c.dep_ == "appos" and is_named(c) and not is_bracketed(noun, c)]
    if names:
        yield from ((predicate, name) for first in names for name in with_conjuncts(first))
        return
    if not noun_phrase(noun):
        return
    phrase = f"{predicate} {noun_phrase(noun)}"
    further = [
        statement
        for word, target in (prepositions(noun) if depth < _DEEPEST else ())
        if word == "of" or is_common(noun)
        for statement in object_statements(target, f"{phrase} {word}", depth + 1)
    ]
    further += [
        (f"{phrase} of", name)  # "launched Park's career"
        for child in noun.lefts
        if child.dep_ == "poss" and is_named(child) and not is_time(child) and not _is_restricted_by_clause(noun)
        for name in with_conjuncts(child)
    ]
    yield from further
    yield from ((f"{predicate} {noun.lower_} of", name) for name in named_modifiers(noun))
    leads_to_name = any(is_named(target) and not is_time(target) for _, target in further)
    whole = is_complete(noun) or (predicate in BE and " " in noun_phrase(noun) and not is_empty(noun))
    if says_something(noun) and whole and not leads_to_name and (depth == 0 or predicate.endswith(" of")):
        yield predicate, noun
    for child in noun.children if not is_empty(noun) else ():
        if child.dep_ == "acl" and child.tag_ == "VB":
            yield from statements(child, f"{phrase} to {verb_group(child)}")
