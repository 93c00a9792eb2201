"""A passage as words, in sentences."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from triplebeam.ingest.sentences import sentence_spans
from triplebeam.support.words import Word, content, words_of

_BRACKETED = re.compile(r"\s*\([^)]*\)\s*$")
#: In words. What is longer is a table or a list.
_LONGEST_SENTENCE = 100


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
        """The content words of the title, without brackets at its end."""
        return content(_BRACKETED.sub("", self.title))

    @cached_property
    def sentences(self) -> list[range]:
        """The places of the words of each sentence that may state something: questions and tables are left out."""
        sentences, place = [], 0
        for _, end in sentence_spans(self.text):
            first = place
            while place < len(self.words) and self.words[place].start < end:
                place += 1
            asks = place > first and "?" in self.text[self.words[place - 1].end : end]
            if 0 < place - first <= _LONGEST_SENTENCE and not asks:
                sentences.append(range(first, place))
        return sentences

    def sentences_of(self, start: int, end: int) -> range:
        """The places of the words of the sentences that a stretch of the text is in."""
        around = [
            each
            for each in self.sentences
            if self.words[each.start].start < end and start < self.words[each.stop - 1].end
        ]
        return range(around[0].start, around[-1].stop) if around else range(0)

    def start_before(self, sentence: range) -> int:
        """Where in the text the sentence before begins; there is none before the first."""
        before = [each for each in self.sentences if each.stop <= sentence.start]
        return self.words[(before[-1] if before else sentence).start].start


@lru_cache(maxsize=128)
def page_of(text: str, title: str) -> Page:
    """The page of a passage; the last few are kept, since the facts of a passage are checked one after another."""
    return Page(text, title)
