"""Facts that nouns state without a verb: appositions, roles before a name, owners, and places behind a name."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.prepare.terms import is_stand_in
from triplebeam.extract.local.resolve.phrases import (
    PLACE_KINDS,
    is_bracketed,
    is_common,
    is_empty,
    is_listed,
    is_named,
    is_person,
    is_time,
    iterate_conjuncts,
    iterate_prepositions,
    says_something,
    write_noun,
)
from triplebeam.extract.local.rules.clauses import list_object_statements
from triplebeam.extract.local.rules.subjects import find_owners

if TYPE_CHECKING:
    from spacy.tokens import Token

    from triplebeam.extract.local.resolve.reference import References

#: Kinds of names that a role may stand before; ``the option --force`` says nothing of it.
_HAVE_ROLES = ("PERSON", "WORK_OF_ART", "LOC", "FAC", "EVENT", "ORG")
_TIES = ("in", "near", "at", "of", "by", "from")


def extract_nominals(stated: "Iterable[Token]", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every noun among the stated tokens that says something of another noun."""
    for token in stated:
        yield from _facts_of(token, references)


def _facts_of(token: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    if is_named(token) and not is_time(token) and (name := references.entity(token)):
        yield from _behind(token, name, references)
        yield from _before(token, name, references)
    elif is_common(token):
        yield from _names_in_apposition(token, references)


def _behind(token: "Token", name: str, references: "References") -> Iterator[tuple[str, str, str]]:
    """``Ghent, Belgium`` and ``Ghent, the capital of East Flanders`` and ``the Town Hall in Ghent``."""
    for child in token.children:
        apart = any(between.text in (",", "–") for between in token.doc[token.i + 1 : child.i])
        if child.dep_ == "appos" and apart and not is_listed(token, child) and not is_bracketed(token, child):
            for noun in iterate_conjuncts(child):
                yield from _apposition(token, name, noun, references)
    behind = next((part.lower_ for part in token.doc[token.i + 1 :] if part.text != ","), "")
    for word, noun in iterate_prepositions(token) if behind in _TIES else ():
        tied = word in _TIES and is_named(noun) and not is_time(noun) and not _is_technical(token, noun)
        if tied and (word == "of" or not is_person(token)) and (place := references.entity(noun)):
            yield name, word, place


def _apposition(token: "Token", name: str, noun: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    if is_named(noun):
        between = token.doc[token.i + 1 : noun.i]
        listed = any(part.text != "," and part.ent_type_ not in PLACE_KINDS for part in between)
        if noun.ent_type_ in PLACE_KINDS and token.ent_type_ in ("GPE", "FAC", "ORG") and not listed:
            yield name, "located in", references.entity(noun) or noun.text
        return
    if not is_common(noun) or not _is_introduced(noun, token):
        return
    if any(child.dep_ == "poss" for child in noun.children):
        owners = [owner for token, owner in find_owners(noun, references) if token.head == noun]
        yield from ((name, f"is {write_noun(noun)} of", owner) for owner in owners)
        return
    for predicate, other in list_object_statements(noun, "is"):
        if target := references.entity(other):
            yield name, predicate, target


def _is_technical(*names: "Token") -> bool:
    """Stand-ins for terms and abbreviations, beside which technical prose puts nouns of any kind."""
    return any(is_stand_in(n.text) or (n.text.isupper() and n.text.isalpha()) or not n.text[0].isupper() for n in names)


def _is_introduced(noun: "Token", name: "Token") -> bool:
    """Return whether an apposition has an article, an owner or ``of``; else, or with ``and``, it is a list item."""
    if any(child.dep_ in ("cc", "conj") for child in name.children):
        return False
    begun = any(child.dep_ in ("det", "poss") for child in noun.lefts) or any(
        child.lower_ == "of" for child in noun.rights
    )
    return begun or (is_person(name) and not any(child.dep_ == "cc" for child in noun.children))


def _before(token: "Token", name: str, references: "References") -> Iterator[tuple[str, str, str]]:
    """``Lincoln's wife Mary`` and ``coach Frank Rijkaard``: the common nouns before a name are its role."""
    left = [child for child in token.lefts if child.dep_ in ("compound", "nmod", "amod")]
    if not any(is_common(child) for child in left) or not all(map(says_something, filter(is_common, left))):
        return
    words = [part for child in left for part in child.subtree if part.dep_ != "poss"]
    phrase = " ".join(word.text for word in words if word.tag_ not in ("DT", "POS", "PRP$", "WP$") and word.text != '"')
    owners = list(find_owners(token, references)) + [pair for child in left for pair in find_owners(child, references)]
    for _, owner in owners:
        yield owner, phrase, name
    owned = bool(owners) or any(child.dep_ == "poss" for child in token.children)
    if not owned and left[-1].tag_ == "NN" and token.ent_type_ in _HAVE_ROLES and not _is_technical(token):
        yield name, "is", phrase


def _names_in_apposition(noun: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    """``Barcelona's academy, La Masia`` and ``the capital of Belgium, Brussels``."""
    first = [
        child
        for child in noun.children
        if child.dep_ == "appos" and is_named(child) and not is_time(child) and not is_bracketed(noun, child)
    ]
    owners = [owner for _, owner in find_owners(noun, references)]
    owned = bool(owners) or any(child.dep_ == "poss" for child in noun.children)
    may_be_kind = not owned and noun.tag_ == "NN" and not is_empty(noun)
    for child in (name for names in first for name in iterate_conjuncts(names)):
        if name := references.entity(child):
            yield from ((owner, write_noun(noun), name) for owner in owners)
            if may_be_kind and _is_introduced(noun, child) and not _is_technical(child):
                yield name, "is", write_noun(noun)
