"""A passage as words, in sentences."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

from triplebeam.ingest.sentences import sentence_spans
from triplebeam.support.vocabulary import PRONOUNS
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
        """Where the sentences begin that do not begin with another name, or with a pronoun behind such a sentence."""
        starts, on_title, title = set(), True, {word.folded for word in self.title_words}
        for sentence in self.sentences:
            words = self.words[sentence.start : sentence.stop]
            names = list(takewhile(lambda word: word.is_name, words))
            another = (
                0 < len(names) < len(words) and words[len(names)].is_verb and not title & {n.folded for n in names}
            )
            on_title = not another and (on_title or words[0].key not in PRONOUNS)
            starts |= {sentence.start} if on_title else set()
        return starts


@lru_cache(maxsize=128)
def page_of(text: str, title: str) -> Page:
    """The page of a passage; the last few are kept, since the facts of a passage are checked one after another."""
    return Page(text, title)
