"""GeAR, Eq. 1: a reader turns retrieved passages into proximal triples, facts that help with the query."""

from collections.abc import Sequence
from typing import Protocol

from triplebeam.triple import Triple


class Reader(Protocol):
    """read(C', q): what a model finds in the passages for this query. It looks the passages' texts up itself."""

    def read(self, query: str, passage_ids: Sequence[str]) -> Sequence[Triple]:
        """Eq. 1: the proximal triples, most helpful first; none where the passages do not help."""
        ...
