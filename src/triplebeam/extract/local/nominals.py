"""Facts that nouns state without a verb: appositions, roles before a name, owners, and places behind a name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.mentions import PLACE_KINDS, is_common, is_named, is_time
from triplebeam.extract.local.owners import owners_of
from triplebeam.extract.local.phrases import is_listed, noun_phrase, prepositions, with_conjuncts

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from triplebeam.extract.local.reference import References

_PLACE_WORDS = ("in", "near", "at", "of", "on")


def nominal_facts(doc: "Doc", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every noun that says something of another noun."""
    for token in doc:
        if is_named(token) and not is_time(token) and (name := references.entity(token)):
            yield from _behind(token, name, references)
            yield from _before(token, name, references)
        elif is_common(token):
            yield from _names_in_apposition(token, references)


def _behind(token: "Token", name: str, references: "References") -> Iterator[tuple[str, str, str]]:
    """``Ghent, Belgium`` and ``Ghent, the capital of East Flanders`` and ``the Town Hall in Ghent``."""
    for child in token.children:
        if child.dep_ == "appos" and not is_listed(token, child):
            for noun in with_conjuncts(child):
                yield from _apposition(token, name, noun, references)
    for word, noun in prepositions(token):
        if word in _PLACE_WORDS and is_named(noun) and not is_time(noun) and (place := references.entity(noun)):
            yield name, word, place


def _apposition(token: "Token", name: str, noun: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    if is_named(noun):
        if noun.ent_type_ in PLACE_KINDS and token.ent_type_ in (*PLACE_KINDS, "ORG"):
            yield name, "located in", references.entity(noun) or noun.text
        return
    if not is_common(noun):
        return
    phrase = noun_phrase(noun)
    related = [(f"{phrase} {word}", references.entity(other)) for word, other in prepositions(noun)]
    related += [(f"{phrase} of", owner) for token, owner in owners_of(noun, references) if token.head == noun]
    stated = [(predicate, entity) for predicate, entity in dict.fromkeys(related) if entity]
    yield from ((name, predicate, entity) for predicate, entity in stated)
    if not stated:
        yield name, "is", phrase


def _before(token: "Token", name: str, references: "References") -> Iterator[tuple[str, str, str]]:
    """``Lincoln's wife Mary`` and ``coach Frank Rijkaard``: the common nouns before a name are its role."""
    left = [child for child in token.lefts if child.dep_ in ("compound", "nmod", "amod")]
    if not any(is_common(child) for child in left):
        return
    words = [part for child in left for part in child.subtree]
    phrase = " ".join(word.text for word in words if word.tag_ not in ("DT", "POS", "PRP$", "WP$") and word.text != '"')
    owners = list(owners_of(token, references)) + [pair for child in left for pair in owners_of(child, references)]
    for _, owner in owners:
        yield owner, phrase, name
    if not owners and phrase and not any(child.tag_ == "NNS" for child in left):
        yield name, "is", phrase


def _names_in_apposition(noun: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    """``Barcelona's academy, La Masia`` and ``the capital of Belgium, Brussels``."""
    first = [child for child in noun.children if child.dep_ == "appos" and is_named(child) and not is_time(child)]
    owners = [owner for _, owner in owners_of(noun, references)]
    for child in (name for names in first for name in with_conjuncts(names)):
        if name := references.entity(child):
            yield from ((owner, noun_phrase(noun), name) for owner in owners)
            if not owners and noun.tag_ != "NNS":
                yield name, "is", noun_phrase(noun)
