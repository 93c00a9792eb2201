"""Whom a verb speaks of, and whose a thing is."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_words
from triplebeam.extract.local.prepare.terms import is_stand_in
from triplebeam.extract.local.resolve.phrases import (
    BE,
    NAME_KINDS,
    PLACE_KINDS,
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
#: Whom a text means by these, the title alone does not say: ``the boy learned the oboe``.
_PERSONS = get_words("ambiguous_persons")
_SUBJECTS_OF_PAGES = get_words("page_subjects")
#: Participles that no person is described with.
_OF_WORKS = get_words("work_participles")
_NAMING = ("known", "called", "named")
_PERSON_PRONOUNS = ("who", "whom")
_ADVERBS = ("RB", "RBR", "RBS")


def find_subjects(verb: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    """Return the entities a verb speaks of, each with the role in which it does (``father`` in ``his father was``)."""
    token = _find_subject(verb)
    if token is None or _follows_gerund(token) or _disagrees(verb, token):
        return
    if _is_loose(verb, token) and (is_stand_in(token.text) or references.entity(token) != references.title):
        return
    of_one = verb.dep_ in ("acl", "relcl") and verb.head == token
    for noun in [token] if of_one else iterate_conjuncts(token):
        yield from _name_subject(noun, references)


def _disagrees(verb: "Token", subject: "Token") -> bool:
    """``Purdy find``: the parser missed what the verb's own subject is."""
    several = any(child.dep_ in ("conj", "appos", "cc") for child in subject.children)
    one = is_person(subject) or is_stand_in(subject.text) or (is_common(subject) and subject.tag_ == "NN")
    return verb.tag_ == "VBP" and not several and one


def _is_loose(verb: "Token", subject: "Token") -> bool:
    """Recognise a participle without an auxiliary behind a technical term: its head is anyone's guess."""
    participle = verb.dep_ in ("acl", "advcl", "conj") and verb.tag_ in ("VBG", "VBN")
    if not participle or any(child.dep_ in ("aux", "auxpass") for child in verb.children):
        return False
    term = is_stand_in(subject.text) or subject.text.isupper() or not subject.ent_type_
    hangs = verb.tag_ == "VBG" or verb.head == subject or verb.head.dep_ == "acl"
    return verb.lower_ == "using" or (term and hangs)


def _follows_gerund(subject: "Token") -> bool:
    """Recognise ``Overriding the method prevents the call``: what prevents it is the overriding."""
    first = subject.sent[0]
    before = subject.doc[first.i : subject.i]
    return first.lower_.endswith("ing") and 0 < len(before) <= 3 and all(token.text != "," for token in before)


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
    elif (
        references.title
        and is_definite(noun)
        and noun.lower_ not in _PERSONS
        and (noun.lower_ in _SUBJECTS_OF_PAGES or (entity and references.is_about_title(noun)))
    ):
        yield noun, references.title, noun.lower_  # "The decision was made by": the title's decision


def _find_subject(verb: "Token") -> "Token | None":
    """Return the verb's own subject, the noun that its clause describes, or the subject of the verb above."""
    own = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
    if own is not None and own.tag_ not in _RELATIVE:
        return own
    if verb.lower_ in ("starring", "featuring") and (verb.dep_ == "advcl" or is_person(verb.head)):
        return _work_before(verb)
    if verb.lower_ in ("known", "called", "renamed") and (named := _name_before_comma(verb)) is not None:
        return named
    if (verb.dep_ == "acl" and verb.tag_ in ("VBG", "VBN")) or (verb.dep_ == "relcl" and own is not None):
        return _find_described(_antecedent(verb, own))
    shares = verb.dep_ in ("conj", "xcomp") or (verb.dep_ == "advcl" and verb.tag_ in ("VBG", "VBN"))
    return _find_subject(verb.head) if shares and own is None and is_verb(verb.head) else None


def _work_before(verb: "Token") -> "Token | None":
    """Films star people: the last name of a work before ``starring``."""
    before = (token for token in reversed(list(verb.sent)) if token.i < verb.i and is_named(token))
    return next((token for token in before if token.ent_type_ in ("", "WORK_OF_ART")), None)


def _name_before_comma(verb: "Token") -> "Token | None":
    """``at Athletic Park, later known as Borchert Field``: the other name is of what stands just before."""
    comma = _word_before(verb)
    before = verb.doc[comma.i - 1]
    return before if comma.text == "," and comma.i and is_named(before) and not is_time(before) else None


def _word_before(token: "Token") -> "Token":
    """Return the word before the clause, without the adverbs between."""
    index = token.i - 1
    while index > 0 and token.doc[index].tag_ in _ADVERBS:
        index -= 1
    return token.doc[max(index, 0)]


def _find_described(noun: "Token | None") -> "Token | None":
    """Return the name itself; of a noun after ``is``, the subject of that ``is``."""
    if noun is None:
        return None
    if is_named(noun):
        return noun if not _is_restricted(noun) else None
    head = noun
    while head.dep_ == "conj":
        head = head.head
    if head.dep_ == "attr" and head.head.lower_ in BE:
        return _find_subject(head.head)
    if head.dep_ == "appos" and is_named(head.head):
        return head.head  # "Darling Mills Creek, a watercourse that is part of"
    return None  # "files stored in": which files, the clause alone does not say


def _is_restricted(name: "Token") -> bool:
    """Recognise ``the ACL specified by``, without a comma: one of several, and the clause says which."""
    has_article = any(child.dep_ == "det" for child in name.lefts)
    following = name.doc[name.i + 1] if name.i + 1 < len(name.doc) else name
    return has_article and not is_person(name) and following.text not in (",", "(", "–")


def _antecedent(verb: "Token", relative: "Token | None" = None) -> "Token | None":
    """Return the noun that the verb's clause describes: parsers attach a clause to the nearest noun."""
    head = verb.head
    if relative is not None and relative.lower_ not in _PERSON_PRONOUNS and verb.doc[relative.i - 1] == head:
        return head  # without a comma there is no other
    if head.dep_ not in ("pobj", "appos") or _suits(head, verb, relative):
        return head  # more likely the recogniser errs than the parser
    while head.dep_ not in ("ROOT", "conj"):  # "a film by Hurst, which is based on": not Hurst, the film
        head = head.head
        if is_common(head) or is_named(head):
            return head if _suits(head, verb, relative) else None
    return None


def _suits(noun: "Token", verb: "Token", relative: "Token | None") -> bool:
    """*Who* is of a person, *which* is not, no person is published, and a place has a comma before its participle."""
    if relative is not None and relative.lower_ in _PERSON_PRONOUNS:
        return noun.ent_type_ not in NAME_KINDS - {"PERSON", "NORP"}
    if relative is None and noun.ent_type_ in PLACE_KINDS:
        return _word_before(verb).text in (",", "(") or verb.lower_ in _NAMING  # "an ensemble in Boston devoted to"
    return not is_person(noun) or (relative is None and verb.lower_ not in _OF_WORKS)


def find_owners(noun: "Token", references: "References") -> Iterator[tuple["Token", str]]:
    """Return the names and pronouns that own the noun, each with its entity."""
    owners = [owner for child in noun.children if child.dep_ == "poss" for owner in iterate_conjuncts(child)]
    owners += [
        owner for word, owner in iterate_prepositions(noun) if word == "of" and is_named(owner) and not is_time(owner)
    ]
    for owner in owners:
        meant = _find_whose(owner) if owner.tag_ == "WP$" else owner
        if not is_common(meant) and (entity := references.entity(meant)):
            yield meant, entity


def _find_whose(relative: "Token") -> "Token":
    """Return the noun that the relative clause around ``whose`` describes."""
    for ancestor in relative.ancestors:
        if ancestor.dep_ == "relcl":
            return ancestor.head
    return relative
