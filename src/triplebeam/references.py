"""References: from good passages to those of other documents that they link to, or that define a term they name.

Ours, no paper's. Manuals have few facts, but they say where to read on: one page names ``batch_max``, another defines
it. The better the passage that refers, and the nearer to the query the one it refers to, the earlier.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.bounds import check_fields
from triplebeam.fact_links import Linked, shares_of_best
from triplebeam.index.references import LINK
from triplebeam.index.snapshot import Snapshot
from triplebeam.triple import Chain, Triple

#: What a chain says of a reference; no extractor's words.
MENTIONS, DEFINED_IN, LINKS_TO = "mentions", "is defined in", "links to"


@dataclass(frozen=True, kw_only=True)
class References:
    """Those of an index, followed from the best passages of a query."""

    index: Snapshot = field(repr=False)
    followed: int = 10
    """Passages whose references are followed."""

    def __post_init__(self) -> None:
        check_fields(self)

    def follow(
        self, vector: NDArray[np.float32], rows: NDArray[np.int64], scores: NDArray[np.floating]
    ) -> list[Linked]:
        """Where references lead from passages that were found, best first, with these scores; each passage once."""
        rows, shares = rows[: self.followed], shares_of_best(scores[: self.followed])
        starts, ends = np.searchsorted(self.index.references[:, 0], [rows, rows + 1])
        numbers = np.concatenate([np.arange(*span) for span in zip(starts, ends, strict=True)] or [starts])
        targets = self.index.references[numbers, 1]
        near = np.maximum(self.index.passage_vectors.rows[targets] @ vector, 0)
        worth = np.repeat(shares, ends - starts) * near
        found: dict[int, Linked] = {}
        for place in np.argsort(-worth, kind="stable").tolist():
            found.setdefault(int(targets[place]), Linked(int(targets[place]), worth[place], int(numbers[place])))
        return list(found.values())

    def chains(self, linked: Linked) -> tuple[Chain, ...]:
        """The reference that led to a passage, in words."""
        return () if linked.reason is None else (self._chain(*self.index.references[linked.reason].tolist()),)

    def _chain(self, here: int, there: int, term: int) -> Chain:
        source, target = (self.index.passages.at(row).heading for row in (here, there))
        if term == LINK:
            return (Triple(source, LINKS_TO, target),)
        name = self.index.entities.names[term]
        return Triple(source, MENTIONS, name), Triple(name, DEFINED_IN, target)
