"""Names in a parsed text, each made into one token, so that rules see ``University of Southampton`` as one word."""

import re
from typing import TYPE_CHECKING

from triplebeam.triple import entity_key

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

#: Kinds that spaCy's model tells apart and that are names; the others are numbers and times.
NAME_KINDS = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE")
)
_WHOLE_KINDS = NAME_KINDS | {"DATE", "MONEY", "QUANTITY", "PERCENT", "TIME"}
_PROPER = ("NNP", "NNPS")
_LONGEST_TITLE = 12
_SMALL_WORDS = frozenset("a an and at by de for from in la le of on or the to with".split())


def join_quoted(doc: "Doc") -> "Doc":
    """Make each quoted title one token of kind WORK_OF_ART, before the parse, so that it is not parsed as a clause."""
    from spacy.tokens import Span

    marks = [token.i for token in doc if token.text == '"']
    spans = [doc[start + 1 : end] for start, end in zip(marks[::2], marks[1::2], strict=False)]
    titles = [title for title in map(_without_end_mark, spans) if _looks_like_title(title)]
    starts = [title.start_char for title in titles]
    with doc.retokenize() as retokenizer:
        for title in titles:
            retokenizer.merge(title)
    at = {token.idx: token.i for token in doc}
    doc.ents = tuple(Span(doc, at[start], at[start] + 1, label="WORK_OF_ART") for start in starts)
    return doc


def _without_end_mark(span: "Span") -> "Span":
    return span[:-1] if len(span) > 1 and span[-1].text in (",", ".", ";") else span


def _looks_like_title(span: "Span") -> bool:
    """Few words, and all but the small ones begin with a capital or a digit."""
    words = [token.text for token in span if token.text[0].isalnum()]
    large = [word for word in words if word not in _SMALL_WORDS]
    return 0 < len(words) <= _LONGEST_TITLE and all(not word[0].islower() for word in [words[0], *large])


def join_names(doc: "Doc", title: str) -> None:
    """Make each name, date and amount one token: the title's occurrences first, then entities, then capitalised runs."""
    from spacy.util import filter_spans

    titles = [doc.char_span(match.start(), match.end()) for match in re.finditer(rf"\b{re.escape(title)}\b", doc.text)]
    ents = [_trimmed(ent) for ent in doc.ents if ent.label_ in _WHOLE_KINDS]
    names = [span for span in ents if span is not None and _is_whole(span)]
    runs = _capitalised_runs(doc, {token.i for span in names for token in span})
    chosen: list[Span] = []
    for spans in ([span for span in titles if span is not None and title], names, runs):
        taken = {token.i for span in chosen for token in span}
        chosen += [span for span in filter_spans(spans) if not any(token.i in taken for token in span)]
    with doc.retokenize() as retokenizer:
        for span in chosen:
            if len(span) > 1:
                kind = span.label_ or next((token.ent_type_ for token in span if token.ent_type_), "")
                retokenizer.merge(span, attrs={"ENT_TYPE": kind, "TAG": span.root.tag_})


def _trimmed(span: "Span") -> "Span | None":
    """Without the article before, without the possessive or a comma after."""
    start, end = span.start, span.end
    while start < end and (span.doc[start].lower_ in ("the", "a", "an") or span.doc[start].is_punct):
        start += 1
    while end > start and (span.doc[end - 1].tag_ == "POS" or span.doc[end - 1].text in (",", ";", "–", "-")):
        end -= 1
    trimmed = span.doc[start:end]
    return span.doc.char_span(trimmed.start_char, trimmed.end_char, label=span.label_) if start < end else None


def _is_whole(span: "Span") -> bool:
    """A time counts when it can be looked up ("in 1979"), not when it is relative ("the next day")."""
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
    """The token is a name, or a time or amount kept whole."""
    return token.tag_ in _PROPER or token.ent_type_ in NAME_KINDS or is_time(token)


def is_time(token: "Token") -> bool:
    """The token is a date or a year that can be looked up."""
    return token.ent_type_ in ("DATE", "TIME") and any(char.isdigit() for char in token.text)


def is_person(token: "Token") -> bool:
    """The recogniser took the token for a person's name."""
    return token.ent_type_ == "PERSON"


def words_of(name: str) -> list[str]:
    """The words of a name in its normal form."""
    return entity_key(name).split()
