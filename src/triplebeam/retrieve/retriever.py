"""What every retriever offers: the one door through which a base, a graph method and a user's own search are alike."""

from typing import Protocol, runtime_checkable

from triplebeam.ranking import Ranking


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for a query."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k passages, fewer where fewer match."""
        ...
