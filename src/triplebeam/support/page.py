"""A passage as words with their places, in sentences, and whether each sentence is about the passage's title."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from triplebeam.ingest.sentences import sentence_spans
from triplebeam.support.words import ARTICLES, LIGHT, PREPOSITIONS, PRONOUNS, is_verb, stem

_WORD = re.compile(r"\d+(?:,\d{3})+(?!\d)|[^\W_]+")
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS, start=1)}
_BRACKETED = re.compile(r"\s*\([^)]*\)\s*$")


class Word(NamedTuple):
    """A word, its lower-case key, its place in the text, and what is between it and the word before."""

    text: str
    key: str
    start: int
    end: int
    gap: str

    @property
    def is_name(self) -> bool:
        """Begins with a capital letter, and is not "The" or "He"."""
        return self.text[0].isupper() and self.key not in LIGHT

    @property
    def folded(self) -> str:
        """Without accents and plural ending, a number in digits: what two mentions of an entity are compared by."""
        return _folded(self.key)

    @property
    def is_verb(self) -> bool:
        """Looks like a verb; a name ("United Artists") and a compound ("census-designated") do not."""
        opens = self.gap != " "
        verb = is_verb(self.key) or (self.key.endswith("ing") and self.gap.startswith(","))
        return verb and self.gap != "-" and (opens or not self.text[0].isupper())

    @property
    def stem(self) -> str:
        """What its forms share."""
        return stem(self.key)


@lru_cache(maxsize=100_000)
def _folded(key: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c)) or key
    plain = _NUMBERS.get(plain, plain.replace(",", ""))
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def words_of(text: str) -> list[Word]:
    """The words of a text, in order."""
    words, before = [], 0
    for match in _WORD.finditer(text):
        words.append(Word(match[0], match[0].casefold(), match.start(), match.end(), text[before : match.start()]))
        before = match.end()
    return words


def name_words(name: str) -> list[Word]:
    """A name's words without an article at its start, unless that is all there is."""
    words = words_of(name)
    return words[1:] if len(words) > 1 and words[0].key in ARTICLES else words


class Sentence(NamedTuple):
    """A sentence: its words are ``page.words[first:last]``."""

    first: int
    last: int
    question: bool
    subject: int
    """Where its subject begins, behind a phrase such as "In 1950, "."""
    on_title: bool
    """Its subject is the title, or a word for it: "He", "The film"."""


@dataclass(frozen=True)
class Page:
    """A passage's text and title as words."""

    text: str
    title: str

    @cached_property
    def words(self) -> list[Word]:
        """The words of the text."""
        return words_of(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def title_words(self) -> list[Word]:
        """The words of the title, without brackets at its end."""
        return name_words(_BRACKETED.sub("", self.title))

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences that have words."""
        sentences: list[Sentence] = []
        place, on_title = 0, True
        for _, end in sentence_spans(self.text):
            first = place
            while place < len(self.words) and self.words[place].start < end:
                place += 1
            if place > first:
                subject = _subject_at(self.words[first:place]) + first
                on_title = self._is_on_title(self.words[subject:place], on_title)
                asks = "?" in self.text[self.words[place - 1].end : end]
                sentences.append(Sentence(first, place, asks, subject, on_title))
        return sentences

    def _is_on_title(self, words: list[Word], before: bool) -> bool:
        """The subject has a word of the title in it; or it has no name in it and the sentence before was on it."""
        if words[0].key in ("the", "this") and words[2:] and words[1].folded in self._kinds:
            return words[2].key != "of"
        opening = words[:1] if words[0].key in PRONOUNS or not _is_named(words[:2]) else words[:3]
        names = {word.folded for word in opening[not _is_named(words[:2]) :] if word.is_name}
        return bool(names & {word.folded for word in self.title_words}) or (before and not names)

    @cached_property
    def _kinds(self) -> set[str]:
        """What the first words of the text, and the title, say that the title is: a film, a city."""
        opening = [*words_of(self.title), *self.words[:25]]
        return {word.folded for word in opening if word.key not in LIGHT and word.text[0].islower()}


def _is_named(opening: list[Word]) -> bool:
    """A sentence's first word, which has a capital anyway, is a name: "Cahn died", but "Most of them"."""
    first, following = opening[0], opening[-1]
    named = following.is_verb or following.is_name or following.gap != " " or following.key.endswith("ly")
    return named or first.key in LIGHT


def _subject_at(sentence: list[Word]) -> int:
    """Behind a phrase such as "In 1950, " or "Born in Rome, "."""
    if sentence[0].key in PREPOSITIONS or sentence[0].is_verb:
        for place, word in enumerate(sentence[1:13], start=1):
            if word.gap.startswith(",") and (not word.is_name or sentence[0].is_verb) and not word.key.isdecimal():
                return place
            if word.is_verb:
                break
    return 0


@lru_cache(maxsize=128)
def page_of(text: str, title: str) -> Page:
    """The page of a passage; the last few are kept, since the facts of a passage are checked one after another."""
    return Page(text, title)
