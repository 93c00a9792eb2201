"""Intervals and p-values: what theory, simulation on a fixed seed and SciPy say of them.

Do I need a graph? Yes, no, and cannot tell, each where it is right.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from triplebeam.errors import BadInputError
from triplebeam.evaluate import compare
from triplebeam.evaluate.compare import Interval, compare_paired, holm, interval
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.recommend import can_recommend, recommend
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, math.nan]), min_size=1, max_size=30)


def test_the_interval_is_scipys() -> None:
    values = np.random.default_rng(3).choice([0, 0.5, 1], size=200, p=[0.3, 0.3, 0.4])
    ours = interval(values)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1), batch=500)
    assert ours.mean == pytest.approx(values.mean())
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.004)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    generator, covered = np.random.default_rng(11), 0
    for _ in range(400):
        found = interval(generator.choice([0, 0.5, 1], size=60, p=[0.5, 0.3, 0.2]), resamples=1000)
        covered += found.low <= 0.35 <= found.high
    assert 0.92 <= covered / 400 <= 0.97


def test_more_confidence_is_a_wider_interval_and_resamples_are_made_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(50)
    narrow, wide = interval(values, confidence=0.5), interval(values, confidence=0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high
    monkeypatch.setattr(compare, "_MAX_COUNTS", 300)
    assert interval(values, confidence=0.5) == narrow


def test_p_values_are_even_where_neither_is_better() -> None:
    generator = np.random.default_rng(5)
    p_values = [compare_paired(*generator.choice([0, 0.5, 1], size=(2, 80)), resamples=500).p_value for _ in range(400)]
    assert stats.kstest(p_values, "uniform").statistic < 0.08
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.09


def test_p_values_are_close_to_the_t_test() -> None:
    generator = np.random.default_rng(7)
    first = generator.random(300)
    second = first + generator.normal(0.02, 0.2, size=300)
    found = compare_paired(first, second)
    assert found.p_value == pytest.approx(stats.ttest_rel(second, first).pvalue, abs=0.02)
    assert found.low < found.mean < found.high


def test_a_clear_difference_is_found_and_never_certain() -> None:
    first = np.random.default_rng(2).choice([0.0, 0.5], size=200)
    found = compare_paired(first, first + np.tile([0.5, 0.4], 100), resamples=999)
    assert found.mean == pytest.approx(0.45)
    assert (found.p_value, found.questions) == (1 / 1000, 200)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.2, 0.7, 1.0])] * 2), min_size=1, max_size=40))
def test_exchange_changes_the_sign_alone(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    there, back = compare_paired(first, second, resamples=200), compare_paired(second, first, resamples=200)
    assert there.mean == -back.mean
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p_value == back.p_value
    assert there.low <= there.high
    assert 0 < there.p_value <= 1


@settings(deadline=None)
@given(SCORES, st.integers(0, 3))
def test_the_same_seed_gives_the_same_interval_and_nan_is_left_out(values: list[float], seed: int) -> None:
    known = [value for value in values if not math.isnan(value)]
    assume(known)
    found = interval(values, resamples=100, seed=seed)
    assert found == interval(known, resamples=100, seed=seed)
    assert min(known) - 1e-12 <= found.low <= found.high <= max(known) + 1e-12
    assert found.mean == pytest.approx(sum(known) / len(known))


def test_pairs_with_nan_are_left_out() -> None:
    first, second = [0.0, math.nan, 1.0, 0.5, 0.0], [1.0, 1.0, math.nan, 0.5, 0.5]
    found = compare_paired(first, second)
    assert (found.mean, found.questions) == (0.5, 3)
    assert found == compare_paired([0.0, 0.5, 0.0], [1.0, 0.5, 0.5])


@pytest.mark.parametrize(("questions", "p_value"), [(1, 1), (2, 1 / 2), (5, 1 / 16), (100, 1 / 10_001)])
def test_equal_differences_are_as_telling_as_there_are_many(questions: int, p_value: float) -> None:
    found = compare_paired([0.1] * questions, [0.4] * questions)
    assert (found.mean, found.low, found.high) == pytest.approx((0.3, 0.3, 0.3))
    assert found.p_value == pytest.approx(p_value)


def test_where_there_is_nothing_to_tell_apart() -> None:
    assert compare_paired([0.5, 1.0], [0.5, 1.0]) == compare.Difference(0.0, 0.0, 0.0, 1.0, 2)
    assert compare_paired([0.0] * 100, [1.0] + [0.0] * 99).p_value == 1, "one difference among many questions"
    assert interval([0.5]) == Interval(0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (interval, {"values": []}, "Of 0 values none can be averaged"),
        (interval, {"values": [math.nan] * 2}, "Of 2 values none can be averaged"),
        (compare_paired, {"first": [math.nan], "second": [0.5]}, "none can be averaged"),
        (compare_paired, {"first": [0, 1], "second": [0, 1, 1]}, "2 values cannot be compared with 3"),
        (interval, {"values": [0, 1], "resamples": 0}, "resamples must be at least 1, got 0"),
        (interval, {"values": [0, 1], "confidence": 95}, "between 0 and 1, got 95"),
        (holm, {"p_values": [0.5, math.nan]}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_for(function: Callable[..., object], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        function(**arguments)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.04, 0.01, 0.03], [0.06, 0.03, 0.06]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.6, 0.5, 1.0], [1.0, 1.0, 1.0]),
        ([0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1)))
def test_holm_lies_between_the_p_value_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p_value, higher in zip(p_values, adjusted, strict=True):
        assert p_value <= higher <= min(1, len(p_values) * p_value) + 1e-15
    order = sorted(range(len(p_values)), key=lambda position: p_values[position])
    assert [adjusted[position] for position in order] == sorted(adjusted)


GRAPH = ("naive_ge", "hipporag2")


def evaluation(count: int = 100, kind: str = "", **found: tuple[int, float]) -> Evaluation:
    """Methods by how many of the questions they find, and their seconds."""
    questions = [Question(id=str(number), question=f"{number}?", gold=("gold",), type=kind) for number in range(count)]
    runs = [
        Run(
            method={"naive_ge": "hybrid+naive_ge", "agent": "gear"}.get(method, method),
            graph=None if method == "agent" else method in GRAPH,
            results=[
                QuestionResult(
                    question_id=str(number),
                    passage_ids=("gold",) if number < right else ("other",),
                    answer="said" if method == "agent" else None,
                    seconds=seconds,
                )
                for number in range(count)
            ],
        )
        for method, (right, seconds) in found.items()
    ]
    return Evaluation(title="made up", questions=questions, runs=runs)


def test_yes_where_the_graph_finds_more() -> None:
    said = recommend(evaluation(bm25=(50, 0.001), hybrid=(60, 0.02), naive_ge=(80, 0.5)))
    assert (said.need, said.use, said.plain, said.graph) == ("yes", "hybrid+naive_ge", "hybrid", "hybrid+naive_ge")
    assert said.difference.mean == pytest.approx(0.2)
    assert "differs from hybrid by +20.0 points R@5" in str(said)
    assert "25.0 times as long" in str(said)


def test_no_where_plain_search_finds_it_all() -> None:
    """Questions of one hop: every method finds the one passage."""
    said = recommend(evaluation(bm25=(100, 0.001), hybrid=(100, 0.02), naive_ge=(100, 0.5), hipporag2=(99, 0.1)))
    assert (said.need, said.use) == ("no", "bm25")  # as good as hybrid, and faster
    assert str(said).startswith("No, you do not need a graph here: use bm25.")


def test_cannot_tell_from_few_questions_and_says_how_many_would() -> None:
    few = recommend(evaluation(count=10, hybrid=(5, 0.02), naive_ge=(10, 0.5)))
    assert few.need == "cannot tell"
    assert str(few).endswith("From fewer than 20 questions nothing is concluded: ask more.")
    wide = recommend(evaluation(count=40, hybrid=(30, 0.02), naive_ge=(32, 0.5)))
    assert wide.need == "cannot tell"
    assert re.search(r"To detect a gain of 2\.0 points, measure on about [\d,]+ questions\.$", str(wide))


def test_of_graph_methods_that_are_as_good_the_fastest() -> None:
    said = recommend(evaluation(hybrid=(50, 0.02), naive_ge=(80, 0.5), hipporag2=(80, 0.1)))
    assert said.use == "hipporag2"
    assert "adjusted for the 2 graph methods tried" in str(said)


def test_a_default_that_is_worse_than_plain_search_is_called_that() -> None:
    asked = evaluation(hybrid=(90, 0.02), naive_ge=(70, 0.5))
    harm = recommend(asked, default="hybrid+naive_ge")
    assert (harm.need, harm.use) == ("no", "hybrid")
    (said,) = [each for each in harm.sentences if "default" in each]
    assert said.startswith("The default, hybrid+naive_ge, is 20.0 points R@5 worse than hybrid on your questions (95 %")
    assert said.endswith("p < 0.001): use --method hybrid.")
    few = recommend(evaluation(count=20, hybrid=(12, 0.02), naive_ge=(10, 0.5)), default="hybrid+naive_ge")
    assert "): this can be chance, so keep the default or measure on more questions." in str(few)
    assert "use --method" not in str(few)
    for fine in (evaluation(hybrid=(90, 0.02), naive_ge=(89, 0.5)), evaluation(hybrid=(50, 0.02), naive_ge=(80, 0.5))):
        assert "default" not in str(recommend(fine, default="hybrid+naive_ge"))
    assert "default" not in str(recommend(asked, default="blend")), "it was not measured"


def test_synthetic_questions_are_said_to_be_and_agents_do_not_count() -> None:
    said = recommend(evaluation(kind="synthetic", hybrid=(50, 0.02), naive_ge=(80, 0.5), agent=(100, 9.0)))
    assert "100 of the questions are synthetic" in str(said)
    assert said.graph == "hybrid+naive_ge"


def test_one_kind_alone_says_nothing() -> None:
    assert not can_recommend(evaluation(hybrid=(50, 0.02), agent=(50, 0.02)))
    assert can_recommend(evaluation(hybrid=(50, 0.02), naive_ge=(50, 0.02)))
    with pytest.raises(BadInputError, match="no method with a graph"):
        recommend(evaluation(hybrid=(50, 0.02)))
