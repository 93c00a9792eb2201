"""Facts that verbs state: who did what, to whom, where and when."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.kinds import PLACE_KINDS, is_common, is_named, is_person, is_time
from triplebeam.extract.local.owners import owners_of
from triplebeam.extract.local.phrases import (
    is_definite,
    is_stranded,
    named_modifiers,
    noun_phrase,
    prepositions,
    says_something,
    verb_group,
    with_conjuncts,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from triplebeam.extract.local.reference import References

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "dative")
_COMPLEMENTS = (*_OBJECTS, "prep", "agent", "xcomp")
_BE = frozenset(("is", "was", "are", "were", "be", "been", "being", "became", "become", "'s"))
_RELATIVE = ("WDT", "WP")
_DEEPEST = 3
#: A predicate and the token of its object.
Statement = tuple[str, "Token"]


def clause_facts(doc: "Doc", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every verb that has a subject which can be named."""
    for verb in doc:
        if not is_verb(verb) or verb.dep_ in ("aux", "auxpass", "xcomp", "pcomp", "amod", "compound"):
            continue
        statements = list(_statements(verb, verb_group(verb)))
        for noun, subject, role in _subjects(verb, references) if statements else ():
            for predicate, other in statements:
                target = references.entity(other)
                if target and target != subject and _worth_saying(noun, other):
                    yield subject, f"{role} {predicate}".strip(), target


def is_verb(token: "Token") -> bool:
    """The token is a verb in any form."""
    return token.tag_.startswith("VB")


def _worth_saying(subject: "Token", target: "Token") -> bool:
    """One end at least is a name or stands for one, and it is not only a date."""
    return not is_common(subject) or (is_named(target) and not is_time(target))


def _subjects(verb: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    """The entities a verb speaks of, each with the role in which it does (``father`` in ``his father was``)."""
    token = _subject_token(verb)
    for noun in with_conjuncts(token) if token is not None else ():
        yield from _stood_for(noun, references)


def _stood_for(noun: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    entity = references.entity(noun)
    if not is_common(noun):
        if entity and not is_time(noun):
            yield noun, entity, ""
        return
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
    owners = list(owners_of(noun, references))
    if names:
        yield from ((name, known, "") for name in names if (known := references.entity(name)))
    elif owners and entity != references.title:
        yield from ((token, owner, noun_phrase(noun)) for token, owner in owners)
    elif entity == references.title:
        yield references.title_token or noun, references.title, ""
    elif entity and " " in entity:
        yield noun, entity, ""
    elif entity and references.title and is_definite(noun) and says_something(noun):
        yield noun, references.title, entity  # "The decision was made by": the title's decision


def _subject_token(verb: "Token") -> "Token | None":
    """The verb's own subject, the noun it is a participle or relative clause of, or the subject of the verb above."""
    own = next((child for child in verb.children if child.dep_ in _SUBJECTS), None)
    if own is not None and own.tag_ not in _RELATIVE:
        return own
    if verb.lower_ in ("starring", "featuring") and (verb.dep_ == "advcl" or is_person(verb.head)):
        return _work_before(verb)
    if verb.lower_ in ("known", "called", "renamed") and (named := _name_before_comma(verb)) is not None:
        return named
    if verb.dep_ == "acl" and verb.tag_ in ("VBG", "VBN"):
        return _subject_beyond_place(verb) or _described(verb.head)
    if verb.dep_ == "relcl":
        return _described(verb.head) if own is not None else None
    shares = verb.dep_ in ("conj", "xcomp") or (verb.dep_ == "advcl" and verb.tag_ in ("VBG", "VBN"))
    return _subject_token(verb.head) if shares and own is None and is_verb(verb.head) else None


def _work_before(verb: "Token") -> "Token | None":
    """Films star people: the last name of a work before ``starring``."""
    before = (token for token in reversed(list(verb.sent)) if token.i < verb.i and is_named(token))
    return next((token for token in before if token.ent_type_ in ("", "WORK_OF_ART")), None)


def _name_before_comma(verb: "Token") -> "Token | None":
    """``at Athletic Park, later known as Borchert Field``: the other name is of what stands just before."""
    index = verb.i - 1
    while index > 0 and verb.doc[index].tag_ in ("RB", "RBR", "RBS"):
        index -= 1
    before = verb.doc[index - 1] if index > 0 and verb.doc[index].text == "," else None
    return before if before is not None and is_named(before) and not is_time(before) else None


def _subject_beyond_place(verb: "Token") -> "Token | None":
    """``a band from Brooklyn, formed in 1968``: behind a comma, the participle is of the band and not of the place."""
    root = verb.sent.root
    behind_comma = verb.i > verb.head.i and verb.nbor(-1).text == ","
    if behind_comma and verb.head.ent_type_ in PLACE_KINDS and root.lower_ in _BE:
        return _subject_token(root)
    return None


def _described(noun: "Token") -> "Token":
    """What a noun after ``is`` describes: the subject of that ``is``; else the noun itself."""
    if is_named(noun):
        return noun
    head = noun
    while head.dep_ == "conj":
        head = head.head
    if head.dep_ == "attr" and head.head.lower_ in _BE:
        return _subject_token(head.head) or noun
    return noun


def _statements(verb: "Token", group: str) -> Iterator[Statement]:
    """Predicates and objects: direct ones, those behind a preposition, times, and those of verbs that hang below."""
    yield from _shared_statements(verb, group)
    objects = [noun for child in verb.children if child.dep_ in _OBJECTS for noun in with_conjuncts(child)]
    own = next((child for child in verb.children if child.dep_ == "nsubj"), None)
    if verb.dep_ == "relcl" and not objects and own is not None and own.tag_ not in _RELATIVE:
        where = any(child.lower_ == "where" for child in verb.children)
        group = f"{group} in" if where else group
        objects = [verb.head]  # "the songs he wrote", "Ghent, where he died"
    for noun in objects:
        yield from object_statements(verb.head if noun.tag_ in _RELATIVE and verb.dep_ == "relcl" else noun, group)
    first = next((noun for noun in objects if is_common(noun)), None)
    longer = f"{group} {noun_phrase(first)}" if first is not None else group
    for word, noun in prepositions(verb):
        if verb.lower_ not in _BE or (is_named(noun) and not is_time(noun)):
            yield from object_statements(noun, f"{longer} {word}")
    for child in verb.children:
        yield from _hanging_below(child, group, longer)


def _shared_statements(verb: "Token", group: str) -> Iterator[Statement]:
    """``written and directed by``: what follows the last verb belongs to those before it as well."""
    complements = [child for child in verb.children if child.dep_ in _COMPLEMENTS]
    if verb.tag_ in ("VBN", "VBG", "VBD") and all(is_stranded(child) for child in complements):
        following = [child for child in verb.children if child.dep_ == "conj" and is_verb(child)]
        for other in following[:1]:
            if complements or other.tag_ == verb.tag_:
                yield from _statements(other, group)


def _hanging_below(child: "Token", group: str, longer: str) -> Iterator[Statement]:
    """``is famous for``, ``released June 2016``, ``began to write``, ``known for playing``."""
    if child.dep_ == "acomp":
        yield from ((f"{group} {child.lower_} {word}", noun) for word, noun in prepositions(child))
    elif child.dep_ == "npadvmod" and is_time(child):
        yield f"{longer} on", child
    elif child.dep_ == "xcomp" and is_verb(child):
        linked = "to " if any(part.tag_ == "TO" for part in child.children) else ""
        yield from _statements(child, f"{group} {linked}{verb_group(child)}")
    elif child.dep_ == "prep":
        for inner in child.children:
            if inner.dep_ == "pcomp" and inner.tag_ == "VBG":
                yield from _statements(inner, f"{longer} {child.lower_} {verb_group(inner)}")


def object_statements(noun: "Token", predicate: str, depth: int = 0) -> Iterator[Statement]:
    """The noun as object; a common noun's own prepositions lead on: ``played trumpet on``, ``is town in county of``."""
    if is_named(noun) or noun.tag_ in ("PRP", "PRP$"):
        yield predicate, noun
        return
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
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
    yield from further
    yield from ((f"{predicate} {noun.lower_} of", name) for name in named_modifiers(noun))
    leads_to_name = any(is_named(target) and not is_time(target) for _, target in further)
    if says_something(noun) and not leads_to_name and (depth == 0 or predicate.endswith(" of")):
        yield predicate, noun
    for child in noun.children:
        if child.dep_ == "acl" and child.tag_ == "VB":
            yield from _statements(child, f"{phrase} to {verb_group(child)}")
