"""Where a passage says what a reader quotes from it.

Only letters and digits are compared, so that line breaks, quotation marks, dashes, markup and case make no difference.
A quotation with an ellipsis, or with a few words that differ, gives the passage's own words at that place.
"""

import re
from difflib import SequenceMatcher
from itertools import pairwise

from triplebeam.support.words import Word, words_of

_ELLIPSIS = re.compile(r"\[?(?:…|\.\s?\.\s?\.)\]?")
#: A quotation with an ellipsis leaves out at most so many characters in one place.
_LONGEST_GAP = 300
#: The share of a quotation's words that the passage has in the same order, if it counts as a near miss.
_NEARLY = 0.75
_FEWEST_WORDS = 4


def locate(quotation: str, text: str) -> tuple[int, int] | None:
    """Start and end of the words quoted, in the text; None if they are not there."""
    words = words_of(text)
    pieces = filter(None, [[word.folded for word in words_of(piece)] for piece in _ELLIPSIS.split(quotation)])
    places: list[tuple[int, int]] = []
    for piece in pieces:
        found = _exactly(piece, words, places[-1][1] if places else 0) or _nearly(piece, words)
        if found is None:
            return None
        places.append(found)
    gaps = [words[after[0]].start - words[before[1] - 1].end for before, after in pairwise(places)]
    if not places or not all(0 <= gap <= _LONGEST_GAP for gap in gaps):
        return None
    return words[places[0][0]].start, words[places[-1][1] - 1].end


def _exactly(piece: list[str], words: list[Word], after: int) -> tuple[int, int] | None:
    length = len(piece)
    for first in range(after, len(words) - length + 1):
        if words[first].folded == piece[0] and [word.folded for word in words[first : first + length]] == piece:
            return first, first + length
    return None


def _nearly(piece: list[str], words: list[Word]) -> tuple[int, int] | None:
    """The stretch that begins and ends with words of the quotation and has most of the others in their order."""
    if len(piece) < _FEWEST_WORDS:
        return None
    keys = [word.folded for word in words]
    anchor = SequenceMatcher(None, piece, keys, autojunk=False).find_longest_match()
    start = max(0, anchor.b - anchor.a - 2)
    window = keys[start : anchor.b - anchor.a + len(piece) + 2]
    blocks = SequenceMatcher(None, piece, window, autojunk=False).get_matching_blocks()[:-1]  # the last is empty
    if sum(block.size for block in blocks) < _NEARLY * len(piece):
        return None
    return start + blocks[0].b, start + blocks[-1].b + blocks[-1].size
