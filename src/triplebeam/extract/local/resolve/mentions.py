"""Names in a parsed text, each made into one token, so that rules see ``University of Southampton`` as one word.

A number may be a part of a name: ``Kestrel 4``, ``Python 3.12``, ``part 88-1042``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_pattern, get_words
from triplebeam.extract.local.prepare.names import find_name
from triplebeam.extract.local.prepare.terms import is_stand_in, make_readable
from triplebeam.extract.local.resolve.phrases import NAME_KINDS, PROPER, is_named
from triplebeam.text.stop_words import ARTICLES

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_WHOLE_KINDS = NAME_KINDS | {"DATE", "MONEY", "QUANTITY", "PERCENT", "TIME"}
_TAKES_OF = ("ORG", "FAC", "EVENT", "LAW", "WORK_OF_ART")
_NOT_FIRST = ARTICLES | get_words("courtesies")
_NOT_LAST = frozenset(("POS", "IN", "CC", "DT", ","))
_HYPHENATED = re.compile(
    r"(?<![\w-])(?:[A-Z]\w+(?:-\w+|–[A-Z]\w+)+|(?:anti|co|ex|multi|non|post|pre|re|self|semi|sub)-\w+)(?![\w-])"
)
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,3})?[A-Za-z]?")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_NUMBERED_THINGS = get_words("numbered_things")
_HYPHENATED_CODE = re.compile(
    rf"\b(?:{get_pattern('numbered_things')}) (?P<code>\d{{1,6}}(?:-\d{{1,6}}){{0,4}}-\d{{3,6}})(?![\w–-])"
)
_CODE = re.compile(r"[A-Z]{1,4}-?\d[\w-]*|\d+[A-Z][\w-]*|[\d-]+-\d{3,6}|\d{4,}")


def join_titles(doc: "Doc", titles: Sequence[tuple[int, int]], terms: Sequence[tuple[int, int]] = ()) -> "Doc":
    """Before the parse, make each quoted title one token of kind WORK_OF_ART, each hyphenated name or code one token.

    Stand-ins for technical terms are of kind PRODUCT.
    """
    from spacy.tokens import Span
    from spacy.util import filter_spans

    spans = filter_spans(
        [span for start, end in titles if (span := doc.char_span(start, end, alignment_mode="expand")) is not None]
    )
    starts = {span.start_char for span in spans}
    places = [
        *(match.span() for match in _HYPHENATED.finditer(doc.text)),
        *(match.span("code") for match in _HYPHENATED_CODE.finditer(doc.text)),
    ]
    hyphenated = [doc.char_span(*place) for place in places]
    spans = filter_spans([*spans, *(span for span in hyphenated if span is not None)])
    with doc.retokenize() as retokenizer:
        for span in spans:
            retokenizer.merge(span)
    make_readable(doc.vocab, (token.text for token in doc if token.idx in starts and " " in token.text))
    kinds = {start: "PRODUCT" for start, _ in terms} | dict.fromkeys(starts, "WORK_OF_ART")
    doc.ents = tuple(Span(doc, token.i, token.i + 1, label=kinds[token.idx]) for token in doc if token.idx in kinds)
    return doc


def join_names(doc: "Doc", title: str) -> None:
    """Make each name, date and amount one token: entities and the title's occurrences, then capitalised runs."""
    from spacy.util import filter_spans

    titles = [doc.char_span(start, end) for start, end in find_name(title, doc.text)]
    entities = [_widen_name(_trim(ent)) for ent in doc.ents if ent.label_ in _WHOLE_KINDS and _is_whole(ent)]
    numbered = [*_find_numbered_names(doc, entities), *_find_coded_things(doc)]
    names = filter_spans([span for span in (*titles, *entities, *numbered) if span is not None and len(span)])
    taken = {token.i for span in names for token in span} | {token.i for token in doc if is_stand_in(token.text)}
    with doc.retokenize() as retokenizer:
        for span in [*names, *_find_runs(doc, taken)]:
            if len(span) > 1:
                kind = span.label_ or next((token.ent_type_ for token in span if token.ent_type_), "")
                retokenizer.merge(span, attrs={"ENT_TYPE": kind, "TAG": span.root.tag_})
    for token in doc:
        if token.text.casefold() == title.casefold() and not is_named(token):
            token.tag_ = "NNP"  # the tagger took "Ah Via Musicom" for an exclamation


def _is_no_beginning(token: "Token") -> bool:
    """Articles and courtesies; a capital ``The`` inside a sentence belongs to the name."""
    return token.lower_ in _NOT_FIRST and not (token.text == "The" and not token.is_sent_start)


def _trim(span: "Span") -> "Span":
    """Without the article before, without the possessive, a preposition or a comma after."""
    start, end = span.start, span.end
    while start < end and (_is_no_beginning(span.doc[start]) or span.doc[start].is_punct):
        start += 1
    while end > start and (span.doc[end - 1].tag_ in _NOT_LAST or span.doc[end - 1].text in (";", "–", "-")):
        end -= 1
    return _make_span(span.doc, start, end, span.label_)


def _widen_name(span: "Span") -> "Span":
    """``Space Agency`` becomes ``Space Agency of Japan``, ``Mifflin`` becomes ``Dunder Mifflin``."""
    doc, start, end, is_a_person = span.doc, span.start, span.end, span.label_ == "PERSON"
    if start == end or span.label_ not in NAME_KINDS or is_stand_in(span.text):
        return span
    while start and not is_a_person and _is_unclaimed(doc[start - 1]) and doc[start - 1].dep_ == "compound":
        start -= 1
    if end < len(doc) and span.root.head.i == end and _is_unclaimed(doc[end]):
        end += 1
    # Persons are known by a place, too: ``Irmgard of Cleves``, ``Eric IV of Denmark``.
    of_place = is_a_person and (len(span) == 1 or re.fullmatch(r"[IVX]+", span[-1].text))
    if (of_place or span.label_ in _TAKES_OF) and doc[end : end + 1].text.lower() == "of":
        last = end + (2 if doc[end + 1 : end + 2].text.lower() == "the" and not is_a_person else 1)
        while last < len(doc) and doc[last].tag_ in PROPER:
            last += 1
        end = last if doc[min(last, len(doc)) - 1].tag_ in PROPER else end
    return _make_span(doc, start, end, span.label_)


def _is_unclaimed(token: "Token") -> bool:
    """Return whether it is a proper noun that the recogniser left out of every name."""
    return token.tag_ in PROPER and not token.ent_type_ and not is_stand_in(token.text)


def _make_span(doc: "Doc", start: int, end: int, label: str) -> "Span":
    from spacy.tokens import Span

    return Span(doc, start, end, label=label)


def _is_whole(span: "Span") -> bool:
    """Keep a time that can be looked up ("in 1979"), no relative one; two persons are not one name."""
    if span.label_ == "PERSON":
        return not any(token.lower_ == "and" for token in span)
    return span.label_ in NAME_KINDS or any(char.isdigit() for char in span.text)


def _find_runs(doc: "Doc", taken: set[int]) -> "list[Span]":
    """Proper nouns in a row that the entity recogniser passed over."""
    runs: list[Span] = []
    start: int | None = None
    for index in range(len(doc) + 1):
        proper = index < len(doc) and doc[index].tag_ in PROPER and index not in taken
        if proper and start is None:
            start = index
        elif not proper and start is not None:
            runs.append(_trim(doc[start:index]))
            start = None
    return runs


def _find_numbered_names(doc: "Doc", names: "Iterable[Span]") -> "Iterator[Span]":
    """Return the names, given or written in capitals, that a number behind them belongs to, with that number."""
    ends = {name.end: name for name in names if len(name)}
    for number in doc[1:]:
        if number.tag_ == "CD" and _NUMBER.fullmatch(number.text) and not _YEAR.fullmatch(number.text):
            name = ends.get(number.i) or _find_proper_run(number)
            counted = number.head.i not in range(name.start, name.end) or any(number.children)
            if len(name) and not counted and name[-1].tag_ in PROPER and not _goes_on(number):
                yield _make_span(doc, name.start, number.i + 1, name.label_)


def _find_proper_run(number: "Token") -> "Span":
    """Return the proper nouns in a row before the number."""
    start = number.i
    while start and number.doc[start - 1].tag_ in PROPER:
        start -= 1
    return number.doc[start : number.i]


def _goes_on(number: "Token") -> bool:
    """Return whether the number is one of a longer amount or date, or stands between two names as a score does."""
    following = number.doc[number.i + 1 : number.i + 2]
    return bool(following) and (
        following[0].tag_ in (*PROPER, "CD") or following.text in ("–", "-", "/", ":", "%", "(")
    )


def _find_coded_things(doc: "Doc") -> "Iterator[Span]":
    """Join a common noun and the code behind it: ``part 88-1042``, ``error E17``, but not ``ZIP code 24738``."""
    for noun in doc[:-1]:
        if noun.lower_ in _NUMBERED_THINGS and not any(child.dep_ == "compound" for child in noun.lefts):
            code = doc[noun.i + 1]
            tied = code.head == noun or noun.head == code
            if tied and _CODE.fullmatch(code.text) and not _YEAR.fullmatch(code.text):
                yield _make_span(doc, noun.i, code.i + 1, "PRODUCT")
