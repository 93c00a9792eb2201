"""The words of a passage that support a fact, and what is wrong with words that do not."""

from collections.abc import Iterable
from itertools import product

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support.claim import claim_of
from triplebeam.support.entailment import states
from triplebeam.support.names import mentions, object_mentions
from triplebeam.support.page import Page, page_of
from triplebeam.support.quotation import locate
from triplebeam.triple import Triple


def quoted(triple: Triple, quotation: str, passage: Passage) -> Span | None:
    """The exact words of the passage that a reader quotes for a fact; None if they are not there or do not state it."""
    place = locate(quotation, passage.text)
    span = _span(passage, *place) if place else None
    return span if span and fault_of(triple, span, passage) is None else None


def find_support(triple: Triple, passage: Passage) -> Span | None:
    """The words from one entity to the other in the first sentence that states the fact; None if there is none."""
    page = page_of(passage.text, passage.title)
    for sentence in page.sentences:
        span = _from_end_to_end(triple, page, sentence, passage)
        if fault_of(triple, span, passage) is None:
            return span
    return None


def _from_end_to_end(triple: Triple, page: Page, sentence: range, passage: Passage) -> Span:
    """The shortest stretch of a sentence that has both entities; an entity that it does not name is its beginning."""
    subjects = mentions(triple.subject, page, sentence) or [sentence[:1]]
    objects = object_mentions(triple, page, sentence) or [sentence[:1]]
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
    claim = claim_of(triple, page_of(passage.text, passage.title), span.start, span.end)
    if isinstance(claim, str):
        return f"the quoted words do not hold {claim!r}"
    if states(claim):
        return None
    return f"the quoted words do not say {triple.predicate!r} of {triple.subject!r} and {triple.object!r}"


def _span(passage: Passage, start: int, end: int) -> Span:
    return Span(passage_id=passage.id, start=start, end=end, text=passage.text[start:end])
