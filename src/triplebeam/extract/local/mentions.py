"""Names in a parsed text, each made into one token, so that rules see ``University of Southampton`` as one word."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triplebeam.triple import entity_key

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

#: Kinds that spaCy's model tells apart and that are names; the others are numbers and times.
NAME_KINDS = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE")
)
PLACE_KINDS = frozenset(("GPE", "LOC", "FAC"))
_WHOLE_KINDS = NAME_KINDS | {"DATE", "MONEY", "QUANTITY", "PERCENT", "TIME"}
_TAKES_OF = ("ORG", "FAC", "EVENT", "LAW", "WORK_OF_ART")
_NOT_FIRST = ("the", "a", "an", "sir", "dj", "mr.", "mrs.", "ms.", "dr.")
_PROPER = ("NNP", "NNPS")
_NEVER_NAMES = frozenset(
    ("DT", "POS", "IN", "CC", ",", ".", ":", "HYPH", "-LRB-", "-RRB-", "''", "``", "TO", "PRP", "PRP$")
)


def join_titles(doc: "Doc", titles: Sequence[tuple[int, int]]) -> "Doc":
    """Make each quoted title one token of kind WORK_OF_ART, before the parse, so that it is not parsed as a clause."""
    from spacy.tokens import Span
    from spacy.util import filter_spans

    spans = filter_spans(
        [span for start, end in titles if (span := doc.char_span(start, end, alignment_mode="expand")) is not None]
    )
    starts = {span.start_char for span in spans}
    with doc.retokenize() as retokenizer:
        for span in spans:
            retokenizer.merge(span)
    doc.ents = tuple(Span(doc, token.i, token.i + 1, label="WORK_OF_ART") for token in doc if token.idx in starts)
    return doc


def join_names(doc: "Doc", title: str) -> None:
    """Make each name, date and amount one token: entities and the title's occurrences, then capitalised runs."""
    from spacy.util import filter_spans

    pattern = rf"(?<!\w){re.escape(title)}(?!\w)"
    titles = [doc.char_span(match.start(), match.end()) for match in re.finditer(pattern, doc.text)] if title else []
    entities = [_widened(_trimmed(ent)) for ent in doc.ents if ent.label_ in _WHOLE_KINDS and _is_whole(ent)]
    names = filter_spans([span for span in (*titles, *entities) if span is not None and len(span)])
    taken = {token.i for span in names for token in span}
    with doc.retokenize() as retokenizer:
        for span in [*names, *_capitalised_runs(doc, taken)]:
            if len(span) > 1:
                kind = span.label_ or next((token.ent_type_ for token in span if token.ent_type_), "")
                retokenizer.merge(span, attrs={"ENT_TYPE": kind, "TAG": span.root.tag_})


def _trimmed(span: "Span") -> "Span":
    """Without the article before, without the possessive or a comma after."""
    start, end = span.start, span.end
    while start < end and (span.doc[start].lower_ in _NOT_FIRST or span.doc[start].is_punct):
        start += 1
    while end > start and (span.doc[end - 1].tag_ == "POS" or span.doc[end - 1].text in (",", ";", "–", "-")):
        end -= 1
    return _span(span.doc, start, end, span.label_)


def _widened(span: "Span") -> "Span":
    """``Space Agency`` becomes ``Space Agency of Japan``, ``Mifflin`` becomes ``Dunder Mifflin``."""
    doc, start, end = span.doc, span.start, span.end
    if not len(span) or span.label_ not in NAME_KINDS:
        return span
    if span.label_ != "PERSON":
        while (
            start
            and doc[start - 1].tag_ in _PROPER
            and not doc[start - 1].ent_type_
            and doc[start - 1].dep_ == "compound"
        ):
            start -= 1
    elif start and doc[start - 1].text in ("Pope", "Saint", "St."):
        start -= 1
    if _takes_of(span) and end + 1 < len(doc) and doc[end].lower_ == "of":
        last = end + (2 if doc[end + 1].lower_ == "the" else 1)
        while last < len(doc) and doc[last].tag_ in _PROPER:
            last += 1
        end = last if doc[last - 1].tag_ in _PROPER else end
    return _span(doc, start, end, span.label_)


def _takes_of(span: "Span") -> bool:
    """Institutions and works, and those persons who are known by a place: ``Irmgard of Cleves``, ``Eric IV of Denmark``."""
    if span.label_ == "PERSON":
        return len(span) == 1 or re.fullmatch(r"[IVX]+", span[-1].text) is not None
    return span.label_ in _TAKES_OF


def _span(doc: "Doc", start: int, end: int, label: str) -> "Span":
    from spacy.tokens import Span

    return Span(doc, start, end, label=label)


def _is_whole(span: "Span") -> bool:
    """A time counts when it can be looked up ("in 1979"), not when it is relative; two persons are not one name."""
    if span.label_ == "PERSON":
        return not any(token.lower_ == "and" for token in span)
    return span.label_ in NAME_KINDS or any(char.isdigit() for char in span.text)


def _capitalised_runs(doc: "Doc", taken: set[int]) -> "list[Span]":
    """Proper nouns in a row that the entity recogniser passed over."""
    runs: list[Span] = []
    start: int | None = None
    for index in range(len(doc) + 1):
        proper = index < len(doc) and doc[index].tag_ in _PROPER and index not in taken
        if proper and start is None:
            start = index
        elif not proper and start is not None:
            runs.append(doc[start:index])
            start = None
    return runs


def is_named(token: "Token") -> bool:
    """The token is a name, or a time or amount kept whole; an office (``the President of``) is not a name."""
    if token.tag_ in _NEVER_NAMES:
        return False
    if token.ent_type_ in NAME_KINDS or is_time(token):
        return True
    return token.tag_ in _PROPER and not (
        token.dep_ in ("attr", "oprd", "appos") or any(child.lower_ == "of" for child in token.rights)
    )


def is_common(token: "Token") -> bool:
    """The token is a noun and not a name."""
    return token.tag_ in ("NN", "NNS", *_PROPER) and not is_named(token)


def is_time(token: "Token") -> bool:
    """The token is a date or a year that can be looked up."""
    return token.ent_type_ in ("DATE", "TIME") and any(char.isdigit() for char in token.text)


def is_person(token: "Token") -> bool:
    """The recogniser took the token for a person's name."""
    return token.ent_type_ == "PERSON"


def words_of(name: str) -> list[str]:
    """The words of a name in its normal form."""
    return entity_key(name).split()
