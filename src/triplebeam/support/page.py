"""A passage as words, in sentences."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, takewhile

from triplebeam.support.resolve import PARAGRAPH
from triplebeam.text.names import strip_qualifier
from triplebeam.text.sentences import sentence_spans
from triplebeam.text.stop_words import AUXILIARIES, PRONOUNS
from triplebeam.text.words import Word, content, words_of

#: In words. What is longer is a table or a list.
_MAX_SENTENCE_WORDS = 100


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
        return content(strip_qualifier(self.title))

    @cached_property
    def sentences(self) -> list[range]:
        """The places of the words of each sentence that may state something: no table."""
        sentences, place = [], 0
        for _, end in chain.from_iterable(
            sentence_spans(self.text, *each.span()) for each in PARAGRAPH.finditer(self.text)
        ):
            first = place
            while place < len(self.words) and self.words[place].start < end:
                place += 1
            if 0 < place - first <= _MAX_SENTENCE_WORDS:
                sentences.append(range(first, place))
        return sentences

    def sentences_of(self, start: int, end: int) -> range:
        """Find the places of the words of the sentences that a stretch of the text is in."""
        words = self.words
        inside = [each for each in self.sentences if words[each.start].start < end and start < words[each.stop - 1].end]
        stretch = [n for n, word in enumerate(words) if start <= word.start and word.end <= end]
        if stretch and len(stretch) <= _MAX_SENTENCE_WORDS and not any(stretch[-1] in each for each in inside):
            inside.append(range(stretch[0], stretch[-1] + 1))  # of a table, which is no sentence
        return range(inside[0].start, inside[-1].stop) if inside else range(0)

    def words_within(self, sentence: range, start: int, end: int) -> range:
        """Find the places of those words of a sentence that are in a stretch of the text."""
        inside = [n for n in sentence if start <= self.words[n].start and self.words[n].end <= end]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    @cached_property
    def about_title(self) -> set[int]:
        """Where sentences begin that do not begin with another name and a verb, or with a pronoun behind such a one."""
        starts, on_title, title = set(), True, {word.folded for word in self.title_words}
        for sentence in self.sentences:
            words = self.words[sentence.start : sentence.stop]
            names = list(takewhile(lambda word: word.is_name, words))
            verb = words[len(names) % len(words)]
            named = len(names) > 1 or (any(names) and verb.key in AUXILIARIES)
            another = named and "," not in verb.gap and not title & {word.folded for word in names}
            on_title = not another and (on_title or words[0].key not in PRONOUNS)
            starts |= {sentence.start} if on_title else set()
        return starts


#: The last few pages are kept, since the facts of a passage are checked one after another.
page_of = lru_cache(maxsize=128)(Page)
