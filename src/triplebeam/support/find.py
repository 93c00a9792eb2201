"""The words of a passage that support a fact, and what is wrong with words that do not."""

from collections.abc import Iterable
from itertools import product

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support.assertion import find_reservation
from triplebeam.support.claim import Claim, claim_of, split_statement
from triplebeam.support.context import find_addition, is_by_its_speaker, split_speaker_names
from triplebeam.support.entailment import states
from triplebeam.support.locate import locate, remove_brackets
from triplebeam.support.names import mentions, object_mentions
from triplebeam.support.page import Page, page_of
from triplebeam.support.quotation import match_quotation
from triplebeam.support.resolve import resolve_passage
from triplebeam.support.subject import has_other_subject
from triplebeam.text.stop_words import LIGHT_WORDS
from triplebeam.text.words import words_of
from triplebeam.triple import Triple

_NO_SENTENCE = "the quoted words are no sentence"
#: In words: a subject behind its object counts as this much farther away.
_TURNED = 5


def locate_fact(triple: Triple, quotation: str, passage: Passage, statement: str = "") -> Span | None:
    """Find the passage's words that a reader quotes for a fact; None if they are not there or do not state it.

    Without a quotation, the statement is one, with additions in brackets.
    """
    span = find_quotation(quotation or statement, passage)
    return span if span and fault_of(triple, span, passage, statement) is None else None


def find_quotation(quotation: str, passage: Passage) -> Span | None:
    """Find the words of the passage that a reader quotes, whether or not they state a fact; None if it has none."""
    place = locate(quotation, passage.text)
    return _span(passage, *place) if place else None


def find_support(triple: Triple, passage: Passage) -> Span | None:
    """Find the words from one entity to the other in the first sentence that states the fact; None if there is none."""
    page = page_of(passage.text, passage.title)
    for sentence in page.sentences:
        span = _span(passage, *_find_link(triple, page, sentence))
        if fault_of(triple, span, passage) is None:
            return span
    return None


def _find_link(triple: Triple, page: Page, sentence: range) -> tuple[int, int]:
    """Find the shortest stretch of a sentence with both entities; one that it does not name is its beginning."""
    subjects = mentions(triple.subject, page, sentence) or [sentence[:1]]
    objects = object_mentions(triple, page, sentence) or [sentence[:1]]
    pairs = [(min(s.start, o.start), max(s.stop, o.stop), s.start > o.start) for s, o in product(subjects, objects)]
    first, last, _ = min(pairs, key=lambda pair: pair[1] - pair[0] + _TURNED * pair[2])
    return page.words[first].start, page.words[last - 1].end


def support_among(triple: Triple, passages: Iterable[Passage]) -> Span | None:
    """Support in the first of several passages that has any."""
    return next((span for passage in passages if (span := find_support(triple, passage))), None)


def fault_of(triple: Triple, span: Span, passage: Passage, statement: str = "") -> str | None:
    """Why a span of a passage is no support for a triple, or for a statement of the same fact; None if it is support.

    The passage is read with its speakers, terms, lists and days written out (`resolve`), under its title or heading.
    """
    if not 0 <= span.start < span.end <= len(passage.text) or passage.text[span.start : span.end] != span.text:
        return "the passage's text is not what the answer quotes"
    quotation = match_quotation(statement, passage, span.start, span.end) if statement else None
    if quotation:
        fault = quotation.find_fault()
        return fault or (None if quotation.is_asked else _find_reservation(statement, quotation.page, *quotation.span))
    triple = Triple(*(split_speaker_names(part, passage) for part in triple))
    statement = split_speaker_names(remove_brackets(statement), passage)
    if statement and not _holds_ends(statement, triple):
        triple = split_statement(statement)
    resolved = resolve_passage(passage)
    place = resolved.place(span.start, span.end)
    titles = dict.fromkeys([passage.title, *passage.section.split(" › ")[-1:]])
    pages = [page_of(resolved.text, title) for title in titles if title] or [page_of(resolved.text, "")]
    faults = [_fault_in(triple, statement, page, place, passage) for page in pages]
    return None if None in faults else faults[0]


def _holds_ends(statement: str, triple: Triple) -> bool:
    """Has a statement the words of its triple's subject and object? What is shown must be what is checked."""
    said = {word.folded for word in words_of(statement)}
    ends = words_of(f"{triple.subject} . {triple.object}")
    return all(word.folded in said for word in ends if word.key not in LIGHT_WORDS)


def _fault_in(triple: Triple, statement: str, page: Page, place: tuple[int, int], passage: Passage) -> str | None:
    """Why a stretch of a page does not state a fact."""
    sentence = page.sentences_of(*place)
    if not sentence:
        return _NO_SENTENCE
    said = statement or str(triple)
    if held := _find_reservation(said, page, *_find_link(triple, page, sentence)):
        return held
    if has_other_subject(triple, page, sentence) or not is_by_its_speaker(said, page, sentence, passage):
        return f"the quoted words say it of something other than {triple.subject!r}"
    if statement and (other := find_addition(statement, triple, page, sentence, passage)):
        return f"the quoted words do not contain {other!r}"
    claim = claim_of(triple, page, *place)
    if isinstance(claim, Claim) and states(claim):
        return None
    if isinstance(claim, str):
        return f"the quoted words do not contain {claim!r}"
    return f"the quoted words do not say {triple.predicate!r} of {triple.subject!r} and {triple.object!r}"


def _find_reservation(said: str, page: Page, first: int, last: int) -> str | None:
    """Say what keeps the sentences around a stretch of a page from asserting it; None if nothing does."""
    sentence = page.sentences_of(first, last)
    if not sentence:
        return _NO_SENTENCE
    start = page.words[sentence.start].start
    end = page.words[sentence.stop].start if sentence.stop < len(page.words) else len(page.text)
    held = find_reservation(said, page.text[start:end], first - start, last - start)
    return f"the quoted words do not assert it: they say {held!r}" if held else None


def _span(passage: Passage, start: int, end: int) -> Span:
    return Span(passage_id=passage.id, start=start, end=end, text=passage.text[start:end])
