"""Whom a verb speaks of, and whose a thing is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.prepare.terms import is_stand_in
from triplebeam.extract.local.resolve.phrases import (
    BE,
    NAME_KINDS,
    SUBJECTS,
    is_common,
    is_complete,
    is_definite,
    is_empty,
    is_named,
    is_person,
    is_time,
    is_verb,
    iterate_conjuncts,
    iterate_prepositions,
    write_noun,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

    from triplebeam.extract.local.resolve.reference import References

_RELATIVE = ("WDT", "WP")
_PERSON_PRONOUNS = ("who", "whom")


def find_subjects(verb: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    """Return the entities a verb speaks of, each with the role in which it does (``father`` in ``his father was``)."""
    token = _find_subject(verb)
    if token is None:
        return
    if _is_loose(verb, token) and (is_stand_in(token.text) or references.entity(token) != references.title):
        return
    of_one = verb.dep_ in ("acl", "relcl") and verb.head == token
    for noun in [token] if of_one else iterate_conjuncts(token):
        yield from _name_subject(noun, references)


def _is_loose(verb: "Token", subject: "Token") -> bool:
    """Recognise a participle without an auxiliary behind a technical term: its head is anyone's guess."""
    participle = verb.dep_ in ("acl", "advcl", "conj") and verb.tag_ in ("VBG", "VBN")
    if not participle or any(child.dep_ in ("aux", "auxpass") for child in verb.children):
        return False
    term = is_stand_in(subject.text) or subject.text.isupper() or not subject.ent_type_
    hangs = verb.tag_ == "VBG" or verb.head == subject or verb.head.dep_ == "acl"
    return verb.lower_ == "using" or (term and hangs)


def _name_subject(noun: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    entity = references.entity(noun)
    if not is_common(noun):
        if entity and not is_time(noun):
            yield noun, entity, ""
        return
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
    owners = list(find_owners(noun, references))
    if names:
        yield from ((name, known, "") for name in names if (known := references.entity(name)))
    elif owners and entity != references.title:
        yield from ((token, owner, write_noun(noun)) for token, owner in owners)
    elif entity == references.title:
        yield references.title_token or noun, references.title, ""
    elif entity and is_complete(noun) and not is_empty(noun) and any(child.dep_ == "compound" for child in noun.lefts):
        yield noun, entity, ""
    elif references.title and is_definite(noun) and entity and references.is_about_title(noun):
        yield noun, references.title, noun.lower_  # "The decision was made by": the title's decision


def _find_subject(verb: "Token") -> "Token | None":
    """Return the verb's own subject, the noun that its clause describes, or the subject of the verb above."""
    own = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
    if own is not None and own.tag_ not in _RELATIVE:
        return own
    if (verb.dep_ == "acl" and verb.tag_ in ("VBG", "VBN")) or (verb.dep_ == "relcl" and own is not None):
        return _find_described(verb.head) if _suits(verb.head, own) else None
    shares = verb.dep_ in ("conj", "xcomp") or (verb.dep_ == "advcl" and verb.tag_ in ("VBG", "VBN"))
    return _find_subject(verb.head) if shares and own is None and is_verb(verb.head) else None


def _find_described(noun: "Token") -> "Token | None":
    """Return the name itself; of a noun after ``is``, the subject of that ``is``."""
    if is_named(noun):
        return noun
    head = noun
    while head.dep_ == "conj":
        head = head.head
    if head.dep_ == "attr" and head.head.lower_ in BE:
        return _find_subject(head.head)
    if head.dep_ == "appos" and is_named(head.head):
        return head.head  # "Darling Mills Creek, a watercourse that is part of"
    return None  # "files stored in": which files, the clause alone does not say


def _suits(noun: "Token", relative: "Token | None") -> bool:
    """Return whether a clause may describe the noun: behind a preposition, *who* is of a person and no other is."""
    if noun.dep_ not in ("pobj", "appos"):
        return True  # more likely the recogniser errs than the parser
    if relative is not None and relative.lower_ in _PERSON_PRONOUNS:
        return noun.ent_type_ not in NAME_KINDS - {"PERSON", "NORP"}
    return not is_person(noun)


def find_owners(noun: "Token", references: "References") -> Iterator[tuple["Token", str]]:
    """Return the names and pronouns that own the noun, each with its entity."""
    owners = [owner for child in noun.children if child.dep_ == "poss" for owner in iterate_conjuncts(child)]
    owners += [
        owner for word, owner in iterate_prepositions(noun) if word == "of" and is_named(owner) and not is_time(owner)
    ]
    for owner in owners:
        if not is_common(owner) and (entity := references.entity(owner)):
            yield owner, entity
