"""A passage as words, in sentences."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

from triplebeam.ingest.sentences import sentence_spans
from triplebeam.support.vocabulary import PREPOSITIONS
from triplebeam.support.words import Word, content, words_of

_BRACKETED = re.compile(r"\s*\([^)]*\)\s*$")


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
        """The content words of the title, without brackets at its end."""
        return content(_BRACKETED.sub("", self.title))

    @cached_property
    def sentences(self) -> list[range]:
        """The places of the words of each sentence; questions are left out, since they state nothing."""
        sentences, place = [], 0
        for _, end in sentence_spans(self.text):
            first = place
            while place < len(self.words) and self.words[place].start < end:
                place += 1
            if place > first and "?" not in self.text[self.words[place - 1].end : end]:
                sentences.append(range(first, place))
        return sentences

    @cached_property
    def on_title(self) -> set[int]:
        """Where the sentences begin that have a word of the title before their verb, or no name and follow such a one."""
        starts, before = set(), True
        title = {word.folded for word in self.title_words}
        for sentence in self.sentences:
            names = {word.folded for word in _opening(self.words[sentence.start : sentence.stop]) if word.is_name}
            before = bool(names & title) or (before and not names)
            if before:
                starts.add(sentence.start)
        return starts


def _opening(words: list[Word]) -> list[Word]:
    """What comes before the verb, without a phrase such as "In May, " and without a first word that is no name."""
    first = 0
    if words[0].key in PREPOSITIONS:
        first = next((n for n, word in enumerate(words) if word.gap.startswith(",")), 0)
    opening = list(takewhile(lambda word: not word.is_verb, words[first:]))
    alone = len(opening) > 1 and opening[0].text[0].isupper() and not opening[1].is_name and opening[1].gap == " "
    return opening[1:] if alone else opening


@lru_cache(maxsize=128)
def page_of(text: str, title: str) -> Page:
    """The page of a passage; the last few are kept, since the facts of a passage are checked one after another."""
    return Page(text, title)
