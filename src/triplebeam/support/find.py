"""The words of a passage that support a fact, and what is wrong with words that do not."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support.mentions import Mention, is_date, mentions_of
from triplebeam.support.page import Page, Sentence, page_of
from triplebeam.support.predicate import read_predicate
from triplebeam.support.quotation import locate
from triplebeam.support.relation import extents
from triplebeam.triple import Triple

_SENTENCES_BACK = 2
#: In words. What is longer is a table or a list, and the rules are for sentences.
_LONGEST_SENTENCE = 150


def quoted(triple: Triple, quotation: str, passage: Passage) -> Span | None:
    """The exact words of the passage that a reader quotes for a fact; None if they are not there or do not state it."""
    place = locate(quotation, passage.text)
    if place is None:
        return None
    span = Span(passage_id=passage.id, start=place[0], end=place[1], text=passage.text[slice(*place)])
    return span if fault_of(triple, span, passage) is None else None


def find_support(triple: Triple, passage: Passage) -> Span | None:
    """The shortest stretch of the passage that holds both entities and carries the relation; None where none does."""
    spans = [(end - start, start, end) for start, end in _supports(triple, page_of(passage.text, passage.title))]
    if not spans:
        return None
    _, start, end = min(spans)
    return Span(passage_id=passage.id, start=start, end=end, text=passage.text[start:end])


def support_among(triple: Triple, passages: Iterable[Passage]) -> Span | None:
    """Support in the first of several passages that has any."""
    return next((span for passage in passages if (span := find_support(triple, passage))), None)


def fault_of(triple: Triple, span: Span, passage: Passage) -> str | None:
    """Why a span of a passage is no support for a triple, in words; None where it is."""
    if not 0 <= span.start < span.end <= len(passage.text) or passage.text[span.start : span.end] != span.text:
        return "the passage's text is not what the answer quotes"
    page = page_of(passage.text, passage.title)
    if any(span.start <= start and end <= span.end for start, end in _supports(triple, page)):
        return None
    for entity in (triple.subject, triple.object):
        if not any(_inside(page, mention, span) for mention in mentions_of(entity, page)):
            return f"the quoted words do not hold {entity!r}"
    return f"the quoted words do not say {triple.predicate!r} of {triple.subject!r} and {triple.object!r}"


def _inside(page: Page, mention: Mention, span: Span) -> bool:
    return span.start <= page.words[mention.first].start and page.words[mention.last - 1].end <= span.end


def _supports(triple: Triple, page: Page) -> Iterator[tuple[int, int]]:
    """Start and end of every stretch that supports the triple."""
    subjects, objects = mentions_of(triple.subject, page), mentions_of(triple.object, page)
    predicate, dated = read_predicate(triple.predicate), is_date(triple.object)
    for number, sentence in enumerate(page.sentences):
        if sentence.last - sentence.first > _LONGEST_SENTENCE:
            continue
        for subject in _within(subjects, sentence):
            for object_ in _within(objects, sentence):
                for first, last in extents(page, sentence, subject, object_, predicate, dated=dated):
                    start = page.words[first].start
                    for mention, mentions in ((subject, subjects), (object_, objects)):
                        if mention.is_coreference:
                            start = min(start, _named_at(page, number, mentions, start))
                    yield start, page.words[last - 1].end


def _within(mentions: list[Mention], sentence: Sentence) -> list[Mention]:
    start = bisect_left(mentions, (sentence.first,))
    following = takewhile(lambda mention: mention.first < sentence.last, islice(mentions, start, None))
    return [mention for mention in following if mention.last <= sentence.last]


def _named_at(page: Page, number: int, mentions: list[Mention], start: int) -> int:
    """Where the entity is last named before a sentence in which a pronoun refers to it, if that is not far."""
    border = page.sentences[number].first
    earliest = page.sentences[max(0, number - _SENTENCES_BACK)].first
    named = [m.first for m in mentions if not m.is_coreference and earliest <= m.first and m.last <= border]
    return page.words[named[-1]].start if named else start
