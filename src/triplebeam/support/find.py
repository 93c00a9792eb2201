"""The words of a passage that support a fact, and what is wrong with words that do not."""

from collections.abc import Iterable, Iterator
from itertools import product

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support.mentions import Mention, is_date, is_title, mentions_of
from triplebeam.support.page import Page, Sentence, page_of
from triplebeam.support.predicate import read_predicate
from triplebeam.support.quotation import locate
from triplebeam.support.relation import Clause
from triplebeam.triple import Triple

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
    """The shortest piece of the passage that states the fact; None if there is none."""
    spans = list(_supports(triple, page_of(passage.text, passage.title), 0, len(passage.text)))
    if not spans:
        return None
    _, start, end = min((end - start, start, end) for start, end in spans)
    return Span(passage_id=passage.id, start=start, end=end, text=passage.text[start:end])


def support_among(triple: Triple, passages: Iterable[Passage]) -> Span | None:
    """Support in the first of several passages that has any."""
    return next((span for passage in passages if (span := find_support(triple, passage))), None)


def fault_of(triple: Triple, span: Span, passage: Passage) -> str | None:
    """Why a span of a passage is no support for a triple, in words; None if it is support."""
    if not 0 <= span.start < span.end <= len(passage.text) or passage.text[span.start : span.end] != span.text:
        return "the passage's text is not what the answer quotes"
    page = page_of(passage.text, passage.title)
    if any(_supports(triple, page, span.start, span.end)):
        return None
    for entity in (triple.subject, triple.object):
        named = any(span.start <= page.words[m.first].start < span.end for m in mentions_of(entity, page))
        if not named and not is_title(entity, page):
            return f"the quoted words do not hold {entity!r}"
    return f"the quoted words do not say {triple.predicate!r} of {triple.subject!r} and {triple.object!r}"


def _supports(triple: Triple, page: Page, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of every stretch of the quoted sentences that supports the triple."""
    quote = [n for n, word in enumerate(page.words) if start <= word.start and word.end <= end]
    subjects, objects = mentions_of(triple.subject, page), mentions_of(triple.object, page)
    if not quote or not subjects or not objects:
        return
    predicate, dated = read_predicate(triple.predicate), is_date(triple.object)
    if predicate.of_date and not dated:
        return
    if not is_title(triple.object, page):
        objects = [m for m in objects if quote[0] <= m.first and m.last <= quote[-1] + 1]
    for sentence in page.sentences:
        quoted = range(max(sentence.first, quote[0]), min(sentence.last, quote[-1] + 1))
        if not quoted or sentence.last - sentence.first > _LONGEST_SENTENCE:
            continue
        clause = Clause(page, sentence, quoted, predicate, dated)
        for subject, object_ in product(_within(subjects, sentence), _within(objects, sentence)):
            for stretch in clause.extents(subject, object_):
                yield page.words[stretch[0]].start, page.words[stretch[-1]].end


def _within(mentions: list[Mention], sentence: Sentence) -> list[Mention]:
    return [mention for mention in mentions if sentence.first <= mention.first and mention.last <= sentence.last]
