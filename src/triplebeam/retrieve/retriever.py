"""What every retriever offers, a base, a graph method or a user's own search; and the check of its parameters."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal, Protocol, cast, get_args, get_origin, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError, nearest
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.system.work import check_cancelled

#: Queries that go through a batch together: enough to read every vector once for all of them, few enough for
#: their scores of all passages to fit into memory.
BATCH = 64


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for a query."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the best k passages, or fewer if fewer match."""
        ...


@runtime_checkable
class BatchRetriever(Retriever, Protocol):
    """A retriever that is faster with many queries at once. Call it through `retrieve_many`."""

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return what `retrieve` returns for each, apart from the rounding of scores."""
        ...


class OneOfMany(Protocol):
    """A retriever whose search for one query is that for many: a subclass has ``retrieve_many``."""

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the best k passages for each query."""
        ...

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the best k passages."""
        return self.retrieve_many([query], k)[0]


@runtime_checkable
class ScoringRetriever(Retriever, Protocol):
    """A retriever that has a score for every passage, which methods over whole graphs and scaled hybrids need."""

    def scores(self, query: str) -> NDArray[np.float32]:
        """One score per passage, in the order of the index's rows; the higher the better."""
        ...


@runtime_checkable
class BatchScoringRetriever(ScoringRetriever, Protocol):
    """A scoring retriever that is faster with many queries at once. Call it through `scores_many`."""

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row per query: what `scores` returns for it, apart from rounding."""
        ...


class OneScoreOfMany(Protocol):
    """A retriever whose scores for one query are those for many: a subclass has ``scores_many``."""

    def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of scores per query."""
        ...

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return one score per passage."""
        scores: NDArray[np.float32] = self.scores_many([query])[0]
        return scores


@runtime_checkable
class PerQuestion(Protocol):
    """A retriever that learns from the queries of one question, such as `RecurrentGNNRet`."""

    def begin(self) -> Retriever:
        """Return a retriever for the steps of one question, which remembers them in order."""
        ...


def for_question(retriever: Retriever) -> Retriever:
    """Return what an agent of several steps searches with from its first step to its last."""
    return retriever.begin() if isinstance(retriever, PerQuestion) else retriever


def passages_of(retriever: Retriever) -> Passages:
    """Return the texts of what a retriever finds: it has them if it, or its base, was built over an index."""
    known = _texts(retriever)
    if known is None:
        raise BadInputError(
            f"{type(retriever).__name__} does not know the texts of the passages it finds: give them as passages=, a"
            " mapping from ids to passages such as the passages of an index."
        )
    return known


def _texts(built_over: object) -> Passages | None:
    if (known := getattr(built_over, "passages", None)) is not None:
        return cast("Passages", known)
    below = (getattr(built_over, name, None) for name in ("triples", "base", "dense", "gnn_ret", "fallback"))
    return next((known for each in below if each is not None and (known := _texts(each)) is not None), None)


def retrieve_many(retriever: Retriever, queries: Sequence[str], k: int = 10) -> list[Ranking]:
    """Return the best k passages for each query: in batches where the retriever supports that, else one by one."""
    check_cancelled()
    if not isinstance(retriever, BatchRetriever):
        return [retriever.retrieve(query, k) for query in queries]
    batches = (queries[start : start + BATCH] for start in range(0, len(queries), BATCH))
    return [ranking for batch in batches for ranking in retriever.retrieve_many(batch, k)]


def scores_many(retriever: ScoringRetriever, queries: Sequence[str]) -> NDArray[np.float32]:
    """Return a row of scores for each query of one batch."""
    if isinstance(retriever, BatchScoringRetriever):
        return retriever.scores_many(queries)
    return np.array([retriever.scores(query) for query in queries], np.float32)


def check_fields(method: Any, *shares: str) -> None:
    """Refuse a count below 1, a word that is none of a field's own, and a share that is not between 0 and 1.

    A count is any whole number but the seed: nothing here is searched, read or kept less than once.
    """
    for each in fields(method):
        value = getattr(method, each.name)
        if type(value) is int and value < 1 and each.name not in ("seed", *shares):
            raise BadInputError(f"{each.name} is {value}: it must be 1 or more.")
        if get_origin(each.type) is Literal and value not in get_args(each.type):
            known = get_args(each.type)
            raise BadInputError(f"{each.name} is {value!r}{nearest(value, known)}: choose {' or '.join(known)}.")
        if each.name in shares and not 0 <= value <= 1:
            raise BadInputError(f"{each.name} is {value}: it must lie between 0 and 1.")


def check_not_negative(method: object, *names: str) -> None:
    """Refuse a weight, a constant or a temperature below 0."""
    for name in names:
        if not getattr(method, name) >= 0:
            raise BadInputError(f"{name} is {getattr(method, name)}: it must not be below 0.")
