"""A triple's predicate, taken apart: the words that carry it, which way it points, and its last preposition."""

from dataclasses import dataclass
from functools import lru_cache

from triplebeam.support.page import words_of
from triplebeam.support.words import (
    ARTICLES,
    COPULAS,
    DENIALS,
    KINDS_OF_OBJECT,
    LIGHT,
    PREPOSITIONS,
    SYMMETRIC,
    is_role,
    is_verb,
    stem,
)

_EVENTS = frozenset({"birthplace", "birthdate", "birth", "death"})
_POSSESSION = frozenset({"has", "have", "had"})


@dataclass(frozen=True, slots=True)
class Predicate:
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
    verbal: bool
    noun: bool
    of_date: bool

    @property
    def symmetric(self) -> bool:
        """Subject and object may change places."""
        return self.main in SYMMETRIC


@lru_cache(maxsize=1024)
def read_predicate(predicate: str) -> Predicate:
    """Take a predicate apart."""
    keys = [word.key for word in words_of(predicate)]
    carrying = [key for key in keys if key not in LIGHT and key not in DENIALS]
    carrying = [key for key in carrying if key not in KINDS_OF_OBJECT] or carrying
    main = next((key for key in carrying if is_verb(key)), carrying[-1] if carrying else "")
    preposition = PREPOSITIONS.get(keys[-1], "") if keys else ""
    possessive = bool(_POSSESSION.intersection(keys))
    if main in _EVENTS and not preposition:  # "birthplace", "place of birth": born in
        carrying, preposition = [main], "place"
    verbal = is_verb(main) or main.endswith(("s", "ing"))
    noun = bool(main) and main not in _EVENTS and (is_role(main) or (not verbal and (not preposition or possessive)))
    backward = (not preposition or possessive) if noun else preposition == "agent"
    return Predicate(
        stems=tuple(stem(key) for key in carrying),
        main=stem(main) if main else "",
        backward=backward,
        preposition=preposition,
        denials=DENIALS.intersection(keys),
        copular=bool(keys) and all(key in COPULAS | ARTICLES for key in keys),
        possessive=possessive,
        verbal=verbal,
        noun=noun,
        of_date="date" in keys or "year" in keys,
    )
