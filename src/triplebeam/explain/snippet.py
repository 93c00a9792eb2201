"""The part of a passage that shows why it was found: whole sentences, or lines of code, with what matches marked.

What matches are the words of the question and of the facts that led to the passage, compared as the term index compares
them: folded, stemmed, function words aside. A text consists of paragraphs, which may be filled, and of blocks whose
lines must stay: code, tables, lists.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from triplebeam.passage import Passage
from triplebeam.text.sentences import Span, sentence_spans
from triplebeam.text.stop_words import FUNCTION_WORDS
from triplebeam.text.terms import ENGLISH, is_unspaced, locate_words, query_stems, text_words, words_in
from triplebeam.triple import Triple

#: The most characters of a snippet; ending with whole sentences, it has about 280.
WIDTH = 360
#: The beginning says what a passage is about: a window elsewhere must have a word of its own. Otherwise weak matches
#: far down hide the answer more often than they show it.
_BEGINNING = 1.0
#: Parts of a sentence that is longer than a snippet.
_PART = re.compile(r"\S.{0,119}(?=\s|\Z)|\S.{0,119}", re.DOTALL)
#: What a paragraph ends with, and a heading does not.
_ENDINGS = ".!?…:;,\"'”’»)。！？」"

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_INDENTED_OR_TABULAR = re.compile(r"^(?: {2,}|\t|```|~~~)|\t| \| ", re.MULTILINE)
#: Lines of prose that somebody wrapped are longer than this, but for the last.
_WRAPPED_CHARACTERS = 60


class Block(NamedTuple):
    """A stretch of a text between blank lines, as in ``text[start:end]``."""

    start: int
    end: int
    keeps_lines: bool


class Snippet(NamedTuple):
    """A part of a passage; ``text[start:end]`` of each highlight matches."""

    text: str
    highlights: tuple[Span, ...]


class _Piece(NamedTuple):
    """A sentence, or a line that stays one."""

    start: int
    end: int
    block: int
    keeps_lines: bool


def snippet(passage: Passage, question: str, facts: Iterable[Triple] = (), stemmer: str = ENGLISH) -> Snippet:
    """Find the part of a passage that matches best, cut at the borders of sentences or lines.

    ``stemmer`` is that of the passage's language, which the term index knows (`found.stemmers`).
    """
    wanted = wanted_words(question, facts, stemmer)
    pieces = _without_headings(passage, list(_pieces(passage.text)))
    found = [words_in(passage.text[piece.start : piece.end], stemmer) & wanted for piece in pieces]
    shown = _best(list(zip(pieces, found, strict=True)))
    text = _join(passage.text, shown)
    before, after = (_ellipsis(shown, pieces, place) for place in (0, -1))
    text = f"{before}{text}{after[::-1]}"
    return Snippet(text, highlights(text, wanted, stemmer))


def wanted_words(question: str, facts: Iterable[Triple] = (), stemmer: str = ENGLISH) -> frozenset[str]:
    """Find the words of a question and of the ends of facts, without function words, as a passage of that stemmer may
    have them.
    """
    texts = (question, *(f"{fact.subject} {fact.object}" for fact in facts))
    words = frozenset[str]().union(*(_telling_words(text, each) for text in texts for each in {ENGLISH, stemmer}))
    return frozenset(word for word in words if not _says_nothing(word)) or words


def _says_nothing(word: str) -> bool:
    """Recognize a function word, or a letter alone: the *I* of a question is not the *i* of "i.e."."""
    is_letter = len(word) == 1 and word.isalpha() and not is_unspaced(word)
    return is_letter or word in FUNCTION_WORDS


@lru_cache(1 << 10)
def _telling_words(text: str, stemmer: str) -> frozenset[str]:
    searched = {stem for stems in query_stems(text, [stemmer]) for stem in stems.values()}
    return frozenset(words_in(text, stemmer) - (set(text_words(text, stemmer)) - searched))


def highlights(text: str, wanted: frozenset[str], stemmer: str = ENGLISH) -> tuple[Span, ...]:
    """Find where a text has these words; words in a row are one stretch."""
    merged: list[Span] = []
    for start, end, word in locate_words(text, stemmer):
        if word in wanted:
            adjoins = bool(merged) and (start <= merged[-1][1] or text[merged[-1][1] : start] == " ")
            merged[-1:] = [(merged[-1][0], end)] if adjoins else [*merged[-1:], (start, end)]
    return tuple(merged)


def _pieces(text: str) -> Iterator[_Piece]:
    for number, (start, end, keeps_lines) in enumerate(split_blocks(text)):
        lines = (match.span() for match in re.compile(r"[^\n]+").finditer(text, start, end))
        for first, last in lines if keeps_lines else sentence_spans(text, start, end):
            parts = [(first, last)]
            if last - first > WIDTH:
                parts = [match.span() for match in _PART.finditer(text, first, last)]
            yield from (_Piece(*part, number, keeps_lines) for part in parts)


def _without_headings(passage: Passage, pieces: list[_Piece]) -> list[_Piece]:
    """Leave out the title and the section, which are shown above the snippet."""
    above = {passage.title, *passage.section.split(" › ")}
    return [piece for piece in pieces if passage.text[piece.start : piece.end].strip() not in above] or pieces


def _best(pieces: Sequence[tuple[_Piece, set[str]]]) -> list[_Piece]:
    """Find the window with most of the words, each counting less the more pieces have it. The last of equal ones starts
    with a match; it is then made as long as it may be.
    """
    if not pieces:
        return []
    spread = Counter(word for _, words in pieces for word in words)
    ends = [_last_within(pieces, first) for first in range(len(pieces))]
    worth = [
        round(sum(1 / spread[word] for word in set().union(*(words for _, words in pieces[first : last + 1]))), 9)
        for first, last in enumerate(ends)
    ]
    worth[0] += _BEGINNING
    first = max(range(len(pieces)), key=lambda place: (worth[place], place))
    last = ends[first]
    while first and pieces[last][0].end - pieces[first - 1][0].start <= WIDTH:
        first -= 1
    return [piece for piece, _ in pieces[first : last + 1]]


def _last_within(pieces: Sequence[tuple[_Piece, set[str]]], first: int) -> int:
    last = first
    while last + 1 < len(pieces) and pieces[last + 1][0].end - pieces[first][0].start <= WIDTH:
        last += 1
    return last


def _join(text: str, pieces: Sequence[_Piece]) -> str:
    """Write the pieces as they are, paragraphs filled and run together; a heading stays on its line."""
    written = ""
    for before, piece in zip([None, *pieces], pieces, strict=False):
        own = text[piece.start : piece.end]
        written += _gap(text, before, piece) + (own if piece.keeps_lines else " ".join(own.split()))
    return written


def _gap(text: str, before: _Piece | None, piece: _Piece) -> str:
    if before is None:
        return ""
    if before.block != piece.block:
        prose = all(not each.keeps_lines and text[each.end - 1] in _ENDINGS for each in (before, piece))
        return " " if prose else "\n\n"
    return "\n" if piece.keeps_lines else " " * (before.end < piece.start)


def _ellipsis(shown: Sequence[_Piece], pieces: Sequence[_Piece], place: int) -> str:
    """Mark a side that is cut, as it is read from outside: on a line of its own where lines stay."""
    if not shown or shown[place] is pieces[place]:
        return ""
    return "…\n" if shown[place].keeps_lines else "… "


def split_blocks(text: str) -> Iterator[Block]:
    """Split a text at blank lines; the page's `marked_text.js` follows the same rules."""
    gaps = [match.span() for match in _BLANK_LINES.finditer(text)]
    for start, end in zip([0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)], strict=True):
        block = text[start:end]
        if block.strip():
            *wrapped, _ = block.split("\n")
            short = bool(wrapped) and max(map(len, wrapped)) < _WRAPPED_CHARACTERS
            yield Block(start, end, short or bool(_INDENTED_OR_TABULAR.search(block)))


def fill_paragraphs(text: str) -> str:
    """Put paragraphs on one line each; every character stays where it was."""
    letters = list(text)
    for block in split_blocks(text):
        if not block.keeps_lines:
            letters[block.start : block.end] = text[block.start : block.end].replace("\n", " ")
    return "".join(letters)
