"""Words of a noun phrase or a verb group as they go into a triple."""

from typing import TYPE_CHECKING

from triplebeam.extract.local.mentions import is_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spacy.tokens import Token

_MODIFIERS = ("compound", "amod", "nummod", "nmod", "quantmod", "advmod", "npadvmod", "punct")
_VERB_PARTS = ("aux", "auxpass", "neg", "prt")
_LONGEST = 6
#: Nouns that stand for nothing by themselves.
_EMPTY_NOUNS = frozenset("one ones number part variety lot some others other all both each most many such".split())


def noun_phrase(noun: "Token") -> str:
    """The noun with what modifies it from the left; no article, no owner. A name is left as it is."""
    if is_named(noun) or noun.tag_ == "PRP":
        return noun.text.strip(" .,;:'\"")
    kept = [noun]
    for child in reversed(list(noun.lefts)):
        if child.dep_ not in _MODIFIERS or child.text in '",("':
            break
        kept = [token for token in child.subtree if token.i < noun.i and token.dep_ != "det"] + kept
    return " ".join(token.text for token in kept[-_LONGEST:]).replace(" - ", "-").strip(" .,;:'\"-–")


def says_something(noun: "Token") -> bool:
    """A name, or a common noun that means something outside its sentence."""
    return is_named(noun) or (noun.tag_ in ("NN", "NNS", "VBG", "CD", "JJ") and noun.lower_ not in _EMPTY_NOUNS)


def verb_group(verb: "Token") -> str:
    """The verb with its auxiliaries, negation and particle, in the order of the sentence."""
    parts = [child for child in verb.children if child.dep_ in _VERB_PARTS and child.tag_ != "TO"]
    return " ".join(token.lower_ for token in sorted([verb, *parts], key=lambda token: token.i))


def with_conjuncts(token: "Token") -> "Iterator[Token]":
    """The token and all that is joined to it by commas, ``and`` or ``or``."""
    yield token
    for child in token.children:
        if child.dep_ == "conj":
            yield from with_conjuncts(child)


def prepositions(head: "Token") -> "Iterator[tuple[str, Token]]":
    """Each preposition of the head, with the nouns it governs: ``("out of", competition)``."""
    for child in head.children:
        if child.dep_ in ("prep", "agent", "dative") and child.tag_ in ("IN", "TO", "RP", "VBG", "RB", "JJ"):
            for preposition in with_conjuncts(child):
                if preposition.dep_ == "conj" and preposition.tag_ != "IN":
                    continue
                yield from _governed(preposition)


def _governed(preposition: "Token") -> "Iterator[tuple[str, Token]]":
    word = preposition.lower_
    for child in preposition.children:
        if child.dep_ == "pobj":
            for noun in with_conjuncts(child):
                yield word, noun
        elif child.dep_ == "prep":
            yield from ((f"{word} {inner}", noun) for inner, noun in _governed(child))
