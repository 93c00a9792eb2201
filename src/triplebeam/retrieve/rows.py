"""From the rows of an engine to a ranking of passages."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.ranking import Hit, Ranking

#: Rows of an engine, best first, and their scores.
Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]
#: Given k, the best k rows of an engine.
Search: TypeAlias = Callable[[int], Found]
#: From rows to the passages they belong to: a passage's row is its own, a triple's row is its passage's.
PassageOf: TypeAlias = Callable[[NDArray[np.int64]], list[str]]


def rank_passages(search: Search, passage_of: PassageOf, k: int, found: Found | None = None) -> Ranking:
    """The k best passages by their best row.

    Several triples may lead to one passage, and rows of equal score come in the engine's order, not in a ranking's.
    So more are asked for until there are k passages and every row as good as the last of them has been seen.
    ``found``, where a batch has it already, is what the search gives for k + 1.
    """
    if k < 1:
        return Ranking()
    wanted = k + 1
    while True:
        rows, scores = found or search(wanted)
        best: dict[str, float] = {}
        for passage_id, score in zip(passage_of(rows), scores.tolist(), strict=True):
            best.setdefault(passage_id, score)
        ranking = Ranking.of(Hit(passage_id, score) for passage_id, score in best.items())
        if len(rows) < wanted or (len(ranking) >= k and scores[-1] < ranking[k - 1].score):
            return ranking.top(k)
        wanted, found = 2 * wanted, None
