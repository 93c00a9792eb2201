"""Sentence borders by rules, without a model.

A mark that may end a sentence is found by a regular expression that reads each character once; rules that look a few
characters to either side then decide. Where a rule is in doubt it joins: two sentences in one passage do less harm than
half a sentence in each of two.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from triplebeam.text.characters import trim_span
from triplebeam.text.stop_words import word_set

#: Start and end of a stretch of text, as in ``text[start:end]``.
Span: TypeAlias = tuple[int, int]

_CLOSERS = r"[\"'”’»)\]}」』）】]*"
_FOOTNOTES = r"(?:\[\d{1,3}\])*"
_MARK = re.compile(rf"(?P<mark>[.!?…‥。！？｡]+)(?P<closers>{_CLOSERS}){_FOOTNOTES}")
_FULL_WIDTH = re.compile(r"[。！？｡]")  # no space follows them
_NEXT_WORD = re.compile(r"\s*(?P<openers>[\"'“‘«(\[{¿¡*_-]*)(?P<word>\w{0,12})")
_OPENERS = "\"'“‘«([{¿¡*_-"
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")  # U.S, e.g, Ph.D: the last full stop is the mark itself
_LIST_NUMBER = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})")
_MAX_ABBREVIATION = 16


_NEVER_LAST = word_set(
    "mr mrs ms mx dr prof st gen col capt cmdr lt sgt maj adm gov sen rep rev hon pres messrs mme mlle fr "
    "e.g i.e eg ie cf vs viz approx ca c resp incl esp"
)
_BEFORE_A_NUMBER = word_set(
    "no nos nr p pp fig figs vol vols ch chap sec sect art eq eqs tab ref op par para pt ex app v ver lines "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_SOMETIMES_LAST = word_set("inc ltd co corp bros llc plc jr sr esq etc al dept univ est assn ave blvd rd mt ft")
_FIRST_WORDS = word_set(
    "A After Although An And As At Before But By During For From He Her His How However I If In Is It Its Many Most My "
    "No On One Our She Since So Some That The Their Then There These They This Those Though To Two Was We What When "
    "Where While Who Why With You Your"
)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Give the sentences between two offsets, without the white space around them. Linear in the text's length."""
    end = len(text) if end is None else end
    first = start
    for mark in _MARK.finditer(text, start, end):
        if mark.end() == end or _is_border(text, mark, first, end):
            if (span := trim_span(text, first, mark.end())) is not None:
                yield span
            first = mark.end()
    if (span := trim_span(text, first, end)) is not None:
        yield span


def _is_border(text: str, mark: re.Match[str], sentence_start: int, end: int) -> bool:
    if _FULL_WIDTH.search(mark["mark"]):
        return True
    if not text[mark.end()].isspace():  # a decimal, a domain name, the inside of an abbreviation
        return False
    following = _NEXT_WORD.match(text, mark.end(), end)
    next_word = following["word"] if following else ""
    goes_on = next_word[:1].islower()
    if mark["mark"] != ".":
        return not goes_on
    before = text[max(sentence_start, mark.start() - _MAX_ABBREVIATION) : mark.start()]
    if mark["closers"]:  # "He left (at 5 p.m.) and …"
        return not goes_on
    return _is_sentence_end(before, next_word, goes_on, at_start=mark.start() - sentence_start <= len(before))


def _is_sentence_end(before: str, next_word: str, goes_on: bool, *, at_start: bool) -> bool:
    """Return whether a full stop, with white space after it, ends a sentence or belongs to the word before it."""
    words = before.split()
    if not words or before[-1].isspace():  # at the very start, or in text with a space before every mark
        return bool(words) and not goes_on
    word = words[-1].lstrip(_OPENERS)
    key = word.lower()
    if at_start and len(words) == 1 and _LIST_NUMBER.fullmatch(words[0]):  # "1. First", "a. First"
        return False
    if key in _NEVER_LAST or (len(word) == 1 and word.isupper()):  # "J. R. R."
        return False
    if key in _BEFORE_A_NUMBER and next_word[:1].isdigit():
        return False
    if key in _SOMETIMES_LAST or _DOTTED.fullmatch(word):
        return next_word in _FIRST_WORDS
    # Some people write without capitals; a short word with a full stop before one is more likely cut short.
    return not goes_on or len(word) > 4
