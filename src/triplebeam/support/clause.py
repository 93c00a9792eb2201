"""A sentence and a relation: where its words are, and which mentions they reach."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from triplebeam.support.names import date_of
from triplebeam.support.page import Page
from triplebeam.support.relation import Relation
from triplebeam.support.vocabulary import COPULAS, GENERAL, KNOWN, LIGHT, PLACING, PREPOSITIONS, RELATIVES, TRANSPARENT
from triplebeam.support.words import Word, is_role, words_of

_DASHES = frozenset("-–—")
#: In words: from a word of the relation to an entity behind it, and from an entity to a noun that it modifies.
_FARTHEST, _NEAR = 20, 4


@dataclass(frozen=True)
class Clause:
    """One sentence of a page, or several that were quoted together, and a relation."""

    page: Page
    sentence: range
    relation: Relation

    @cached_property
    def cues(self) -> list[int]:
        """Where the words of the relation are."""
        return [n for n in self.sentence if self.relation.stems & _stems(self.page.words[n])]

    def is_complete(self, agent: bool) -> bool:
        """Each word of the relation is here, or nowhere in the passage and no known relation.

        With an agent ("by"), a known relation may be left out: "a play by Fielding".
        """
        said = {each for place in self.sentence for each in _stems(self.page.words[place])}
        missing = (self.relation.stems | self.relation.numbers) - said
        return not missing & (self.page.stems if agent else self.page.stems | KNOWN)

    def verb_before(self, mention: range) -> str:
        """The nearest verb before a mention in the same clause."""
        before = (self.page.words[place] for place in self._back(mention))
        found = next((word for word in before if word.is_verb or word.key in RELATIVES), None)
        return found.key if found and found.is_verb else ""

    def governors(self, mention: range) -> list[str]:
        """The group of the preposition that a mention follows, then of those that this one follows; else empty."""
        if self.owns(mention):
            return ["of"]
        words = self.page.words
        found: list[str] = []
        for place in self._back(mention):
            word, following = words[place], words[place + 1]
            joined = word.key == "and" and following.is_plain and place + 1 < mention.start
            named = found and found[-1] != "of" and (word.is_name or word.is_number)
            if word.key in PREPOSITIONS and words[place - 1].key != "such":
                found.append(PREPOSITIONS[word.key])
            elif joined or named or word.is_verb or place in self.cues or word.key in RELATIVES or ";" in following.gap:
                break
        return found or [""]

    def reaches(self, cue: int, mention: range) -> bool:
        """No other verb and no other clause come between a word of the relation and a mention."""
        words, place = self.page.words, cue + 1
        if self.owns(mention) or cue >= mention.stop:
            return self.owns(mention) and mention.stop < cue < mention.stop + _NEAR
        while place < mention.start and (words[place].key in ("and", "or") or self._is_joined(place)):
            place += 1
        between, noun = pairwise(words[place - 1 : mention.start]), not words[cue].is_verb
        return mention.start - cue <= _FARTHEST and not any(self._parts(*pair, noun) for pair in between)

    def _is_joined(self, place: int) -> bool:
        """A verb behind "and" or a comma: "written, directed and produced"."""
        words = self.page.words
        return words[place].is_verb and (words[place - 1].key in ("and", "or") or words[place].gap.startswith(","))

    def _parts(self, before: Word, word: Word, noun: bool) -> bool:
        """A word begins something else: another clause, or another relation."""
        if word.is_verb:
            return not (noun and word.key in COPULAS)
        if word.key in RELATIVES or ";" in word.gap:
            return True
        if word.key.endswith("ing") and word.is_plain and before.key in PREPOSITIONS:
            return True
        other = word.is_plain and word.gap != "-" and word.stem in KNOWN - self.relation.stems - PLACING
        return other and not is_role(word.key) and word.key not in TRANSPARENT

    def concerns(self, cue: int, subject: range) -> bool:
        """A word of the relation may be said of the subject: not "A met B, who died", nor "The capital of" another."""
        words, place = self.page.words, cue - 1
        if not subject and self.relation.is_role and self.relation.preposition == "of":
            return bool(self.verb_before(range(cue, cue)))
        while place > subject.stop and words[place].key in LIGHT - RELATIVES:
            place -= 1
        return not (place > subject.stop and words[place].key in ("who", "which") and words[place - 1].is_name)

    def owns(self, mention: range) -> bool:
        """A mention is in the possessive: "Cahn's"."""
        after = self.page.words[mention.stop : mention.stop + 1]
        return bool(mention) and any(word.key == "s" and word.gap in ("'", "’") for word in after)

    def is_modifier(self, mention: range) -> bool:
        """Another noun follows a mention: "French" in "a French painter"."""
        after = self.page.words[mention.stop : min(mention.stop + 1, self.sentence.stop)]
        return any(word.gap == " " and (word.is_plain or word.is_name) and not word.is_verb for word in after)

    def modifies(self, mention: range, cue: int) -> bool:
        """A mention belongs to a noun of the relation behind it: "a 1970 comedy film"."""
        between = self.page.words[mention.stop : cue + 1]
        near = mention.stop <= cue <= mention.stop + _NEAR
        return near and not any("," in word.gap or word.key in LIGHT or word.is_verb for word in between)

    def opens(self, mention: range) -> bool:
        """A mention is a phrase before the sentence proper: "In 1950, A moved"."""
        after = self.page.words[mention.stop : mention.stop + 1]
        return mention.start - self.sentence.start < 2 and any("," in word.gap for word in after)

    def in_brackets(self, subject: range, object_: range, dated: bool) -> bool:
        """Birth or death in the brackets behind a name: "A (1899 – 1963)"."""
        event = self.relation.stems & {"bear", "die"}
        placed = dated or self.relation.preposition == "in" or "place" in self.relation.keys
        if not event or not object_ or not placed:
            return False
        words, text = self.page.words, self.page.text
        start = words[object_.start].start
        _, opened, before = text[words[self.sentence.start].start : start].rpartition("(")
        named = words[subject.stop - 1].end + _FARTHEST > start - len(before) if subject else not self.sentence.start
        if not opened or ")" in before or not named:
            return False
        if _DASHES & set(before + text[start : text.find(")", start)]):
            return bool(_DASHES & set(before)) == ("die" in event)
        return dated and any(date_of([word]) for word in words_of(before)) == ("die" in event)

    def _back(self, mention: range) -> Iterator[int]:
        """The places before a mention, backwards, brackets left out."""
        depth = 0
        for place in range(mention.start - 1, self.sentence.start - 1, -1):
            gap = self.page.words[place + 1].gap
            depth = max(0, depth + gap.count(")") - gap.count("("))
            if not depth:
                yield place


def _stems(word: Word) -> set[str]:
    """A daughter is a child as well."""
    return {word.stem, GENERAL.get(word.stem, word.stem)}
