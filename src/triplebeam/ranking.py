"""A ranked list of passages, checked when it is made.

One rule orders every ranking: falling score, and between equal scores the passage id in rising order.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

from triplebeam.triple import Chain

#: Hits whose links to other documents `blend` follows, and explanations show.
LINKING_HITS = 2


class Hop(NamedTuple):
    """A link that was followed to a passage: from which passage, and through which name."""

    passage_id: str
    name: str


class Hit(NamedTuple):
    """A passage in a ranking, with the chains of triples that led to it."""

    passage_id: str
    score: float
    chains: tuple[Chain, ...] = ()
    found_by: tuple[tuple[str, int], ...] = ()
    """In an explained fusion: the parts that list the passage, each with its rank there."""
    hops: tuple[Hop, ...] = ()
    """Links over titles and topics that led to it from other passages, the best first."""


def _order(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.passage_id


class Ranking(Sequence[Hit]):
    """Hits in falling score, ties by id, no id twice, no NaN."""

    __slots__ = ("_hits",)

    def __init__(self, hits: Iterable[Hit] = ()) -> None:
        self._hits = tuple(hits)
        if any(math.isnan(hit.score) for hit in self._hits):
            raise ValueError("a score in a ranking is not a number")
        if len({hit.passage_id for hit in self._hits}) < len(self._hits):
            raise ValueError("a passage is listed twice in a ranking")
        if any(_order(b) < _order(a) for a, b in zip(self._hits, self._hits[1:], strict=False)):
            raise ValueError("a ranking is not in falling order of score, ties by passage id")

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> "Ranking":
        """Put hits into order."""
        return Ranking(sorted(hits, key=_order))

    @classmethod
    def from_scores(cls, scores: Mapping[str, float]) -> "Ranking":
        """Rank passages by a score each."""
        return cls.of(Hit(passage_id, score) for passage_id, score in scores.items())

    @property
    def ids(self) -> list[str]:
        """The passages' ids, best first."""
        return [hit.passage_id for hit in self._hits]

    def top(self, k: int) -> "Ranking":
        """Return the best k."""
        return _as_checked(self._hits[:k])

    def replace_hits(self, hits: Iterable[Hit]) -> "Ranking":
        """Return the same passages with the same scores, and more about them: chains, or who found them."""
        replaced = _as_checked(tuple(hits))
        if [hit[:2] for hit in replaced] != [hit[:2] for hit in self]:
            raise ValueError("hits were replaced by others")
        return replaced

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> "Ranking": ...
    def __getitem__(self, index: int | slice) -> "Hit | Ranking":
        return Ranking(self._hits[index]) if isinstance(index, slice) else self._hits[index]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranking) and self._hits == other._hits

    def __hash__(self) -> int:
        return hash(self._hits)

    def __repr__(self) -> str:
        return f"Ranking({list(self._hits)!r})"


def _as_checked(hits: tuple[Hit, ...]) -> Ranking:
    """Hits of a ranking that was checked: checking the lists of a fusion over and over takes longer than fusing."""
    ranking = Ranking.__new__(Ranking)
    ranking._hits = hits
    return ranking
