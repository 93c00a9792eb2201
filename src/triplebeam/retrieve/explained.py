"""Search first, explain later: which triples led to a passage is looked up for those that are shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.passages import PassageTable
from triplebeam.ranking import Ranking
from triplebeam.triple import Chain

#: Called with rows of passages: the chains that led to each of them, if any.
Reasons: TypeAlias = Callable[[Sequence[int]], Mapping[int, tuple[Chain, ...]]]


class Found(NamedTuple):
    """What a walk found for a query: a score for every passage, and why."""

    scores: NDArray[np.float32]
    reasons: Reasons


def no_reasons(rows: Sequence[int]) -> Mapping[int, tuple[Chain, ...]]:
    """For a search that follows no triples."""
    return {}


def explained(ranking: Ranking, passages: PassageTable, reasons: Reasons) -> Ranking:
    """The hits with their chains."""
    rows = [passages.row(passage_id) for passage_id in ranking.ids]
    chains = reasons(rows)
    return ranking.replace_hits(
        hit._replace(chains=chains.get(row, ())) for hit, row in zip(ranking, rows, strict=True)
    )
