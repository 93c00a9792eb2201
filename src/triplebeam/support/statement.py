"""Does a sentence state a relation between two of its mentions? Words and their order decide, not grammar."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile

from triplebeam.support.names import date_of
from triplebeam.support.page import Page
from triplebeam.support.vocabulary import (
    APPEARING, COPULAS, DENIALS, GENERAL, INVERSE, KINDS_OF_OBJECT, KNOWN, LIGHT, NATURES, NO_ROLES, PLACING, PREPOSITIONS, RELATIVES, SYMMETRIC, TRANSPARENT,
)
from triplebeam.support.words import Word, is_role, stem, words_of

_DASHES = frozenset("-–—")
#: In words, from a word of the relation to the object.
_FARTHEST = 20


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
        keys = [key for key in self.keys if key not in LIGHT | DENIALS and not key[0].isdecimal()]
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
        return self.preposition == "by" or (self.is_role and not self.preposition)

    @cached_property
    def is_role(self) -> bool:
        """It says what one is to the other."""
        carrying = [key for key in self.keys if key not in LIGHT]
        return bool(carrying) and is_role(carrying[-1])

    @cached_property
    def inverse(self) -> "Relation | None":
        """What says the same in other words: "father" is "child of"."""
        other = next((INVERSE[GENERAL.get(each, each)] for each in self.stems if GENERAL.get(each, each) in INVERSE), None)
        return Relation(other if self.preposition else f"{other} of") if other else None


def _stems(word: Word) -> set[str]:
    """A daughter is a child as well."""
    return {word.stem, GENERAL.get(word.stem, word.stem)}


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
        missing = (self.relation.stems | {key for key in self.relation.keys if key[0].isdecimal()}) - said
        if self.relation.preposition == "by" and self._governors(object_)[0] == "by":
            return not missing & self.page.stems
        return not missing & (self.page.stems | KNOWN)

    def _related(self, subject: range, object_: range, dated: bool) -> bool:
        relation, wanted = self.relation, self.relation.preposition
        said = self._governors(object_)
        if not relation.stems or not self.cues:
            return self._light(subject, object_, dated)
        cues = [cue for cue in self.cues if cue not in object_ and cue not in subject]
        if relation.stems & SYMMETRIC and wanted in ("", "to", "with", "of", "as", "from"):
            ends = [object_, subject] if object_.stop <= subject.start else [object_]
            return said[0] in ("", "to", "with", "of", "as", "from") and any(self._reaches(cue, each) for cue in cues for each in ends)
        if object_ and not any(self._reaches(cue, object_) for cue in cues):
            if self._opens(object_, subject) and said[0] == wanted:
                return True
            return self._modifies(object_, cues) and subject.start < object_.start
        if dated and said[0] in ("", "on", "in") and (not said[0] or wanted in ("on", "in") or relation.of_date):
            return True
        if wanted and wanted != "by":
            if wanted in (said[:1] if wanted == "of" else said):
                same = wanted == self._governors(subject)[0]
                return not (same and any(cue < subject.start and self._reaches(cue, subject) for cue in cues))
            if wanted != "of":
                return False
        return self._acts(*((object_, subject) if relation.object_acts else (subject, object_)), cues)

    def _light(self, subject: range, object_: range, dated: bool) -> bool:
        """Without words of its own, a relation is a preposition, or a copula."""
        words, wanted = self.page.words, self.relation.preposition
        if subject.start >= object_.start or self._owns(subject):
            return False
        back = takewhile(lambda n: words[n].key not in RELATIVES, self._back(object_))
        verb = next((words[n].key for n in back if words[n].is_verb), "")
        if wanted and wanted in self._governors(object_):
            return not verb or verb in COPULAS
        if dated and self.relation.stems and self.relation.stems <= APPEARING:
            return verb in COPULAS and not self._governors(object_)[0]
        if wanted or dated or verb not in COPULAS or self._governors(object_)[0] or self.relation.stems - NATURES:
            return False
        after = words[object_.stop] if object_.stop < self.sentence.stop else None
        return bool(self.relation.stems) or not (after and after.gap == " " and (after.is_plain or after.is_name) and not after.is_verb)

    def _acts(self, actor: range, patient: range, cues: list[int]) -> bool:
        """The actor does it to the patient: "A directed B", "B, directed by A", "A, director of B", "B's director A"."""
        words, of_actor, of_patient = self.page.words, self._governors(actor)[0], self._governors(patient)[0]
        if "by" in (of_actor, of_patient):
            return of_actor == "by" != of_patient
        for cue in cues:
            if is_role(words[cue].key) and (self.relation.is_role or words[cue].stem in KNOWN):
                if not of_actor and not self._modifies(actor, [cue]) and (of_patient == "of" or (not of_patient and patient.start < cue)):
                    return True
            elif not self.relation.is_role and actor.start < cue < patient.start and (not of_patient or (of_patient in ("of", "as") and not words[cue].is_verb)):
                return True
        return False

    def _back(self, mention: range) -> Iterator[int]:
        """The places before a mention, backwards, brackets left out."""
        words, depth = self.page.words, 0
        for place in range(mention.start - 1, self.sentence.start - 1, -1):
            gap = words[place + 1].gap
            depth = max(0, depth + gap.count(")") - gap.count("("))
            if not depth:
                yield place

    def _governors(self, mention: range) -> list[str]:
        """The group of the preposition that a mention follows, then of those that this one follows; else empty."""
        words, found = self.page.words, ["of"] if self._owns(mention) else []
        for place in () if found else self._back(mention):
            word, following = words[place], words[place + 1]
            if word.key in PREPOSITIONS and words[place - 1].key != "such":
                found.append(PREPOSITIONS[word.key])
            elif word.is_verb or place in self.cues or word.key in RELATIVES or ";" in following.gap:
                break
            elif found and found[-1] != "of" and (word.is_name or word.is_number):
                break
            elif word.key == "and" and following.is_plain and place + 1 < mention.start:
                break
        return found or [""]

    def _reaches(self, cue: int, mention: range) -> bool:
        """No other verb and no other clause come between a word of the relation and a mention."""
        words, place = self.page.words, cue + 1
        if self._owns(mention) or cue >= mention.stop:
            return self._owns(mention) and mention.stop < cue <= mention.stop + 3
        while place < mention.start and (words[place].key in ("and", "or") or self._joined(place)):
            place += 1
        noun = not words[cue].is_verb
        return mention.start - cue <= _FARTHEST and not any(
            (word.is_verb and not (noun and word.key in COPULAS)) or word.key in RELATIVES or ";" in word.gap
            or (word.is_plain and word.gap != "-" and word.stem in KNOWN - self.relation.stems - PLACING and not is_role(word.key) and word.key not in TRANSPARENT)
            or (word.is_plain and word.key.endswith("ing") and before.key in PREPOSITIONS)
            for before, word in pairwise(words[place - 1 : mention.start])
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
            and all("," not in word.gap and word.key not in LIGHT and not word.is_verb for word in words[mention.stop : cue + 1])
            for cue in cues
        )

    def _opens(self, object_: range, subject: range) -> bool:
        """A phrase before the sentence proper: "In 1950, A moved"."""
        after = self.page.words[object_.stop : object_.stop + 1]
        return object_.start - self.sentence.start < 2 and bool(after) and "," in after[0].gap and object_.stop <= subject.start

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
