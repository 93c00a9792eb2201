"""A triple's predicate, taken apart: the words that carry it, its last preposition, and which way it points."""

from dataclasses import dataclass
from functools import cached_property

from triplebeam.support.vocabulary import DENIALS, INVERSE, KINDS_OF_OBJECT, LIGHT, PLACING, PREPOSITIONS
from triplebeam.support.words import is_role, stem, words_of


@dataclass(frozen=True)
class Relation:
    """A predicate taken apart."""

    predicate: str

    @cached_property
    def keys(self) -> list[str]:
        """Its words."""
        return [word.key for word in words_of(self.predicate)]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words, reduced."""
        keys = [key for key in self.keys if key not in LIGHT | DENIALS and key not in self.numbers]
        stems = frozenset(map(stem, [key for key in keys if key not in KINDS_OF_OBJECT] or keys))
        return stems - PLACING if self.preposition else stems

    @cached_property
    def preposition(self) -> str:
        """The group of its last word, if that is a preposition; a "birthplace" is where one was born in."""
        place = not {"birthplace", "place"}.isdisjoint(self.keys)
        return PREPOSITIONS.get(self.keys[-1], "in" if place else "") if self.keys else ""

    @cached_property
    def numbers(self) -> frozenset[str]:
        """What it says in digits: "population in 2011"."""
        return frozenset(key for key in self.keys if key[0].isdecimal())

    @cached_property
    def of_date(self) -> bool:
        """Its object is a date."""
        return not {"date", "year"}.isdisjoint(self.keys)

    @cached_property
    def object_acts(self) -> bool:
        """The object does it to the subject: "directed by"; or is it: "director", but not "director of"."""
        return self.preposition == "by" or (self.is_role and not self.preposition)

    @cached_property
    def is_role(self) -> bool:
        """It says what one is to the other."""
        carrying = [key for key in self.keys if key not in LIGHT]
        return bool(carrying) and is_role(carrying[-1])

    @cached_property
    def inverse(self) -> "Relation | None":
        """What says the same in other words: "father" is "child of"."""
        other = next((INVERSE[each] for each in sorted(self.stems) if each in INVERSE), None)
        return Relation(other if self.preposition else f"{other} of") if other else None
