"""Retrieval within a number of tokens: as many of the best passages as fit."""

from collections.abc import Callable

from triplebeam.generate.language_model import estimate_tokens
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever

#: GNN-Ret, section 4.1: leaves room for instructions and examples in a context of 4,096.
TOKENS = 3500


def within_tokens(
    ranking: Ranking, passages: Passages, tokens: int = TOKENS, count: Callable[[str], int] = estimate_tokens
) -> Ranking:
    """The head of a ranking that fits, the best passage in any case.

    The first passage that does not fit ends it, though a shorter one after it might.
    """
    for number, passage_id in enumerate(ranking.ids):
        tokens -= count(passages[passage_id].searchable)
        if tokens < 0:
            return ranking.top(max(number, 1))
    return ranking


def retrieve_within(
    retriever: Retriever,
    query: str,
    passages: Passages,
    tokens: int = TOKENS,
    count: Callable[[str], int] = estimate_tokens,
) -> Ranking:
    """The best passages that fit. How many that will be is not known, so more are asked for until one does not fit."""
    k = 16
    while True:
        ranking = retriever.retrieve(query, k)
        fitting = within_tokens(ranking, passages, tokens, count)
        if len(fitting) < len(ranking) or len(ranking) < k:
            return fitting
        k *= 2
