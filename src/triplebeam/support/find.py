"""The words of a passage that support a fact, and what is wrong with words that do not."""

from collections.abc import Iterable
from itertools import product

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support.names import date_of, is_title, mentions
from triplebeam.support.page import Page, page_of
from triplebeam.support.quotation import locate
from triplebeam.support.statement import Relation, Statement
from triplebeam.support.vocabulary import DENIALS
from triplebeam.support.words import words_of
from triplebeam.triple import Triple

#: In words. What is longer is a table or a list, and the rules are for sentences.
_LONGEST_SENTENCE = 100


def quoted(triple: Triple, quotation: str, passage: Passage) -> Span | None:
    """The exact words of the passage that a reader quotes for a fact; None if they are not there or do not state it."""
    place = locate(quotation, passage.text)
    if place is None:
        return None
    span = _span(passage, *place)
    return span if fault_of(triple, span, passage) is None else None


def find_support(triple: Triple, passage: Passage) -> Span | None:
    """The first sentence of the passage that states the fact; None if there is none."""
    words = page_of(passage.text, passage.title).words
    for sentence in page_of(passage.text, passage.title).sentences:
        span = _span(passage, words[sentence.start].start, words[sentence.stop - 1].end)
        if fault_of(triple, span, passage) is None:
            return span
    return None


def support_among(triple: Triple, passages: Iterable[Passage]) -> Span | None:
    """Support in the first of several passages that has any."""
    return next((span for passage in passages if (span := find_support(triple, passage))), None)


def fault_of(triple: Triple, span: Span, passage: Passage) -> str | None:
    """Why a span of a passage is no support for a triple, in words; None if it is support."""
    if not 0 <= span.start < span.end <= len(passage.text) or passage.text[span.start : span.end] != span.text:
        return "the passage's text is not what the answer quotes"
    page = page_of(passage.text, passage.title)
    quote = [n for n, word in enumerate(page.words) if span.start <= word.start and word.end <= span.end]
    sentences = [s for s in page.sentences if quote and s.start <= quote[-1] and quote[0] < s.stop and len(s) <= _LONGEST_SENTENCE]
    if not sentences:
        return "the quoted words are no sentence"
    place = range(sentences[0].start, sentences[-1].stop)
    objects = mentions(triple.object, page, range(quote[0], quote[-1] + 1))
    if not objects and is_title(triple.object, page, 0.6):
        objects = [range(place.start, place.start)]
    if not objects:
        return f"the quoted words do not hold {triple.object!r}"
    subjects = mentions(triple.subject, page, place)
    if is_title(triple.subject, page):
        subjects.append(range(place.start, place.start))
    if not subjects:
        return f"the quoted words do not hold {triple.subject!r}"
    relation = Relation(triple.predicate)
    dated = bool(date_of(words_of(triple.object)))
    for subject, object_ in product(subjects, objects):
        around = range(min(quote[0], subject.start), max(quote[-1] + 1, subject.stop))
        stretch = [page.words[n].key for n in around if n not in subject and n not in object_]
        if (DENIALS & set(stretch)) - set(relation.keys):
            continue
        if Statement(page, place, relation).holds(subject, object_, dated):
            return None
    return f"the quoted words do not say {triple.predicate!r} of {triple.subject!r} and {triple.object!r}"


def _span(passage: Passage, start: int, end: int) -> Span:
    return Span(passage_id=passage.id, start=start, end=end, text=passage.text[start:end])
