"""A passage as words with their places, in sentences."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from triplebeam.ingest.sentences import sentence_spans
from triplebeam.support.words import ARTICLES, LIGHT, is_verb, stem

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
    def capital(self) -> bool:
        """Begins with a capital letter."""
        return self.text[0].isupper()

    @property
    def folded(self) -> str:
        """The key without a plural ending, a number in digits: what two mentions of an entity are compared by."""
        key = _NUMBERS.get(self.key, self.key.replace(",", ""))
        return key[:-1] if key.endswith("s") and len(key) > 3 else key

    @property
    def verb(self) -> bool:
        """Looks like a verb; a name ("United Artists") and a compound ("census-designated") do not."""
        opens = self.gap != " "
        return self.gap != "-" and (opens or not self.capital) and is_verb(self.key)

    @property
    def stem(self) -> str:
        """What its forms share."""
        return stem(self.key)


def words_of(text: str) -> list[Word]:
    """The words of a text, in order."""
    words, before = [], 0
    for match in _WORD.finditer(text):
        gap = text[before : match.start()]
        words.append(Word(match[0], match[0].casefold(), match.start(), match.end(), gap))
        before = match.end()
    return words


def without_article(words: list[Word]) -> list[Word]:
    """A name's words; an article at its start does not count, unless it is all there is."""
    return words[1:] if len(words) > 1 and words[0].key in ARTICLES else words


class Sentence(NamedTuple):
    """A sentence: its words are ``page.words[first:last]``."""

    first: int
    last: int
    question: bool


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
    def title_words(self) -> list[Word]:
        """The words of the title, without its article and without brackets at its end."""
        return without_article(words_of(_BRACKETED.sub("", self.title)))

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences that have words."""
        sentences, place = [], 0
        for _, end in sentence_spans(self.text):
            first = place
            while place < len(self.words) and self.words[place].start < end:
                place += 1
            if place > first:
                sentences.append(Sentence(first, place, "?" in self.text[self.words[place - 1].end : end]))
        return sentences

    @cached_property
    def names(self) -> list[list[Word]]:
        """Runs of two and more words with capitals, in the title and in the text."""
        runs: list[list[Word]] = [self.title_words]
        run: list[Word] = []
        for word in [*self.words, Word("", "", 0, 0, ".")]:
            if run and (word.gap != " " or not word.text or not word.capital):
                runs.append(run)
                run = []
            if word.text and word.capital and not (not run and word.key in LIGHT):
                run.append(word)
        return [run for run in runs if len(run) > 1]


@lru_cache(maxsize=128)
def page_of(text: str, title: str) -> Page:
    """The page of a passage; the last few are kept, since the facts of a passage are checked one after another."""
    return Page(text, title)
