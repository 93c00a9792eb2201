"""Does a sentence state a relation between two of its mentions? Words and their order decide, not grammar."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from triplebeam.support.names import date_of
from triplebeam.support.page import Page
from triplebeam.support.vocabulary import (
    ARTICLES, COPULAS, DENIALS, GENERAL, INVERSE, KINDS_OF_OBJECT, KNOWN, LIGHT, PLACING, PREPOSITIONS, RELATIVES, ROLES, SYMMETRIC,
)
from triplebeam.support.words import Word, words_of, stem

_DASHES = frozenset("-–—")


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
        keys = [key for key in self.keys if key not in LIGHT and key not in DENIALS]
        stems = frozenset(map(stem, [key for key in keys if key not in KINDS_OF_OBJECT] or keys))
        return stems - PLACING if self.preposition else stems

    @cached_property
    def preposition(self) -> str:
        """The group of its last word, if that is a preposition."""
        return PREPOSITIONS.get(self.keys[-1], "") if self.keys else ""

    @cached_property
    def of_date(self) -> bool:
        """Its object is a date."""
        return not {"date", "year"}.isdisjoint(self.keys)

    @cached_property
    def object_acts(self) -> bool:
        """The object does it to the subject: "directed by"; or is it: "director", but not "director of"."""
        carrying = [key for key in self.keys if key not in LIGHT]
        return self.preposition == "by" or bool(carrying and is_role(carrying[-1]) and not self.preposition)

    @cached_property
    def inverse(self) -> "Relation | None":
        """What says the same in other words: "father" is "child of"."""
        other = next((INVERSE[GENERAL.get(each, each)] for each in self.stems if GENERAL.get(each, each) in INVERSE), None)
        return Relation(other if self.preposition else f"{other} of") if other else None


def _stems(word: Word) -> set[str]:
    """A daughter is a child as well."""
    return {word.stem, GENERAL.get(word.stem, word.stem)}


def is_role(key: str) -> bool:
    """Names a part that one entity plays towards another: "director", "wife"."""
    return key in ROLES or (len(key) > 4 and key.endswith(("er", "or", "ers", "ors", "ist")) and key not in LIGHT)


@dataclass(frozen=True)
class Statement:
    """A sentence of a page, and the relation that it may state."""

    page: Page
    sentence: range
    relation: Relation

    @cached_property
    def cues(self) -> list[int]:
        """Where the words of the relation are."""
        return [n for n in self.sentence if self.relation.stems & _stems(self.page.words[n])]

    def holds(self, subject: range, object_: range, dated: bool) -> bool:
        """It relates two mentions, in this direction; an empty mention is the title, which is not named."""
        if self._in_brackets(object_, dated):
            return True
        if self._complete(subject, object_) and self._related(subject, object_, dated):
            return True
        inverse = self.relation.inverse
        return inverse is not None and Statement(self.page, self.sentence, inverse)._stated(subject, object_, dated)

    def _stated(self, subject: range, object_: range, dated: bool) -> bool:
        return self._complete(subject, object_) and self._related(subject, object_, dated)

    def _complete(self, subject: range, object_: range) -> bool:
        """Each word of the relation is in the sentence, or nowhere in the passage and no known relation."""
        said = {each for place in self.sentence for each in _stems(self.page.words[place])}
        missing = self.relation.stems - said
        if self.relation.preposition == "by" and self._governor(object_) == "by":
            return not missing & self.page.stems
        return not missing & (self.page.stems | KNOWN)

    def _related(self, subject: range, object_: range, dated: bool) -> bool:
        relation = self.relation
        wanted, said = relation.preposition, self._governor(object_)
        if not relation.stems or not self.cues:
            return self._light(subject, object_, dated)
        outside = [cue for cue in self.cues if cue not in object_ and cue not in subject]
        if not any(self._reaches(cue, object_) for cue in outside):
            return self._modifies(object_, outside) and subject.start < object_.start
        if relation.stems & SYMMETRIC and wanted in ("", "to", "with", "of", "as"):
            return True
        if dated and said in ("", "on", "in") and (not said or wanted in ("on", "in") or relation.of_date):
            return True
        if wanted and wanted not in ("by", "of"):
            return said == wanted or (wanted == "in" and self._governor(object_, outer=True) == "in")
        if wanted == "of" and said == "of" and subject.start < object_.start:
            return True
        return self._acts(*((object_, subject) if relation.object_acts else (subject, object_)))

    def _light(self, subject: range, object_: range, dated: bool) -> bool:
        """Without words of its own, a relation is a preposition, or a copula."""
        words, wanted = self.page.words, self.relation.preposition
        if subject.start >= object_.start:
            return False
        verb = next((words[n].key for n in self._back(object_) if words[n].is_verb), "")
        if (verb not in COPULAS) if not wanted else (verb and verb not in COPULAS):
            return False
        if not wanted and dated:
            return False
        return wanted == self._governor(object_) or (wanted == "in" and self._governor(object_, outer=True) == "in")

    def _acts(self, actor: range, patient: range) -> bool:
        by_actor, by_patient = self._governor(actor), self._governor(patient)
        if by_actor == "by":
            return by_patient != "by"
        if by_patient == "by" or by_actor:
            return False
        roles = [cue for cue in self.cues if is_role(self.page.words[cue].key)]
        if roles:
            return by_patient == "of" or (not by_patient and any(patient.start < cue for cue in roles))
        return not by_patient and any(actor.start < cue < patient.start for cue in self.cues)

    def _back(self, mention: range) -> Iterator[int]:
        """The places before a mention, backwards, brackets left out."""
        words, depth = self.page.words, 0
        for place in range(mention.start - 1, self.sentence.start - 1, -1):
            gap = words[place + 1].gap
            depth = max(0, depth + gap.count(")") - gap.count("("))
            if not depth:
                yield place

    def _governor(self, mention: range, outer: bool = False) -> str:
        """The group of the preposition that a mention follows, or of the one before "of"; empty if there is none."""
        words = self.page.words
        if self._owns(mention):
            return "of"
        for place in self._back(mention):
            word = words[place]
            if word.key in PREPOSITIONS and words[place - 1].key != "such":
                if not (outer and word.key == "of"):
                    return PREPOSITIONS[word.key]
            elif word.is_verb or place in self.cues or word.key in RELATIVES or ";" in words[place + 1].gap:
                return ""
        return ""

    def _reaches(self, cue: int, mention: range) -> bool:
        """No other verb and no other clause come between a word of the relation and a mention."""
        words, place = self.page.words, cue + 1
        if self._owns(mention) or cue >= mention.stop:
            return self._owns(mention) and mention.stop < cue <= mention.stop + 3
        while place < mention.start and (words[place].key in ("and", "or") or self._joined(place)):
            place += 1
        noun = not words[cue].is_verb
        return not any(
            (word.is_verb and not (noun and word.key in COPULAS)) or word.key in RELATIVES or ";" in word.gap
            for word in words[place : mention.start]
        )

    def _owns(self, mention: range) -> bool:
        """A mention in the possessive: "Cahn's"."""
        after = self.page.words[mention.stop : mention.stop + 1]
        return bool(mention and after and after[0].key == "s" and after[0].gap in ("'", "’"))

    def _modifies(self, mention: range, cues: list[int]) -> bool:
        """A mention belongs to a noun of the relation behind it: "a 1970 comedy film"."""
        words = self.page.words
        return any(
            mention.stop <= cue <= mention.stop + 4
            and not words[cue].is_verb
            and all(word.gap == " " and word.key not in LIGHT for word in words[mention.stop : cue + 1])
            for cue in cues
        )

    def _joined(self, place: int) -> bool:
        """A verb behind "and" or a comma: "written, directed and produced"."""
        words = self.page.words
        return words[place].is_verb and (words[place - 1].key in ("and", "or") or words[place].gap.startswith(","))

    def _in_brackets(self, object_: range, dated: bool) -> bool:
        """Birth or death in brackets: "A (1899 – 1963)"."""
        event = self.relation.stems & {"bear", "die"}
        if not event or not object_:
            return False
        words, text = self.page.words, self.page.text
        start, end = words[object_.start].start, words[object_.stop - 1].end
        before = text[words[self.sentence.start].start : start].rpartition("(")
        if not before[1] or ")" in before[2] or not (dated or self.relation.preposition == "in" or "place" in self.relation.keys):
            return False
        bracket = before[2] + text[start : text.find(")", end)]
        if _DASHES & set(bracket):
            return bool(_DASHES & set(before[2])) == ("die" in event)
        return dated and any(date_of([word]) for word in words_of(before[2])) == ("die" in event)
