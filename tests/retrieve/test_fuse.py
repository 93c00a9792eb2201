"""Reciprocal rank fusion against exact fractions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.reciprocal_rank_fusion import rrf, rrf_scores
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import in_turn, reciprocal_rank_fusion
from triplebeam.triple import Triple

lists = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=4)


def ranking(ids: list[str]) -> Ranking:
    return Ranking(Hit(id_, 1 / rank) for rank, id_ in enumerate(ids, start=1))


@given(lists, st.sampled_from([0, 1, 60]))
def test_agrees_with_the_formula(ids: list[list[str]], constant: int) -> None:
    """Sums that are equal as fractions, of other terms, may differ in the last bit: then the order is not compared."""
    fused, exact = reciprocal_rank_fusion([ranking(each) for each in ids], constant), rrf_scores(ids, constant)
    assert {hit.passage_id: hit.score for hit in fused} == pytest.approx(
        {d: float(score) for d, score in exact.items()}
    )
    if len(set(exact.values())) == len(exact):
        assert fused.ids == rrf(ids, constant)


@given(lists)
def test_the_order_of_the_lists_does_not_matter(ids: list[list[str]]) -> None:
    rankings = [ranking(each) for each in ids]
    assert reciprocal_rank_fusion(rankings) == reciprocal_rank_fusion(rankings[::-1])


def test_chains_are_kept_once_and_lists_may_be_taken_in_turn() -> None:
    chain = (Triple("a", "b", "c"),)
    one, two = Ranking([Hit("p", 1.0, (chain,))]), Ranking([Hit("p", 0.5, (chain,)), Hit("q", 0.1)])
    assert reciprocal_rank_fusion([one, two])[0].chains == (chain,)
    assert in_turn([["a", "b", "c"], [], ["b", "d"]]) == ["a", "b", "d", "c"]
    assert in_turn([]) == []
