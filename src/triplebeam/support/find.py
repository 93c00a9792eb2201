"""The words of a passage that support a fact, and what is wrong with words that do not."""

from collections.abc import Iterable
from itertools import product

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support.names import is_date, is_title, mentions
from triplebeam.support.page import Page, page_of
from triplebeam.support.quotation import locate
from triplebeam.support.relation import Relation
from triplebeam.support.statement import states
from triplebeam.support.vocabulary import DENIALS
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
    """The words from one entity to the other in the first sentence that states the fact; None if there is none."""
    page = page_of(passage.text, passage.title)
    for sentence in page.sentences:
        span = _span(passage, page.words[sentence.start].start, page.words[sentence.stop - 1].end)
        if fault_of(triple, span, passage) is None:
            shorter = _from_end_to_end(triple, page, sentence, passage)
            return shorter if fault_of(triple, shorter, passage) is None else span
    return None


def _from_end_to_end(triple: Triple, page: Page, sentence: range, passage: Passage) -> Span:
    subjects, objects = (mentions(each, page, sentence) or [sentence[:1]] for each in (triple.subject, triple.object))
    pairs = [(min(s.start, o.start), max(s.stop, o.stop)) for s, o in product(subjects, objects)]
    first, last = min(pairs, key=lambda pair: pair[1] - pair[0])
    return _span(passage, page.words[first].start, page.words[last - 1].end)


def support_among(triple: Triple, passages: Iterable[Passage]) -> Span | None:
    """Support in the first of several passages that has any."""
    return next((span for passage in passages if (span := find_support(triple, passage))), None)


def fault_of(triple: Triple, span: Span, passage: Passage) -> str | None:
    """Why a span of a passage is no support for a triple, in words; None if it is support."""
    if not 0 <= span.start < span.end <= len(passage.text) or passage.text[span.start : span.end] != span.text:
        return "the passage's text is not what the answer quotes"
    page = page_of(passage.text, passage.title)
    quote, sentence = _places(span, page)
    subjects, objects = mentions(triple.subject, page, sentence), mentions(triple.object, page, quote)
    if is_title(triple.subject, page, part=0.5) and sentence.start in page.on_title:
        subjects.append(sentence[:0])
    if not objects and is_title(triple.object, page, part=0.6):
        objects = [sentence[:0]]
    for entity, found in ((triple.subject, subjects), (triple.object, objects)):
        if not found:
            return f"the quoted words do not hold {entity!r}"
    relation, dated = Relation(triple.predicate), is_date(triple.object)
    for subject, object_ in product(subjects, objects) if sentence else ():
        denied = _is_denied(relation, subject, object_, quote, page)
        if not denied and states(page, sentence, relation, subject, object_, dated):
            return None
    return f"the quoted words do not say {triple.predicate!r} of {triple.subject!r} and {triple.object!r}"


def _places(span: Span, page: Page) -> tuple[range, range]:
    """The words quoted, and the words of the sentences that they are in."""
    quote = [n for n, word in enumerate(page.words) if span.start <= word.start and word.end <= span.end]
    around = [each for each in page.sentences if quote and each.start <= quote[-1] and quote[0] < each.stop]
    whole = [each for each in around if len(each) <= _LONGEST_SENTENCE]
    sentence = range(whole[0].start, whole[-1].stop) if whole else range(0)
    return (range(quote[0], quote[-1] + 1) if quote else range(0)), sentence


def _is_denied(relation: Relation, subject: range, object_: range, quote: range, page: Page) -> bool:
    """What is quoted, or comes between it and the subject, is negated or doubted, and the relation is not."""
    around = range(min(quote.start, subject.start), max(quote.stop, subject.stop))
    said = {page.words[n].key for n in around if n not in subject and n not in object_}
    return said & DENIALS != DENIALS.intersection(relation.keys)


def _span(passage: Passage, start: int, end: int) -> Span:
    return Span(passage_id=passage.id, start=start, end=end, text=passage.text[start:end])
