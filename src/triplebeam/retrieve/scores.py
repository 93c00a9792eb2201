"""A score for every passage: scaled, so that two kinds can be added, and ranked."""

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.vectors import top
from triplebeam.ranking import Ranking
from triplebeam.retrieve.rows import PassageOf, rank_passages


def min_max(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores from 0 (the lowest) to 1 (the highest); all 0 where none is above another."""
    lowest = scores.min(initial=np.inf)
    width = scores.max(initial=-np.inf) - lowest
    return (scores - lowest) / width if width > 0 else np.zeros_like(scores)


def rank_positive(scores: NDArray[np.float32], passage_of: PassageOf, k: int) -> Ranking:
    """The k passages of highest score, without those of none: a walk never came there."""
    return rank_scores(scores, passage_of, min(k, int(np.count_nonzero(scores > 0))))


def rank_scores(scores: NDArray[np.float32], passage_of: PassageOf, k: int) -> Ranking:
    """The k passages of highest score."""

    def search(wanted: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        best = top(scores, wanted)
        return best, scores[best]

    return rank_passages(search, passage_of, k)
