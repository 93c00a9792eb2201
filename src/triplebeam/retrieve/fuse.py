"""Several lists into one, by ranks alone: reciprocal rank fusion (Cormack, Clarke & Büttcher, 2009), or in turn."""

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from triplebeam.ranking import Hit, Ranking
from triplebeam.triple import Chain

#: Cormack's constant.
CONSTANT = 60


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking], constant: float = CONSTANT, weights: Sequence[float] | None = None
) -> Ranking:
    """RRF(d) = Σ weight / (constant + rank of d), over the rankings that hold d; ranks begin at 1, a weight is 1 by
    default.

    The sum is rounded once (`math.fsum`), so equal contributions tie whatever the order of the lists.
    """
    parts: dict[str, list[float]] = {}
    chains: dict[str, list[Chain]] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, hit in enumerate(ranking, start=1):
            parts.setdefault(hit.passage_id, []).append(weight / (constant + rank))
            chains.setdefault(hit.passage_id, []).extend(hit.chains)
    return Ranking.of(
        Hit(passage_id, math.fsum(terms), tuple(dict.fromkeys(chains[passage_id])))
        for passage_id, terms in parts.items()
    )


def in_turn(lists: Iterable[Sequence[str]]) -> list[str]:
    """The best passage of each list, then the second best of each, and so on; each passage once."""
    rows = zip_longest(*lists)
    return list(dict.fromkeys(id_ for row in rows for id_ in row if id_ is not None))
