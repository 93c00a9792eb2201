"""What kind of thing a token is, the words of its phrase, and the nouns that a list or a preposition leads to."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_words
from triplebeam.extract.local.prepare.terms import is_stand_in

if TYPE_CHECKING:
    from spacy.tokens import Token

#: Kinds that spaCy's model tells apart and that are names; the others are numbers and times.
NAME_KINDS = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE")
)
PLACE_KINDS = frozenset(("GPE", "LOC", "FAC"))
#: Grammatical roles of objects.
OBJECTS = ("dobj", "attr", "oprd", "dative")
#: Grammatical roles of subjects.
SUBJECTS = ("nsubj", "nsubjpass")
#: Forms of *be*, and *become*.
BE = frozenset(("is", "was", "are", "were", "be", "been", "being", "became", "become", "'s", "am", "'m", "'re"))
#: Tags of proper nouns.
PROPER = ("NNP", "NNPS")
_TIMES = ("DATE", "TIME")
_NEVER_NAMES = frozenset(
    ("DT", "POS", "IN", "CC", ",", ".", ":", "HYPH", "-LRB-", "-RRB-", "''", "``", "TO", "PRP", "PRP$")
)
_MODIFIERS = ("compound", "amod", "nummod", "nmod", "quantmod", "advmod", "npadvmod", "punct")
_VERB_PARTS = ("aux", "auxpass", "neg", "prt")
_EXCEPTING = ("instead", "unlike", "except", "versus", "according", "despite", "barring", "besides", "due")
_FULL_FORMS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'s": "is"}
_MAX_PHRASE_TOKENS = 8
_EDGES = " .,;:'\"-–"
_EMPTY_NOUNS = get_words("empty_nouns")
_OPINIONS = get_words("opinions")
_POINTING = get_words("pointing_words")
_AREAS = get_words("areas")
_TERM_KINDS = get_words("term_kinds") | {"name", "user", "string"}

_OURS = frozenset(("our", "your"))
_OF_THE_KIND = get_words("kind_verbs")
_LIGHT_VERBS = get_words("light_verbs")


def is_named(token: "Token") -> bool:
    """Return whether the token is a name, or a time or amount kept whole; an office (``the President of``) is none."""
    if token.tag_ in _NEVER_NAMES:
        return False
    if is_person(token) and token.tag_ in ("NN", "NNS") and token.text.isalpha():
        return False  # "Keys must start with": the recogniser takes a capital for a person, the tagger does not
    if token.ent_type_ in NAME_KINDS or is_time(token):
        return True
    if token.ent_type_ in _TIMES:
        return False  # "July" and "last week" cannot be looked up
    if token.tag_ not in PROPER or any(child.lower_ == "of" for child in token.rights):
        return False
    return token.dep_ not in ("attr", "oprd", "appos") or (token.dep_ == "appos" and not list(token.lefts))


def is_common(token: "Token") -> bool:
    """Return whether the token is a noun and not a name."""
    return token.tag_ in ("NN", "NNS", *PROPER) and token.ent_type_ not in _TIMES and not is_named(token)


def is_time(token: "Token") -> bool:
    """Return whether the token is a date or a year that can be looked up."""
    return token.ent_type_ in _TIMES and any(char.isdigit() for char in token.text)


def is_person(token: "Token") -> bool:
    """Return whether the recogniser took the token for a person's name."""
    return token.ent_type_ == "PERSON"


def is_verb(token: "Token") -> bool:
    """Return whether the token is a verb in any form."""
    return token.tag_.startswith("VB")


def write_noun(noun: "Token") -> str:
    """Return the noun with what modifies it from the left; no article, no owner. A name is left as it is."""
    if is_named(noun) or noun.tag_ == "PRP":
        return _clean(noun.text)
    start = noun.i
    for child in reversed(list(noun.lefts)):
        if child.dep_ not in _MODIFIERS or child.text in '",("' or noun.i - child.left_edge.i > _MAX_PHRASE_TOKENS:
            break
        start = child.left_edge.i
    while start <= noun.i and noun.doc[start].tag_ in ("DT", "PDT", "PRP$", "WDT"):
        start += 1
    return _clean(noun.doc[start : noun.i + 1].text)


def _clean(name: str) -> str:
    """Without marks at its ends, but ``U.S.`` and ``Jr.`` keep their points."""
    stripped = name.strip(_EDGES)
    return (
        f"{stripped}."
        if name.endswith(f"{stripped}.") and re.search(r"\.\w+$|\b(?:Jr|Sr|Inc|Co|Ltd)$", stripped)
        else stripped
    )


def says_something(noun: "Token") -> bool:
    """Return whether it is a name, or a common noun that means something outside its sentence."""
    if is_named(noun):
        return True
    if not is_common(noun) or noun.lower_ in _OPINIONS or any(child.lower_ in _POINTING for child in noun.lefts):
        return False
    return noun.lower_ not in _EMPTY_NOUNS or any(child.dep_ in ("compound", "amod") for child in noun.lefts)


def is_empty(noun: "Token") -> bool:
    """Return whether the noun by itself stands for nothing."""
    return noun.lower_ in _EMPTY_NOUNS


def find_names_within(noun: "Token") -> list["Token"]:
    """Names inside a common noun's phrase (``a Royal Air Force officer``), but not those of peoples."""
    if noun.lower_ in _TERM_KINDS or (noun.lower_ not in _AREAS and any(child.lower_ == "of" for child in noun.rights)):
        return []  # "a Broadway revival of Annie": not a revival of Broadway
    names = [child for child in noun.lefts if child.dep_ in ("compound", "nmod") and is_named(child)]
    return [
        name
        for name in names
        if name.ent_type_ in NAME_KINDS - {"NORP", "LANGUAGE", "PRODUCT"} and not is_stand_in(name.text)
    ]


def is_stranded(preposition: "Token") -> bool:
    """Return whether it is a preposition that governs nothing, as in ``directed by and starring``."""
    return preposition.dep_ in ("prep", "agent") and not list(preposition.children)


def is_definite(noun: "Token") -> bool:
    """Recognise ``the decision`` and ``this decision``, which the text has told of, and no other word with it."""
    children = list(noun.lefts)
    return len(children) == 1 and children[0].lower_ in ("the", "this")


def write_verb(verb: "Token") -> str:
    """Return the verb with its auxiliaries, negation, particle and stranded preposition, in sentence order."""
    parts = [child for child in verb.children if child.dep_ in _VERB_PARTS and child.tag_ != "TO"]
    parts += [child for child in verb.rights if is_stranded(child)]
    ordered = sorted([verb, *parts], key=lambda token: token.i)
    words = " ".join(_FULL_FORMS.get(token.lower_, token.lower_) for token in ordered)
    return words.replace(" n't", "n't").replace("is been", "has been")


def iterate_conjuncts(token: "Token") -> Iterator["Token"]:
    """Return the token and all that is listed with it; the parser takes some lists of names for appositions."""
    waiting = [token]  # not by recursion: a list may have a thousand names, each hanging on the one before
    while waiting:
        head = waiting.pop()
        yield head
        waiting += reversed([child for child in head.children if _is_conjunct(head, child)])


def _is_conjunct(head: "Token", child: "Token") -> bool:
    return child.dep_ == "conj" or (child.dep_ == "appos" and is_listed(head, child))


def is_listed(token: "Token", other: "Token") -> bool:
    """Two names of one kind with a comma between them are two things; but of two places, one lies in the other."""
    return token.ent_type_ == other.ent_type_ and token.ent_type_ in NAME_KINDS - PLACE_KINDS


def iterate_prepositions(head: "Token") -> Iterator[tuple[str, "Token"]]:
    """Each preposition of the head, with the nouns it governs: ``("out of", competition)``."""
    for child in head.children:
        if child.dep_ in ("prep", "agent", "dative"):
            for preposition in iterate_conjuncts(child):
                yield from _iterate_governed(preposition)


def _iterate_governed(preposition: "Token") -> Iterator[tuple[str, "Token"]]:
    word = preposition.lower_
    if word in _EXCEPTING:
        return
    governs = any(child.dep_ == "pobj" for child in preposition.children)
    for child in preposition.children:
        if child.dep_ == "pobj":
            for noun in iterate_conjuncts(child):
                yield word, noun
        elif child.dep_ == "prep":
            yield from ((inner if governs else f"{word} {inner}", noun) for inner, noun in _iterate_governed(child))


def is_bracketed(head: "Token", child: "Token") -> bool:
    """Return whether a bracket or a colon stands between the two: an aside or a list is no apposition."""
    return any(token.text in "([:" for token in head.doc[head.i + 1 : child.i])


def is_complete(noun: "Token") -> bool:
    """Nothing behind the noun says which one is meant: ``ability to``, ``files that``, ``history of``."""
    return not any(child.dep_ in ("relcl", "acl", "prep", "ccomp") for child in noun.rights)


def is_vague(noun: "Token") -> bool:
    """Recognise a bare noun that only its text explains: ``the game``, ``his duties``, ``take a bath``."""
    if not is_common(noun) or noun.text[0].isupper():
        return False
    before = {child.lower_ for child in noun.lefts if child.dep_ in ("det", "poss")}
    if before & _OURS:
        return True
    if " " in write_noun(noun):
        return False
    pointed = noun.head.lower_ not in _OF_THE_KIND and any(
        child.lower_ == "the" or (child.dep_ == "poss" and child.tag_ == "PRP$") for child in noun.lefts
    )
    first = noun
    while first.dep_ == "conj":
        first = first.head
    return pointed or (first.dep_ == "dobj" and first.head.lower_ in _LIGHT_VERBS)
