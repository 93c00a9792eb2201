"""What the model reads: a fact, and the sentences quoted for it with the fact's two ends marked in them.

The fact is ``[ subject ] predicate { object }``. The sentences come behind the title and the sentence before, with the
same marks around every mention; an end that they do not name is the title, which is marked then.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triplebeam.support.names import is_title, mentions, object_mentions
from triplebeam.support.page import Page
from triplebeam.text.stop_words import ARTICLES, LIGHT_WORDS
from triplebeam.text.words import LOST_DASH, words_of
from triplebeam.triple import Triple

#: In characters: so much of the sentence before is shown.
_CONTEXT = 200


class Claim(NamedTuple):
    """A fact, the sentences that are said to state it, and the same with the sentence before."""

    triple: Triple
    words: str
    context: str

    @property
    def fact(self) -> str:
        """The fact with marks around its ends."""
        return " ".join(f"[ {self.triple.subject} ] {self.triple.predicate} {{ {self.triple.object} }}".split())

    @property
    def swapped(self) -> "Claim":
        """The claim that the same sentences state the fact the other way round."""
        exchanged = (text.translate(str.maketrans("[]{}", "{}[]")) for text in (self.words, self.context))
        return Claim(Triple(*reversed(self.triple)), *exchanged)


def split_statement(statement: str) -> Triple:
    """Cut a sentence between words into three: what it begins with, up to the last light word, and the rest."""
    words = words_of(statement)
    places = [n for n in range(1, len(words)) if any(map(str.isspace, words[n].gap))]
    verbs = [n for n in places if not words[n].is_name and words[n - 1].key not in ARTICLES] or places
    behind = [n for n in places if n > verbs[0]]
    if not behind:
        return Triple(statement, "is", "so")
    last = next((n for n in reversed(behind) if words[n - 1].key in LIGHT_WORDS), behind[0])
    cuts = [words[n].start - len(re.split(r"\s", words[n].gap)[-1]) for n in (verbs[0], last)]
    return Triple(statement[: cuts[0]].strip(), statement[slice(*cuts)].strip(), statement[cuts[1] :].strip(" ."))


def claim_of(triple: Triple, page: Page, start: int, end: int) -> Claim | str:
    """Make the claim that a stretch of a page's text states a fact; if an end is not named there, return that end.

    The stretch must name the object, and its sentences the subject. One of the two may also be the page's title: the
    subject, if the sentences do not begin with another one; the object, if the stretch names the subject.
    """
    sentence = page.sentences_of(start, end)
    quote = page.words_within(sentence, start, end)
    subjects = mentions(triple.subject, page, sentence)
    objects = object_mentions(triple, page, quote)
    if not subjects and not (sentence.start in page.about_title and is_title(triple.subject, page)):
        return triple.subject
    if not objects and not (mentions(triple.subject, page, quote) and is_title(triple.object, page)):
        return triple.object
    return Claim(triple, *_mark_ends(page, sentence, subjects, objects))


def _mark_ends(page: Page, sentence: range, subjects: Sequence[range], objects: Sequence[range]) -> tuple[str, str]:
    """Mark the sentences behind the title; and these with the sentence before."""
    start = at = page.words[sentence.start].start
    end = page.words[sentence.stop].start if sentence.stop < len(page.words) else len(page.text)
    title = page.title if subjects else f"[ {page.title} ]"
    title, marked = title if objects else f"{{ {title} }}", ""
    dashes = [((start + each.start(), 1, 0), "–") for each in LOST_DASH.finditer(page.text[start:end])]
    for place, mark in sorted([*_marks(page, subjects, "[]"), *_marks(page, objects, "{}"), *dashes]):
        marked, at = f"{marked}{page.text[at : place[0]]} {mark} ", place[0]
    earlier = [page.words[each.start].start for each in page.sentences if each.stop <= sentence.start]
    before = page.text[max([*earlier[-1:], start - _CONTEXT]) : start] if earlier else ""
    said = (f"{title} : {context} {marked}{page.text[at:end]}" for context in ("", before))
    words, in_context = (" ".join(each.split()) for each in said)
    return words, in_context


def _marks(page: Page, found: Sequence[range], marks: str) -> Iterator[tuple[tuple[int, int, int], str]]:
    """Each mark with its place; at the same place, what ends comes before what begins, and the longer begins first."""
    for mention in found:
        start, end = page.words[mention.start].start, page.words[mention.stop - 1].end
        yield (start, 2, -end), marks[0]
        yield (end, 0, -start), marks[1]
