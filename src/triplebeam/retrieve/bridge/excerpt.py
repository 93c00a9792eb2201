"""Excerpts: of a passage its title, and as many tokens of the text as a reader has room for, where they tell most."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.text.terms import locate_words

#: Tokens of a title that are read where the passage does not fit.
MAX_TITLE = 16


class TokenizedPassage(NamedTuple):
    """A passage's tokens, how many of them are the title's, and of each token the term of the word it begins."""

    ids: Sequence[int]
    in_title: int
    terms: Sequence[str]
    """Empty where a token goes on with a word, or is part of none."""


def place_terms(
    text: str, title: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]], stemmer: str
) -> TokenizedPassage:
    """Return the tokens of a text that begins with its title, each with the term of the word that it begins."""
    words = list(locate_words(text, stemmer))
    starts = np.array([start for start, _, _ in words], np.int64)
    last = np.array([end for _, end in offsets], np.int64) - 1
    places = np.searchsorted(starts, last, side="right") - 1
    terms, before = [], -1
    for place, at in zip(places.tolist(), last.tolist(), strict=True):
        inside = place >= 0 and at < words[place][1]
        terms.append(words[place][2] if inside and place != before else "")
        before = place
    width = len(title) + 1 if title else 0
    return TokenizedPassage(ids, sum(end <= width for _, end in offsets), terms)


def cut_excerpt(passage: TokenizedPassage, budget: int, worth: Mapping[str, float]) -> list[int]:
    """Cut a passage to ``budget`` tokens: its title, and the window of its text whose terms are worth most.

    Of the windows that are worth the same, the one in the middle of the first run has what is told around them.
    """
    if len(passage.ids) <= budget:
        return list(passage.ids)
    titled = min(passage.in_title, MAX_TITLE)
    size = budget - titled
    text = passage.ids[passage.in_title :]
    values = np.array([worth.get(term, 0.0) for term in passage.terms[passage.in_title :]])
    start = _best_window(values, size) if len(text) > size else 0
    return [*passage.ids[:titled], *text[start : start + size]]


def _best_window(values: NDArray[np.float64], size: int) -> int:
    sums = np.append(0.0, np.cumsum(values))
    windows = sums[size:] - sums[:-size]
    if windows.max() <= 0:
        return 0
    best = np.flatnonzero(windows >= windows.max() - 1e-6)
    first_run = best[: np.append(np.flatnonzero(np.diff(best) > 1) + 1, len(best))[0]]
    return int(first_run[len(first_run) // 2])
