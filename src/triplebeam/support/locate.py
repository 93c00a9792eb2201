"""Where a passage has the words of a quotation: copied ones, with additions in brackets and ellipses between them."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from triplebeam.text.words import Word, words_of

BRACKETS = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")  # with brackets of the passage inside
_ELLIPSIS = re.compile(r"\[(?:…|\.\s?\.\s?\.)\]|…|\.\s?\.\s?\.")
_MARKS = re.compile(rf"(?P<ellipsis>{_ELLIPSIS.pattern})|(?P<addition>{BRACKETS.pattern})")
#: An ellipsis leaves out at most this many characters, an addition replaces at most this many words.
_MAX_GAP_CHARACTERS = 300
_MAX_REPLACED_WORDS = 8
#: The share of a quotation's words that the passage has in the same order, if it counts as a near miss.
_MIN_MATCHING_SHARE = 0.75
_MIN_NEAR_WORDS = 4


class Piece(NamedTuple):
    """A stretch of copied words, and what is between it and the one before."""

    addition: str
    """What the brackets before it say; empty without any."""
    is_after_gap: bool
    """Whether an ellipsis is before it."""
    words: tuple[str, ...]
    """The folded words; none after the last brackets."""


def parse_quotation(text: str) -> list[Piece]:
    """Split a quotation at its brackets and ellipses."""
    pieces: list[Piece] = []
    additions, is_after_gap, end = list[str](), False, 0
    for mark in [*_MARKS.finditer(text), None]:
        words = tuple(word.folded for word in words_of(text[end : mark.start() if mark else None]))
        if words:
            pieces.append(Piece(" ".join(additions), is_after_gap, words))
            additions, is_after_gap = [], False
        if mark:
            additions += [mark[3]] if mark["addition"] else []
            is_after_gap |= bool(mark["ellipsis"])
            end = mark.end()
    return [*pieces, Piece(" ".join(additions), is_after_gap, ())] if additions else pieces


def remove_brackets(text: str) -> str:
    """Return a quotation as a plain sentence, with its additions."""
    return BRACKETS.sub(r"\1", text)


def locate(quotation: str, text: str) -> tuple[int, int] | None:
    """Find the start and the end of copied words in a text; None if it does not have them.

    Only letters and digits are compared, so that line breaks, quotation marks, dashes, markup and case make no
    difference. If a few words differ, the place of the text's own words is found.
    """
    words, pieces = words_of(text), [piece for piece in parse_quotation(quotation) if piece.words]
    places = place_exactly(pieces, words) or _place_nearly(pieces, words)
    return (words[places[0].start].start, words[places[-1].stop - 1].end) if places else None


def place_exactly(pieces: Sequence[Piece], words: Sequence[Word]) -> list[range]:
    """Find all pieces in their order, each near the one before, as close together as possible; none if one is not."""
    keys = [word.folded for word in words]
    found = [[*_find_all(piece.words, keys)] for piece in pieces]
    placed = ([first, *_follow(first, pieces[1:], found[1:], words)] for first in (found[0] if found else ()))
    whole = [places for places in placed if len(places) == len(pieces)]
    return min(whole, key=lambda places: places[-1].stop - places[0].start, default=[])


def _follow(
    last: range, pieces: Sequence[Piece], found: Sequence[Sequence[range]], words: Sequence[Word]
) -> Iterator[range]:
    """Take for each piece its next place behind the one before, as long as it is near enough."""
    for piece, places in zip(pieces, found, strict=True):
        behind = next((place for place in places if place.start >= last.stop), None)
        if behind is None or not _is_near(piece, last, behind, words):
            return
        yield behind
        last = behind


def _is_near(piece: Piece, last: range, place: range, words: Sequence[Word]) -> bool:
    if piece.is_after_gap:
        return words[place.start].start - words[last.stop - 1].end <= _MAX_GAP_CHARACTERS
    return place.start - last.stop <= _MAX_REPLACED_WORDS


def _find_all(piece: Sequence[str], keys: Sequence[str]) -> Iterator[range]:
    length = len(piece)
    for first in range(len(keys) - length + 1):
        if keys[first] == piece[0] and tuple(keys[first : first + length]) == piece:
            yield range(first, first + length)


def _place_nearly(pieces: Sequence[Piece], words: Sequence[Word]) -> list[range]:
    """Find pieces of which a few words are others than the text's."""
    keys = [word.folded for word in words]
    places = [next(_find_all(piece.words, keys), None) or _find_nearly(piece.words, keys) for piece in pieces]
    found = [place for place in places if place]
    gaps = [words[after.start].start - words[before.stop - 1].end for before, after in pairwise(found)]
    is_whole = len(found) == len(places) and all(0 <= gap <= _MAX_GAP_CHARACTERS for gap in gaps)
    return found if is_whole else []


def _find_nearly(piece: Sequence[str], keys: Sequence[str]) -> range | None:
    """Find the stretch that begins and ends with words of the quotation and has most of the others in their order."""
    if len(piece) < _MIN_NEAR_WORDS:
        return None
    anchor = SequenceMatcher(None, piece, keys, autojunk=False).find_longest_match()
    start = max(0, anchor.b - anchor.a - 2)
    window = keys[start : anchor.b - anchor.a + len(piece) + 2]
    blocks = SequenceMatcher(None, piece, window, autojunk=False).get_matching_blocks()[:-1]  # the last is empty
    is_whole = bool(blocks) and blocks[0].a == 0 and blocks[-1].a + blocks[-1].size == len(piece)
    if not is_whole or sum(block.size for block in blocks) < _MIN_MATCHING_SHARE * len(piece):
        return None
    return range(start + blocks[0].b, start + blocks[-1].b + blocks[-1].size)
