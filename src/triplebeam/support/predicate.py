"""A triple's predicate, taken apart: the words that carry it, which way it points, and its last preposition."""

from functools import lru_cache
from typing import NamedTuple

from triplebeam.support.page import words_of
from triplebeam.support.words import (
    ARTICLES,
    COPULAS,
    DENIALS,
    KINDS_OF_OBJECT,
    LIGHT,
    PREPOSITIONS,
    is_role,
    is_verb,
    listed,
    stem,
)

_EVENTS = listed("birthplace birthdate birth death")


class Predicate(NamedTuple):
    """What a text must say to carry the relation."""

    stems: tuple[str, ...]
    """The words that carry it, reduced; empty where there are only light ones."""
    main: str
    """The word whose place in the sentence decides who does what; empty where there are only light ones."""
    backward: bool
    """The object acts on the subject: "directed by"; "director", which says that the object directs the subject."""
    preposition: str
    """The group of its last preposition, which the object follows; empty where it has none."""
    denials: frozenset[str]
    copular: bool
    possessive: bool
    noun: bool
    """It names what the object is to the subject: "director", "has a population of"."""
    of_date: bool


@lru_cache(maxsize=1024)
def read_predicate(predicate: str) -> Predicate:
    """Take a predicate apart."""
    keys = [word.key for word in words_of(predicate)]
    carrying = [key for key in keys if key not in LIGHT and key not in DENIALS]
    carrying = [key for key in carrying if key not in KINDS_OF_OBJECT] or carrying
    main = next((key for key in carrying if is_verb(key)), carrying[-1] if carrying else "")
    preposition = PREPOSITIONS.get(keys[-1], "") if keys else ""
    possessive = not {"has", "have", "had"}.isdisjoint(keys)
    if main in _EVENTS and not preposition:  # "birthplace", "place of birth": born in
        carrying, preposition = [main], "place"
    plain = not is_verb(main) and not main.endswith(("s", "ing")) and (not preposition or possessive)
    noun = bool(main) and main not in _EVENTS and (is_role(main) or plain)
    return Predicate(
        stems=tuple(stem(key) for key in carrying),
        main=stem(main) if main else "",
        backward=(not preposition or possessive) if noun else preposition == "agent",
        preposition=preposition,
        denials=DENIALS.intersection(keys),
        copular=bool(keys) and all(key in COPULAS | ARTICLES for key in keys),
        possessive=possessive,
        noun=noun,
        of_date="date" in keys or "year" in keys,
    )
