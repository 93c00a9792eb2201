"""Hits with nearly the same text: copies of a page, a text that several releases repeat.

Rankings keep them all. Where people read a list, the first is shown, and how many more are like it.
"""

from collections.abc import Sequence

from triplebeam.triple import entity_key

_SHINGLE_WORDS = 3
_MIN_JACCARD = 0.9


def first_alike(texts: Sequence[str]) -> list[int | None]:
    """For each text, the place of the first one before it that is nearly the same; None where there is none.

    Two texts are nearly the same if of all runs of three words in either, nine tenths are in both.
    """
    shingles = [_shingles(text) for text in texts]
    alike: list[int | None] = []
    for place, own in enumerate(shingles):
        firsts = (other for other in range(place) if alike[other] is None)
        alike.append(next((other for other in firsts if _are_alike(own, shingles[other])), None))
    return alike


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = entity_key(text).split()
    return frozenset(
        tuple(words[start : start + _SHINGLE_WORDS]) for start in range(max(1, len(words) - _SHINGLE_WORDS + 1))
    )


def _are_alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    if min(len(one), len(other)) < _MIN_JACCARD * max(len(one), len(other)):
        return False
    return len(one & other) >= _MIN_JACCARD * len(one | other)
