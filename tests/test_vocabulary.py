"""Rankings and entity names: what holds whatever goes in."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.triple import Triple

scores = st.floats(allow_nan=False) | st.sampled_from([0.0, 0.5, 1.0])
hits = st.dictionaries(st.text(max_size=3), scores, max_size=12).map(lambda d: [Hit(id_, s) for id_, s in d.items()])


@given(hits)
def test_of_puts_hits_into_the_one_order(given_hits: list[Hit]) -> None:
    ranking = Ranking.of(given_hits)
    assert sorted(ranking, key=lambda hit: (-hit.score, hit.passage_id)) == list(ranking)
    assert sorted(ranking) == sorted(given_hits)
    assert Ranking(ranking) == ranking == Ranking.of(reversed(given_hits))
    assert hash(Ranking(ranking)) == hash(ranking)


@given(hits, st.integers(0, 14), st.integers(0, 14))
def test_a_slice_is_a_ranking(given_hits: list[Hit], start: int, stop: int) -> None:
    ranking = Ranking.of(given_hits)
    assert isinstance(ranking[start:stop], Ranking)
    assert ranking[start:stop].ids == ranking.ids[start:stop]
    assert ranking.top(stop) == ranking[:stop]


@given(hits, st.integers(0, 11))
def test_an_item_is_a_hit(given_hits: list[Hit], place: int) -> None:
    ranking = Ranking.of(given_hits)
    if place < len(ranking):
        assert ranking[place] is list(ranking)[place]
    else:
        with pytest.raises(IndexError):
            ranking[place]


@given(hits)
def test_any_other_order_is_refused(given_hits: list[Hit]) -> None:
    backwards = list(Ranking.of(given_hits))[::-1]
    if len(backwards) > 1:
        with pytest.raises(ValueError, match="falling order"):
            Ranking(backwards)


@pytest.mark.parametrize("make", [Ranking, Ranking.of])
def test_nan_and_doubles_are_refused(make: type[Ranking]) -> None:
    with pytest.raises(ValueError, match="not a number"):
        make([Hit("a", math.nan)])
    with pytest.raises(ValueError, match="twice"):
        make([Hit("a", 2.0), Hit("b", 1.5), Hit("a", 1.0)])


def test_equal_scores_go_by_id_and_nothing_else() -> None:
    chain = ((Triple("a", "b", "c"),),)
    assert Ranking.from_scores({"b": 1.0, "c": 2.0, "a": 1.0}).ids == ["c", "a", "b"]
    assert Ranking.of([Hit("b", 1.0), Hit("a", 1.0, chain)]).ids == ["a", "b"]
    assert Ranking([Hit("a", 1.0)]) != Ranking([Hit("a", 1.0, chain)])


def test_the_texts_that_are_encoded() -> None:
    assert str(Triple("Edward Cahn", "died on", "25 August 1963")) == "Edward Cahn died on 25 August 1963"
    assert Passage("a", "text", title="title").searchable == "title\ntext"
    assert Passage("a", "text").searchable == "text"
