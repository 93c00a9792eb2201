"""Facts that verbs state: who did what, to whom, where and when."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.mentions import is_named, is_time
from triplebeam.extract.local.phrases import noun_phrase, prepositions, says_something, verb_group, with_conjuncts

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from triplebeam.extract.local.reference import References

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "dative")
_BE = frozenset("is was are were be been being became become 's".split())
_RELATIVE = frozenset("who which that whom".split())
#: A predicate and the token of its object.
Statement = tuple[str, "Token"]


def clause_facts(doc: "Doc", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every verb that has a subject which can be named."""
    for verb in doc:
        if verb.tag_.startswith("VB") and verb.dep_ not in ("aux", "auxpass", "xcomp", "amod", "compound"):
            statements = list(_statements(verb, verb_group(verb)))
            for subject, role in _subjects(verb, references) if statements else ():
                for predicate, noun in statements:
                    target = references.entity(noun)
                    if target and target != subject:
                        yield subject, f"{role} {predicate}".strip(), target


def _subjects(verb: "Token", references: "References") -> Iterator[tuple[str, str]]:
    """The entities a verb speaks of, each with the role in which it does (``father`` in ``his father was``)."""
    token = _subject_token(verb)
    for noun in with_conjuncts(token) if token is not None else ():
        yield from _stood_for(noun, references)


def _stood_for(noun: "Token", references: "References") -> Iterator[tuple[str, str]]:
    if is_named(noun) or noun.tag_ in ("PRP", "PRP$"):
        if entity := references.entity(noun):
            yield entity, ""
        return
    if (entity := references.entity(noun)) == references.title and entity:
        yield entity, ""
        return
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
    owners = [child for child in noun.children if child.dep_ == "poss"]
    owners += [owner for word, owner in prepositions(noun) if word == "of" and is_named(owner)]
    if names:
        yield from ((entity, "") for name in names if (entity := references.entity(name)))
    elif owners:
        yield from ((entity, noun_phrase(noun)) for owner in owners if (entity := references.entity(owner)))
    elif entity and says_something(noun):
        yield entity, ""


def _subject_token(verb: "Token") -> "Token | None":
    """The verb's own subject, the noun it is a participle or relative clause of, or the subject of the verb above it."""
    own = next((child for child in verb.children if child.dep_ in _SUBJECTS), None)
    if own is not None and own.lower_ not in _RELATIVE:
        return own
    if verb.dep_ in ("acl", "relcl"):
        if own is None and (verb.dep_ == "relcl" or verb.tag_ == "VB"):
            return None
        return _described(verb.head)
    if verb.dep_ in ("conj", "advcl", "xcomp") and verb.head.tag_.startswith("VB") and (own is None):
        if verb.dep_ == "advcl" and verb.tag_ not in ("VBG", "VBN"):
            return None
        return _subject_token(verb.head)
    return None


def _described(noun: "Token") -> "Token":
    """What a noun after ``is`` describes: the subject of that ``is``; else the noun itself."""
    head = noun
    while head.dep_ == "conj":
        head = head.head
    if head.dep_ == "attr" and head.head.lower_ in _BE:
        return _subject_token(head.head) or noun
    return noun


def _statements(verb: "Token", group: str) -> Iterator[Statement]:
    """Predicates and objects: direct ones, those behind a preposition, times, and those of an infinitive below."""
    objects = [noun for child in verb.children if child.dep_ in _OBJECTS for noun in with_conjuncts(child)]
    for noun in objects:
        yield from _of_object(noun, group)
    first = next((noun for noun in objects if not is_named(noun) and noun.tag_ in ("NN", "NNS")), None)
    longer = f"{group} {noun_phrase(first)}" if first is not None and verb.lower_ not in _BE else group
    for word, noun in prepositions(verb):
        yield from _of_object(noun, f"{longer} {word}")
    for child in verb.children:
        if child.dep_ == "acomp":
            yield from ((f"{group} {child.lower_} {word}", noun) for word, noun in prepositions(child))
        elif child.dep_ == "npadvmod" and is_time(child):
            yield f"{longer} on", child
        elif child.dep_ == "xcomp" and child.tag_.startswith("VB"):
            linked = "to " if any(part.tag_ == "TO" for part in child.children) else ""
            yield from _statements(child, f"{group} {linked}{verb_group(child)}")


def _of_object(noun: "Token", predicate: str) -> Iterator[Statement]:
    """The noun as object; a common noun's own prepositions lead on (``played trumpet on``, ``is capital of``)."""
    if is_named(noun) or noun.tag_ in ("PRP", "PRP$"):
        yield predicate, noun
        return
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
    if names:
        yield from ((predicate, name) for first in names for name in with_conjuncts(first))
        return
    further = [(f"{predicate} {noun_phrase(noun)} {word}", target) for word, target in prepositions(noun)]
    if says_something(noun) and not any(is_named(target) for _, target in further):
        yield predicate, noun
    yield from ((longer, target) for longer, target in further if says_something(target))
