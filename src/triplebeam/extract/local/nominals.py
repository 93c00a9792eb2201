"""Facts that nouns state without a verb: appositions, roles before a name, owners, and places behind a name."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.mentions import is_named, is_time
from triplebeam.extract.local.phrases import noun_phrase, prepositions, with_conjuncts

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from triplebeam.extract.local.reference import References

_PLACES = ("GPE", "LOC", "FAC")
_COMMON = ("NN", "NNS")


def nominal_facts(doc: "Doc", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every noun that says something of another noun."""
    for token in doc:
        if is_named(token) and not is_time(token):
            name = references.entity(token)
            if name:
                yield from _behind(token, name, references)
                yield from _before(token, name, references)
        elif token.tag_ in _COMMON:
            yield from _names_in_apposition(token, references)


def _behind(token: "Token", name: str, references: "References") -> Iterator[tuple[str, str, str]]:
    """``Ghent, Belgium`` and ``Ghent, the capital of East Flanders`` and ``the Town Hall in Ghent``."""
    for child in token.children:
        if child.dep_ == "appos":
            for noun in with_conjuncts(child):
                yield from _apposition(token, name, noun, references)
    for word, noun in prepositions(token):
        if is_named(noun) and (target := references.entity(noun)) and target != name:
            yield name, word, target


def _apposition(token: "Token", name: str, noun: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    target = references.entity(noun)
    if not target or target == name:
        return
    if is_named(noun):
        if noun.ent_type_ in _PLACES and token.ent_type_ in (*_PLACES, "ORG"):
            yield name, "located in", target
        elif not is_time(noun):
            yield name, "is", target
        return
    related = [(f"{noun_phrase(noun)} {word}", other) for word, other in prepositions(noun)]
    related += [(noun_phrase(noun) + " of", child) for child in noun.children if child.dep_ == "poss"]
    facts = [(predicate, entity) for predicate, other in related if (entity := references.entity(other))]
    yield from ((name, predicate, entity) for predicate, entity in facts if entity != name)
    if not facts:
        yield name, "is", target


def _before(token: "Token", name: str, references: "References") -> Iterator[tuple[str, str, str]]:
    """``Lincoln's wife Mary`` and ``coach Frank Rijkaard``: the common nouns before a name are its role."""
    role = [child for child in token.lefts if child.dep_ in ("compound", "nmod", "amod") and not is_named(child)]
    if not any(child.tag_ in _COMMON for child in role):
        return
    words = [part for child in token.lefts if child.dep_ in ("compound", "nmod", "amod") for part in child.subtree]
    phrase = " ".join(word.text for word in words if word.tag_ not in ("DT", "POS", "PRP$") and not word.is_punct)
    owners = [child for child in token.children if child.dep_ == "poss"]
    for owner in owners:
        if (entity := references.entity(owner)) and entity != name:
            yield entity, phrase, name
    if not owners and phrase:
        yield name, "is", phrase


def _names_in_apposition(noun: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    """``Barcelona's academy, La Masia`` and ``the capital of Belgium, Brussels``."""
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
    owners = [child for child in noun.children if child.dep_ == "poss"]
    owners += [owner for word, owner in prepositions(noun) if word == "of" and is_named(owner)]
    for name in (entity for child in names if (entity := references.entity(child))):
        stated = False
        for owner in owners:
            if (entity := references.entity(owner)) and entity != name:
                stated = True
                yield entity, noun_phrase(noun), name
        if not stated:
            yield name, "is", noun_phrase(noun)
