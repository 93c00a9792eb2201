"""Whether a sentence states a relation between two entities that it mentions: rules over words, and in doubt no.

A relation word has one entity before it and reaches another behind it. "By" turns the direction ("B was directed by
A"), and so do a noun ("B's director A"), a predicate that ends in "by", and an object that comes before the subject:
the sentence states the fact if the number of turns is even.
"""

from collections.abc import Iterator
from typing import NamedTuple

from triplebeam.support.mentions import Mention
from triplebeam.support.page import Page, Sentence
from triplebeam.support.predicate import Predicate
from triplebeam.support.words import (
    ARTICLES,
    AUXILIARIES,
    COPULAS,
    DENIALS,
    INVERSE,
    KIN,
    KNOWN,
    LIGHT,
    PREPOSITIONS,
    SYMMETRIC,
    is_role,
    listed,
)

_MAY_LACK = frozenset({"goal", "company", "owner", "role"})
_BARRIERS = listed("who which whom where whose he she it they i we")
_SHORT = 20
_DASHES = frozenset("-–—")
_KINDS = listed("occupation profession nationality position job genre")
_OWNERS = listed("his her its their whose")


class Clause(NamedTuple):
    """A sentence, the words of it that are quoted, and the predicate that they should state."""

    page: Page
    sentence: Sentence
    quoted: range
    predicate: Predicate
    dated: bool
    """The object is a date."""

    def extents(self, subject: Mention, object_: Mention) -> Iterator[range]:
        """The words that state it, the entities included."""
        if self.sentence.question or max(subject.first, object_.first) < min(subject.last, object_.last):
            return
        ends = [subject.first, subject.last - 1, object_.first, object_.last - 1]
        for places in self._places(subject, object_):
            stretch = range(min(*ends, *places), max(*ends, *places) + 1)
            if self._denials(subject, object_, stretch.stop) == self.predicate.denials:
                yield stretch

    def _places(self, subject: Mention, object_: Mention) -> Iterator[list[int]]:
        """The places of words that relate the two as the predicate does."""
        if self._in_brackets(subject, object_):
            yield []
        if self._is_plain(subject, object_):
            yield [self.quoted[0], self.quoted[-1]]
        bare = not any(stem in self.page.stems for stem in self.predicate.stems if stem != "locate")
        for place in self.quoted:
            if subject.first <= place < subject.last or object_.first <= place < object_.last:
                continue
            stem = self.page.words[place].stem
            inverse = stem in INVERSE.get(self.predicate.main, ())
            same = stem == self.predicate.main or stem in KIN.get(self.predicate.main, ())
            light = bare and self._is_light(place, subject, object_)
            carried = inverse or light or (same and self._complete())
            if carried and self._relates(subject, place, object_, inverse):
                yield [place]

    def _is_plain(self, subject: Mention, object_: Mention) -> bool:
        """A short quotation that names nothing else: it is about these two, even if the predicate is a paraphrase."""
        words, predicate = self.page.words, self.predicate
        if len(self.quoted) > _SHORT or subject.last > object_.first or not predicate.stems or self._owns(object_):
            return False
        taken = {*range(subject.first, subject.last), *range(object_.first, object_.last)}
        free = [words[n] for n in self.quoted if n not in taken]
        said, title = {word.stem for word in free}, {word.folded for word in self.page.title_words}
        if any(stem in self.page.stems and stem not in said for stem in predicate.stems):
            return False
        number = words[object_.first].key[0].isdecimal()
        if any(word.key[0].isdecimal() if number else word.is_name and word.folded not in title for word in free):
            return False
        between = words[max(subject.last, self.quoted[0]) : object_.first]
        governor = next((PREPOSITIONS[word.key] for word in reversed(between) if word.key in PREPOSITIONS), "")
        if not said.isdisjoint(predicate.stems):
            stated = any(word.stem in predicate.stems for word in between)
        else:
            stated = predicate.main not in KNOWN and not number
        return stated and governor == predicate.preposition

    def _complete(self) -> bool:
        """Each word of the predicate is in the sentence, or nowhere in the passage."""
        said = {word.stem for word in self.page.words[self.sentence.first : self.sentence.last]}
        kin = KIN.get(self.predicate.main, frozenset())
        return all(stem in said or stem not in self.page.stems or said & kin for stem in self.predicate.stems)

    def _is_light(self, place: int, subject: Mention, object_: Mention) -> bool:
        """A word that carries a predicate without words of its own: "is", "in"; ", the" in "Ann, the queen"."""
        words, predicate = self.page.words, self.predicate
        word, after = words[place], words[min(object_.last, len(words) - 1)]
        verbs = [each for each in words[subject.last : place] if each.is_verb and each.key not in COPULAS]
        if verbs and ")" not in word.gap:
            return False
        if predicate.preposition:
            light = not predicate.stems or predicate.main in ("locate", "come")
            return light and PREPOSITIONS.get(word.key) == predicate.preposition
        if predicate.possessive:
            return word.key in ("has", "had", "have") and not predicate.stems
        whole = after.gap != " " or after.is_verb or after.key in LIGHT  # no "a French" in "a French painter"
        if not (predicate.copular or predicate.main in _KINDS) or self.dated or (predicate.copular and not whole):
            return False
        return word.key in COPULAS or (word.key in ARTICLES and word.gap.startswith(","))

    def _relates(self, subject: Mention, trigger: int, object_: Mention, inverse: bool) -> bool:
        words, predicate = self.page.words, self.predicate
        first, second = sorted((subject, object_))
        light = words[trigger].key in COPULAS or words[trigger].key in ARTICLES
        key = words[trigger].key
        noun = is_role(key) or (predicate.noun and not words[trigger].is_verb and not light) or key.endswith("ist")
        if trigger < first.first:
            opens = trigger - self.sentence.first < 2 and self.sentence.subject in (second.first, second.first - 1)
            if not opens and not (noun and words[first.last].key in COPULAS):
                return False
            first, second = second, first  # "Born in B, A …"; "The director of B is A"
        elif trigger >= second.last:
            if noun and self._owns(second) and trigger - second.last <= 3:
                preposition: str | None = "owner"  # "A, B's director"
            elif second == subject and first.last <= self.sentence.subject and first.first:
                # "In 1950, A moved …"
                preposition, first, second = PREPOSITIONS.get(words[first.first - 1].key), second, first
            else:
                return False
            return self._agrees(preposition, noun, first == object_, inverse, light)
        if trigger > first.last and self._belongs_to_another(first, trigger):
            return False
        preposition = self._reaches(trigger, second)
        if self._owns(first) and (not noun or preposition or trigger - first.last > 4):
            return False
        return self._agrees(preposition, noun, first == object_, inverse, light)

    def _agrees(self, said: str | None, noun: bool, swapped: bool, inverse: bool, light: bool) -> bool:
        """The turns cancel out, and the preposition is the predicate's."""
        predicate = self.predicate
        if said is None:
            return False
        wanted = predicate.preposition
        turned = said == "agent" or (noun and not said)
        turns = turned + (predicate.backward and not light) + swapped + inverse
        if predicate.main in SYMMETRIC and said in ("", "goal", "company", "owner"):
            return True
        if turns % 2:
            return swapped and predicate.main == "star" and {said, wanted} == {"", "place"}
        if turned or swapped or inverse:
            return {said, wanted} <= {"", "agent", "owner"}
        if self.dated and {said, wanted} <= {"", "on", "place"}:
            return True
        return said == wanted or (not said and wanted in _MAY_LACK)

    def _belongs_to_another(self, entity: Mention, trigger: int) -> bool:
        """A name that no preposition governs comes right before the relation word."""
        words, place = self.page.words, trigger - 1
        while place > entity.last and words[place].key in AUXILIARIES | {"who", "which"}:
            place -= 1
        first = place
        while first > entity.last and words[first - 1].is_name and words[first].gap == " ":
            first -= 1
        if not words[place].is_name or words[place + 1].gap not in (" ", ", "):
            return False
        return first > entity.last and words[first - 1].key not in PREPOSITIONS and words[first - 1].key not in ARTICLES

    def _reaches(self, trigger: int, entity: Mention) -> str | None:
        """The preposition (its group) by which a relation word reaches the entity behind it; None if it does not."""
        words, place = self.page.words, trigger + 1
        while place < entity.first and "and" in (words[place].key, words[place - 1].key * words[place].is_verb):
            place += 1
        rest = words[place : entity.first]
        copula = 1 if is_role(words[trigger].key) or self.predicate.noun else 0
        if any(word.key in _BARRIERS or (word.is_verb and not (copula and word.key in COPULAS)) for word in rest):
            return None
        if any(word.gap.startswith(",") and word.key in ARTICLES for word in rest):
            return None
        if self._owns(entity) or any(mark in word.gap for word in words[place : entity.first + 1] for mark in ";:"):
            return None
        governors = [n for n, word in enumerate(rest) if word.key in PREPOSITIONS]
        if len(governors) > 1 and rest[governors[-1]].key == "of" and not rest[governors[-1] - 1].is_name:
            governors.pop()  # "in the province of B" says "in B" as well
        return PREPOSITIONS[rest[governors[-1]].key] if governors else PREPOSITIONS.get(words[trigger].key, "")

    def _owns(self, entity: Mention) -> bool:
        """The entity is in the possessive: "Cahn's", "his"."""
        if entity.last - entity.first == 1 and self.page.words[entity.first].key in _OWNERS:
            return True
        after = self.page.words[entity.last] if entity.last < len(self.page.words) else None
        return after is not None and after.key == "s" and after.gap in ("'", "’")

    def _in_brackets(self, subject: Mention, object_: Mention) -> bool:
        """Birth or death in brackets: "A (1899 – 1963)"."""
        if self.predicate.stems not in (("bear",), ("die",)) or subject.last > object_.first:
            return False
        text, end = self.page.text, self.page.words[object_.first].start
        before = text[self.page.words[subject.last - 1].end : end].rpartition("(")
        bracket = text[end - len(before[2]) : text.find(")", end)]
        if not before[1] or ")" in before[2] or not _DASHES & set(bracket):
            return False
        placed = self.dated or self.predicate.preposition == "place"
        return placed and bool(_DASHES & set(before[2])) == (self.predicate.main == "die")

    def _denials(self, subject: Mention, object_: Mention, last: int) -> frozenset[str]:
        """The words of the sentence, up to a place and outside the names, that deny what it says."""
        words, said = self.page.words, set()
        for place in range(self.sentence.first, last):
            if subject.first <= place < subject.last or object_.first <= place < object_.last:
                continue
            word, following = words[place], words[place + 1].key if place + 1 < len(words) else ""
            aside = (word.key == "t" and word.gap not in ("'", "’")) or following == "only" or following[:1].isdecimal()
            if word.key in DENIALS and not aside:
                said.add(word.key)
        return frozenset(said)
