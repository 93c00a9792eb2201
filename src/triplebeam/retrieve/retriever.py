"""What every retriever offers: the one door through which a base, a graph method and a user's own search are alike."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from triplebeam.ranking import Ranking


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for a query."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k passages, fewer where fewer match."""
        ...


@runtime_checkable
class ScoringRetriever(Retriever, Protocol):
    """A retriever that has a score for every passage, which methods over whole graphs and scaled hybrids need."""

    def scores(self, query: str) -> NDArray[np.float32]:
        """One score a passage, in the order of the index's rows; the higher the better."""
        ...


@runtime_checkable
class PerQuestion(Protocol):
    """A retriever that learns from the queries of one question, such as `RecurrentGNNRet`; alone it knows one query."""

    def begin(self) -> Retriever:
        """A retriever for the steps of one question, which remembers them in the order they come."""
        ...


def for_question(retriever: Retriever) -> Retriever:
    """What an agent of several steps searches with from its first step to its last."""
    return retriever.begin() if isinstance(retriever, PerQuestion) else retriever
