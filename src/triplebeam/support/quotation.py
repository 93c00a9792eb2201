"""Quotations with additions in brackets: does the passage back the additions, and is nothing cut that matters?

    Mira: I finally went to the pottery class.        "[Mira] finally went to the pottery class"
    max_delay / The longest pause. Defaults to 30s.   "[max_delay] Defaults to 30s"

What is outside the brackets is the passage's own, in its order; "…" stands for words left out. An addition replaces a
pronoun or a description, or says what the context says: the speaker, the heading, the day. Whom "she" means is the
model's reading, which the brackets show; the name must be in the title or before the pronoun.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from triplebeam.passage import Passage
from triplebeam.support.assertion import NEGATION
from triplebeam.support.context import CLAUSE, KINDS, PREPOSITIONS, SPEECH, TIME, date_words, is_fixed, speakers_of
from triplebeam.support.locate import BRACKETS, Piece, parse_quotation, place_exactly
from triplebeam.support.page import Page, page_of
from triplebeam.support.resolve import HUMP, resolve_passage
from triplebeam.text.stop_words import LIGHT_WORDS, PRONOUNS, REFLEXIVES, word_set
from triplebeam.text.words import Word, content, words_of

#: What encloses a clause or a remark inside a sentence.
_OPENS, _CLOSES = re.compile(r"[,(—–]"), re.compile(r"[,)—–]")
#: Ends a row, a paragraph, or the line before an item of a list; other lines are wrapped.
_LINE = re.compile(r"\|\s*\n|\n\s*\n|\n\s*(?:[-*•|]|\d+[.)])|:\s*\n")
_ASKED = re.compile(r"[\s\"”'’)]*\?")
_SETTING = re.compile(r"[\w.]+ ?=")
_MAX_ADDITION_WORDS = 14
_MAX_DESCRIPTION_WORDS = 4
_MIN_COPIED_WORDS = 2
#: In letters: so much of a word is compared.
_STEM_LETTERS = 4
_FIRST_PERSON = word_set("i me my mine myself we us our ours")
_SECOND_PERSON = word_set("you your yours yourself")
#: What is left of auxiliaries after an apostrophe.
_CONTRACTED = word_set("ll ve m re d")
_CONJUNCTIONS = SPEECH | word_set(
    "that and but when while where because as if although since so whether than then though"
)
_BEFORE_NOUNS = word_set(
    "the a an this that these those of in on at for with from by its his her their our my your no each"
)
_JOINING = word_set("and or but")
#: What makes a noun behind it another one.
_LIMITS = word_set("only former alleged")
_CONDITIONAL = word_set("if unless except")
_MODALS = word_set("would could might may can must shall should will")
_RELATIVES = word_set("who which that whose whom")
_DETERMINERS = word_set("the this that these those a an both such each one her his its their our my your")
_REFERENCES = PRONOUNS | _FIRST_PERSON | _SECOND_PERSON | _DETERMINERS | REFLEXIVES


def match_quotation(statement: str, passage: Passage, start: int, end: int) -> "Quotation | None":
    """Find the words of a statement in a stretch of a passage; None if it is no quotation of them."""
    pieces = parse_quotation(statement)
    page = page_of(passage.text, passage.title)
    stretch = page.words_within(range(len(page.words)), start, end)
    inside = place_exactly([piece for piece in pieces if piece.words], page.words[stretch.start : stretch.stop])
    if not inside or not _has_enough_words(statement):
        return None
    places = [range(stretch.start + place.start, stretch.start + place.stop) for place in inside]
    return Quotation(passage, page, pieces, places)


def _has_enough_words(statement: str) -> bool:
    """Decide whether enough of a statement is copied, and not added."""
    copied = len(content(BRACKETS.sub(" ", statement)))
    return copied >= _MIN_COPIED_WORDS and 2 * copied >= len(content(" ".join(BRACKETS.findall(statement))))


@dataclass(frozen=True)
class Quotation:
    """A statement in a passage's own words, with additions, and its place there."""

    passage: Passage
    page: Page
    pieces: Sequence[Piece]
    places: Sequence[range]
    """Of the words of each piece, among those of the page."""

    @property
    def span(self) -> tuple[int, int]:
        """Where the copied words begin and end in the passage's text."""
        return self.page.words[self.places[0].start].start, self.page.words[self.places[-1].stop - 1].end

    @property
    def is_asked(self) -> bool:
        """Whether it is a question in a chat or a transcript: what its speaker asks or proposes."""
        return bool(self._persons) and _ASKED.match(self.page.text, self.span[1]) is not None

    def find_fault(self) -> str | None:
        """Say what a cut makes it misstate, or what the passage does not back; None if nothing is wrong."""
        first, last = self.places[0].start, self.places[-1].stop
        if not self.pieces[0].addition and not self._begins_clause(first):
            return "the quotation begins in the middle of a clause"
        if self._cuts_name(last):
            return "the quotation cuts off a name at its end"
        if self._cuts_condition(last):
            return "the quotation leaves out the condition that follows it"
        words = self.page.words
        if (gap := next((gap for gap in self._list_gaps() if not self._may_omit(*gap)), None)) is not None:
            return f"the quotation leaves out {' '.join(word.text for word in words[slice(*gap)])!r}, which matters"
        unbacked = next((addition for addition in self._list_additions() if not self._backs_addition(*addition)), None)
        return f"the passage does not back [{unbacked[0]}] here" if unbacked else None

    def _list_gaps(self) -> Iterator[tuple[int, int]]:
        """Yield where the words begin and end that an ellipsis leaves out."""
        ends = [self._sentence_start + 1, *(place.stop for place in self.places)]
        for piece, end, place in zip(self.pieces, ends, self.places, strict=False):
            if piece.is_after_gap and end <= place.start:
                yield end, place.start

    def _list_additions(self) -> Iterator[tuple[str, int, int]]:
        """Yield each addition, and where the words begin and end that it replaces."""
        ends = [self._sentence_start, *(place.stop for place in self.places)]
        starts = [*(place.start for place in self.places), self.places[-1].stop]
        for number, (piece, end, start) in enumerate(zip(self.pieces, ends, starts, strict=False)):
            if piece.addition and piece.is_after_gap and not number:  # for the first word of the sentence
                yield piece.addition, end, min(end + 1, start)
            elif piece.addition:
                yield piece.addition, start if piece.is_after_gap else end, start

    @cached_property
    def _sentence_start(self) -> int:
        return self._find_start(self.places[0])

    def _find_start(self, place: range) -> int:
        """Find where the sentence, the row or the item of a list begins that words are in."""
        words = self.page.words
        sentence = self.page.sentences_of(words[place.start].start, words[place.stop - 1].end)
        start = min(sentence.start, place.start) if sentence else place.start
        return next((n for n in range(place.start, start, -1) if self._begins_line(n)), start)

    def _begins_line(self, place: int) -> bool:
        """Decide whether a line, and not the rest of a wrapped one, begins at a place."""
        word = self.page.words[place]
        is_own = self._persons or _SETTING.match(self.page.text, word.start)
        return bool(
            _LINE.search(word.gap) or ("\n" in word.gap and is_own) or (not self._persons and self._head(place))
        )

    def _begins_sentence(self, place: int) -> bool:
        return any(each.start == place for each in self.page.sentences) or self._begins_line(place)

    def _head(self, place: int) -> str:
        """Return what is written before a sentence that begins at a place."""
        word = self.page.words[place]
        return resolve_passage(self.passage).head_at(word.start - len(word.gap), word.start)

    def _begins_clause(self, first: int) -> bool:
        """Decide whether a name at the beginning is what the words behind it speak of, and is whole."""
        words, start = self.page.words, self._sentence_start
        ends = (n for n in range(first, start, -1) if CLAUSE.search(words[n].gap))
        skipped = words[next(ends, start) : first]
        if self._denies(first - len(skipped), first) or any(word.key in _LIMITS for word in skipped):
            return False
        if not skipped or not words[first].is_name or words[first].key in _REFERENCES:
            return not any(word.key in _RELATIVES for word in skipped[:-1])
        before = skipped[-1]
        return before.key in _CONJUNCTIONS or before.text[0].isdigit() or first - 1 == self._sentence_start

    def _cuts_name(self, stop: int) -> bool:
        words = self.page.words
        return stop < len(words) and words[stop - 1].is_name and words[stop].is_name and words[stop].gap == " "

    def _cuts_condition(self, stop: int) -> bool:
        """Decide whether the clause goes on behind the copied words with what they depend on."""
        words = self.page.words
        ends = (n for n in range(stop, len(words)) if self._begins_sentence(n) or (n > stop and "," in words[n].gap))
        return any(word.key in _CONDITIONAL for word in words[stop : next(ends, len(words))])

    def _denies(self, start: int, stop: int) -> bool:
        words = self.page.words[start:stop]
        return bool(words and NEGATION.search(self.page.text[words[0].start : words[-1].end].casefold()))

    def _may_omit(self, start: int, stop: int) -> bool:
        """Decide whether the words that are left out do not change what is said of whom."""
        words, omitted = self.page.words, self.page.words[start:stop]
        if self._begins_sentence(stop):
            head, copied = self._head_words(stop), {words[n].folded for place in self.places for n in place}
            return head == self._head_words(start - 1) or bool(head and 3 * len(head & copied) >= 2 * len(head))
        if not omitted:
            return True
        if any(map(self._begins_sentence, range(start, stop))) or self._denies(start, stop):
            return False
        is_enclosed, last = bool(_CLOSES.search(words[stop].gap)), omitted[-1].key
        if _OPENS.search(omitted[0].gap):
            return is_enclosed or last in _JOINING
        if last in PREPOSITIONS - _JOINING and not is_enclosed:
            return False  # what follows is said with it: "sold … Ann" of "sold the mill to Ann"
        if not any(word.is_name or word.key in _RELATIVES for word in omitted):
            return True
        if last in _JOINING:  # another verb of the same subject
            return not words[stop].is_name and not any(word.key in _CONJUNCTIONS | _RELATIVES for word in omitted[:-1])
        is_joined = any(word.key in _JOINING or "," in word.gap for word in omitted)
        return omitted[0].key in PREPOSITIONS and not is_joined

    def _backs_addition(self, addition: str, start: int, stop: int) -> bool:
        """Decide whether the passage says what an addition says, and the addition may replace its words."""
        replaced, own = self.page.words[start:stop], words_of(addition)
        copied = [word.folded for word in own]
        if copied == [word.folded for word in replaced[-len(copied) :]]:  # brackets of the passage's own
            return stop != self.places[0].start or self._begins_clause(stop - len(copied))
        own = own if set(copied) <= self._known else words_of(HUMP.sub(" ", addition))
        new = [word for n, word in enumerate(own) if _stem(own, n) not in self._known]
        is_said = all(word.key in KINDS | SPEECH | LIGHT_WORDS for word in new)
        if (
            not is_said
            or self._changes_sense(own, replaced, stop)
            or len(own) > _MAX_ADDITION_WORDS
            or NEGATION.search(addition.casefold())
        ):
            return False
        is_apposition = not replaced and stop > 0 and self.page.words[stop - 1].key in _REFERENCES - _RELATIVES
        replaced = self.page.words[stop - 1 : stop] if is_apposition else replaced
        is_noun = is_apposition or self._is_named(own)
        return is_noun and self._has_number_above(own) and self._may_replace(own, replaced, stop)

    def _changes_sense(self, addition: Sequence[Word], replaced: Sequence[Word], stop: int) -> bool:
        """Decide whether an addition makes a plan or a condition of the words, or somebody's words of them."""
        old = {word.key for word in replaced}
        is_own = bool(old & _CONTRACTED) or self._is_in_a_row(addition)
        if not is_own and any(word.key in _MODALS | _CONDITIONAL and word.key not in old for word in addition):
            return True
        names = {word.folded for word in addition if word.is_name}
        is_speech = any(word.key in SPEECH | {"according"} for word in addition)
        return is_speech and not names <= self._speaker_words(stop) | self._persons | _list_content(self._above)

    def _has_number_above(self, addition: Sequence[Word]) -> bool:
        """Decide whether the numbers of an addition are of the title, section, metadata or day, not of other sentences.

        The day of a chat is the one on which something is said, and not that of "last week".
        """
        # A number in a name, such as "GLP-1", does not count.
        in_names = {n for n, word in enumerate(addition) if word.gap == "-" and n and addition[n - 1].is_name}
        numbers = {word.folded for n, word in enumerate(addition) if word.text[0].isdigit() and n not in in_names}
        days = " ".join(each.text for each in resolve_passage(self.passage).changes if self._persons)
        is_said = not self._persons or any(word.key in SPEECH for word in addition)
        said = self.passage.text[self.page.words[self._sentence_start].start : self.span[1]]
        above = _list_content(f"{self._above} {self.passage.document_id}") | date_words(self.passage)
        own = above - date_words(self.passage) if TIME.search(said) and not is_said else above
        return numbers <= own | _list_content(days)

    def _may_replace(self, addition: Sequence[Word], replaced: Sequence[Word], stop: int) -> bool:
        """Decide whether an addition may stand in the place of words before a place, or between words."""
        own = {word.folded for word in addition}
        is_first = stop == self.places[0].start
        rest = [word for word in replaced if word.folded not in own and word.key not in _CONTRACTED]
        if is_first and own & self._speaker_words(stop):
            rest = [word for word in rest if word.folded not in self._persons]
            rest = rest if len(rest) > 1 or "," not in self.page.words[stop].gap else []  # "Hey Tom, …"
        if not rest:
            return not is_first or (self._names_speaker(own, stop) and not own & self._other_heads(stop))
        last = rest[-1].key
        if last in _FIRST_PERSON:
            return not self._persons or bool(own & self._speaker_words(stop))
        if last in _SECOND_PERSON:
            return not self._persons or (bool(own & self._persons) and not own & self._speaker_words(stop))
        if last in PRONOUNS | REFLEXIVES:
            return self._is_named_before(addition, stop)
        if not self._names_speaker(own, stop):
            return False
        names = [word.folded for word in replaced if word.is_name and word.key not in _REFERENCES]
        if last in _RELATIVES:
            return bool(names) and names[-1] in own
        if is_first and replaced[0].folded in own and "," in self.page.words[stop].gap:
            return True  # behind a clause about the first name of the sentence
        return not set(names) - own and self._is_reference(rest)

    def _is_reference(self, words: Sequence[Word]) -> bool:
        """Decide whether words only refer to something: a pronoun with an auxiliary, or "the company"."""
        if all(word.key in LIGHT_WORDS for word in words):
            return True
        has_number = any(word.text[0].isdigit() for word in words)
        return words[0].key in _DETERMINERS and len(words) <= _MAX_DESCRIPTION_WORDS and not has_number

    def _is_named(self, addition: Sequence[Word]) -> bool:
        """Decide whether an addition names something: in a row, behind a "the" or "of", in code or in a heading."""
        plain = [
            n
            for n, word in enumerate(addition)
            if not is_fixed(addition, n) and word.key not in LIGHT_WORDS | KINDS | SPEECH
        ]
        words = self.page.words
        keys = [_stem(words, n) for n in range(len(words))]
        above = {word.folded[:_STEM_LETTERS] for word in words_of(self._above)}
        nouns = {
            keys[n]
            for n, word in enumerate(words)
            if not n or words[n - 1].key in _BEFORE_NOUNS or "`" in word.gap or "\n" in word.gap
        }
        return not plain or self._is_in_a_row(addition) or _stem(addition, plain[0]) in nouns | above

    def _is_in_a_row(self, addition: Sequence[Word]) -> bool:
        """Decide whether the passage has the words of an addition one after the other."""
        stems, words = [_stem(addition, n) for n in range(len(addition))], self.page.words
        keys = [_stem(words, n) for n in range(len(words))]
        return len(stems) > 1 and any(keys[n : n + len(stems)] == stems for n in range(len(keys)))

    def _is_named_before(self, addition: Sequence[Word], place: int) -> bool:
        """Decide whether what replaces a pronoun is above the passage, or before the pronoun."""
        before = f"{self._above} {self.passage.text[: self.page.words[place - 1].end]}"
        known = _list_stems(words_of(before)) | _list_stems(words_of(HUMP.sub(" ", before)))
        return _list_stems([word for word in addition if word.key not in LIGHT_WORDS | KINDS | SPEECH]) <= known

    def _other_heads(self, place: int) -> set[str]:
        """List the words of the terms, sections and list heads of a passage, but for those above a place."""
        if self._persons:
            return set()
        heads = {each.text for each in resolve_passage(self.passage).changes if each.text.endswith(": ")}
        return _list_content(" ".join(heads)) - self._head_words(place) - _list_content(self._above)

    def _head_words(self, place: int) -> set[str]:
        """List the words of who speaks at a place, or of what is above its sentence in a manual or a list."""
        if self._persons:
            return self._speaker_words(place)
        return _list_content(self._head(self._find_start(range(place, place + 1))))

    @property
    def _above(self) -> str:
        return f"{self.passage.title} {self.passage.origin}"

    def _names_speaker(self, own: set[str], place: int) -> bool:
        """Decide whether an addition that names some of those who talk names the speaker among them."""
        return not own & self._persons or bool(own & self._speaker_words(place))

    def _speaker_words(self, place: int) -> set[str]:
        speaker = resolve_passage(self.passage).speaker_at(self.page.words[min(place, len(self.page.words) - 1)].start)
        return _list_name_words(speaker)

    @cached_property
    def _persons(self) -> set[str]:
        return {word for speaker in speakers_of(self.passage) for word in _list_name_words(speaker)}

    @cached_property
    def _known(self) -> set[str]:
        """The words of the passage, of what is above it, and of its date."""
        passage = self.passage
        texts = (passage.title, passage.origin, passage.document_id, resolve_passage(passage).text, passage.text)
        words = [words_of(form) for text in texts for form in (text, HUMP.sub(" ", text))]
        return {word.folded for each in words for word in each}.union(date_words(passage), *map(_list_stems, words))


def _stem(words: Sequence[Word], place: int) -> str:
    """Return the beginning of a word, which "play" and "playing" share; of names and numbers the whole."""
    return words[place].folded if is_fixed(words, place) else words[place].folded[:_STEM_LETTERS]


def _list_stems(words: Sequence[Word]) -> set[str]:
    return {_stem(words, n) for n in range(len(words))}


def _list_content(text: str) -> set[str]:
    return {word.folded for word in content(HUMP.sub(" ", text)) if word.key not in LIGHT_WORDS}


def _list_name_words(speaker: str) -> set[str]:
    """List the words of a speaker's name, which a chat may write as one: "LiHua"."""
    return {word.folded for word in words_of(f"{speaker} {speaker.replace(' ', '')}")}
