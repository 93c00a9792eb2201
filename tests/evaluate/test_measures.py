"""Measures worked out by hand; tests/comparison holds them against other implementations."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam.evaluate.measures import exact_match, f1, normalize_answer, values
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult


def compute(name: str, question: Question, result: QuestionResult) -> float:
    [value] = values(name, [question], [result])
    return float(value)


def rank(name: str, gold: str, ranking: str) -> float:
    """Measure a ranking; gold of several words is of several parts, each of which several passages hold."""
    parts = {"groups": tuple(map(tuple, gold.split()))} if " " in gold else {"gold": tuple(gold)}
    return compute(
        name, Question(id="1", question="?", **parts), QuestionResult(question_id="1", passage_ids=tuple(ranking))
    )


def grade(name: str, answer: str | None, *answers: str, choices: tuple[str, ...] = ()) -> float:
    question = Question(id="1", question="?", answers=answers, choices=choices)
    return compute(name, question, QuestionResult(question_id="1", answer=answer))


@pytest.mark.parametrize(
    ("name", "gold", "ranking", "expected"),
    [
        ("R@2", "ab", "axb", 0.5),
        ("R@3", "ab", "axb", 1),
        ("R@1", "abc", "abc", 1 / 3),
        ("R@9", "abz", "ab", 2 / 3),
        ("R@5", "a", "", 0),
        ("All@2", "ab", "axb", 0),
        ("All@3", "ab", "axb", 1),
        ("All@1", "ab", "ab", 0),
        ("nDCG@3", "ab", "abx", 1),
        ("nDCG@3", "ab", "bax", 1),
        ("nDCG@3", "ab", "xab", (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))),
        ("nDCG@1", "ab", "ax", 1),  # no order has more than one of them among the best 1
        ("nDCG@2", "a", "xya", 0),
        ("MRR", "ab", "xyzb", 1 / 4),
        ("MRR@3", "ab", "xyzb", 0),
        ("MRR@4", "ab", "xyzb", 1 / 4),
        ("MRR", "ab", "xy", 0),
        ("R@4", "aab", "aaxa", 0.5),  # a passage named twice counts once
        ("nDCG@4", "aab", "aabx", 1),
        ("R@2", "ab", "aab", 1),
        ("R@2", "ab cd", "ba", 0.5),  # of a part that several passages hold the first counts
        ("R@2", "ab cd", "bd", 1),
        ("All@3", "ab cd", "abx", 0),
        ("All@3", "ab cd", "xad", 1),
        ("MRR", "ab cd", "xyb", 1 / 3),
        ("nDCG@3", "ab cd", "xab", (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        ("nDCG@3", "ab ac", "axx", 1),  # one passage for both parts
        ("R@1", "ab ac", "axx", 1),
    ],
)
def test_rankings_by_hand(name: str, gold: str, ranking: str, expected: float) -> None:
    assert rank(name, gold, ranking) == pytest.approx(expected, abs=1e-15)


@given(
    st.sampled_from(["R@1", "R@3", "All@2", "All@9", "nDCG@3", "nDCG@9", "MRR", "MRR@2"]),
    st.lists(st.sampled_from("abcdef"), min_size=2, unique=True),
    st.permutations("abcdefgh"),
)
def test_parts_of_one_passage_each_are_measured_as_gold_by_id(name: str, gold: list[str], ranking: list[str]) -> None:
    assert rank(name, " ".join(gold), "".join(ranking)) == rank(name, "".join(gold), "".join(ranking))


@given(
    gold=st.lists(st.sampled_from("abcdef"), min_size=1, unique=True),
    ranking=st.permutations("abcdefgh"),
    k=st.integers(1, 9),
)
def test_what_holds_for_every_ranking(gold: list[str], ranking: list[str], k: int) -> None:
    every = {name: rank(f"{name}@{k}", "".join(gold), "".join(ranking)) for name in ("R", "All", "nDCG", "MRR")}
    assert all(0 <= value <= 1 for value in every.values())
    assert (every["R"] == 1) == (every["All"] == 1)
    assert (every["R"] == 0) == (every["MRR"] == 0) == (every["nDCG"] == 0)
    assert rank(f"R@{k + 1}", "".join(gold), "".join(ranking)) >= every["R"]
    best = "".join(gold) + "".join(each for each in ranking if each not in gold)
    assert rank(f"nDCG@{k}", "".join(gold), best) == pytest.approx(1)


TRAVEL = ("By bus", "By train", "By ship")
MOON = ("He wanted to see the other side of the moon", "He wanted to go home", "He wanted to see it again")
BANDS = ("The Who", "Who", "Them")


@pytest.mark.parametrize(
    ("answer", "choices", "right", "expected"),
    [
        *((answer, TRAVEL, "By train", 1) for answer in ("By train", "by Train.", "B", "(b)", "B.", "Option B")),
        ("B. By train", TRAVEL, "By train", 1),
        *((answer, TRAVEL, "By train", 0) for answer in ("By bus", "on foot", "", "A", "E", "Bus")),
        ("He wanted to see the other", MOON, MOON[0], 1),  # a long option may be cut to six words
        ("He wanted to see", MOON, MOON[0], 0),  # two begin like this
        ("A. He wanted", MOON, MOON[0], 1),
        ("A", ("x", "", "an a"), "x", 1),  # a letter goes before words like it: articles are none of a normal form
        ("B", ("B", "A"), "B", 1),  # an option that is a letter
        ("Who", BANDS, "Who", 1),  # choices of the same normal form are distinguished literally
        ("The Who", BANDS, "Who", 0),
        ("who", BANDS, "Who", 0),  # could be either
    ],
)
def test_accuracy_is_the_right_choice(answer: str, choices: tuple[str, ...], right: str, expected: float) -> None:
    assert grade("Accuracy", answer, right, choices=choices) == expected


def test_nan_where_a_measure_does_not_apply() -> None:
    questions = [
        Question(id="1", question="?", gold=("a",)),
        Question(id="2", question="?", answers=("yes",)),
        Question(id="3", question="?", gold=("a",), answers=("yes",), choices=("yes", "no")),
    ]
    results = [
        QuestionResult(question_id="1", passage_ids=("a",), answer="yes"),
        QuestionResult(question_id="2", passage_ids=("a",), answer="yes"),
        QuestionResult(question_id="3", passage_ids=("b",), answer=None),
    ]
    assert np.array_equal(values("R@1", questions, results), [1, np.nan, 0], equal_nan=True)
    for name in ("EM", "F1"):
        assert np.array_equal(values(name, questions, results), [np.nan, 1, np.nan], equal_nan=True)
    assert np.isnan(values("Accuracy", questions, results)).all()
    assert grade("EM", "The Salzach!", "Inn", "Salzach") == 1
    assert (grade("F1", "yes it is", "yes"), grade("F1-partial", "yes it is", "yes")) == (0, 0.5)


@pytest.mark.parametrize("name", ["recall@5", "r@10", "R", "R@0", "R@-1", "R@five", "mrr", "F1@5", ""])
def test_an_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(f"There is no measure {name!r}: there are R@k, All@k, nDCG@k")):
        values(name, [], [])


def test_results_of_other_questions_and_an_answer_that_is_no_choice_are_not_measured() -> None:
    questions = [Question(id="1", question="?", gold=("a",)), Question(id="2", question="?", gold=("b",))]
    results = [QuestionResult(question_id="1"), QuestionResult(question_id="2")]
    with pytest.raises(BadInputError, match="1 results for 2 questions"):
        values("R@5", questions, results[:1])
    with pytest.raises(BadInputError, match="Result 1 is for question '2', where '1' is expected"):
        values("R@5", questions, results[::-1])
    with pytest.raises(BadInputError, match=r"'by air'.*question '1'.*'by bus'"):
        grade("Accuracy", "by bus", "by air", choices=("by bus", "by train"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Beatles", "beatles"),
        ("a an the", ""),
        ("A. The. An!", ""),
        ("Theatre and anthem", "theatre and anthem"),
        ("  New \t York\n", "new york"),
        ("U.S.A.", "usa"),
        ("rock-'n'-roll", "rocknroll"),
        ("$1,000.50", "100050"),
        ("don't", "dont"),
        ("the-end", "theend"),
        ("1914–1918", "1914–1918"),
        ("the “Titanic”", "“titanic”"),
        ("vitamin a–e", "vitamin –e"),
        ("ÉCOLE du Café", "école du café"),
        ("Łódź\u00a0Voivodeship", "łódź voivodeship"),
    ],
)
def test_the_normal_form(text: str, expected: str) -> None:
    assert normalize_answer(text) == expected


@pytest.mark.parametrize(
    ("prediction", "answers", "expected_match", "expected_f1"),
    [
        ("the Eiffel Tower!", ["Eiffel Tower"], 1, 1),
        ("Eiffel tower in Paris", ["The Eiffel Tower"], 0, 4 / 6),  # 2 of 4 words found, 2 of 2 wanted
        ("1,986", ["1986"], 1, 1),
        ("in 1986", ["1986"], 0, 2 / 3),
        ("two", ["2"], 0, 0),
        ("3.5 million", ["35 million"], 1, 1),  # the full stop is punctuation, in numbers too
        ("Paris", ["London", "Paris, France", "paris"], 1, 1),
        ("Paris", ["London", "Paris, France"], 0, 2 / 3),
        ("new new york", ["new york new york"], 0, 6 / 7),  # words count as often as they come: 3 shared of 3 and 4
        ("York New", ["New York"], 0, 1),  # F1 does not see the order
        ("Beyonce", ["Beyoncé"], 0, 0),
        ("GÖTEBORG", ["Göteborg"], 1, 1),
        ("", ["Paris"], 0, 0),
        ("the", ["Paris"], 0, 0),
        ("Paris", [""], 0, 0),
        ("", [""], 1, 1),
        ("the", ["A"], 1, 1),
    ],
)
def test_by_hand(prediction: str, answers: list[str], expected_match: float, expected_f1: float) -> None:
    assert exact_match(prediction, answers) == expected_match
    assert f1(prediction, answers) == pytest.approx(expected_f1)
    assert f1(prediction, answers, partial_yes_no=True) == pytest.approx(expected_f1)


@pytest.mark.parametrize(
    ("prediction", "answers", "strict", "partial"),
    [
        ("Yes.", ["yes"], 1, 1),
        ("yes, both are", ["yes"], 0, 0.5),  # yes both are: 1 of 3, 1 of 1
        ("yes", ["yes they are"], 0, 0.5),
        ("no", ["yes"], 0, 0),
        ("no", ["No Country for Old Men"], 0, 1 / 3),  # 1 of 1, 1 of 5
        ("no", ["No Country for Old Men", "no"], 1, 1),
        ("noanswer", ["noanswer"], 1, 1),
        ("no answer", ["noanswer"], 0, 0),
        ("not yes", ["yes sir"], 0.5, 0.5),  # neither side is the bare word
    ],
)
def test_yes_and_no(prediction: str, answers: list[str], strict: float, partial: float) -> None:
    assert f1(prediction, answers) == pytest.approx(strict)
    assert f1(prediction, answers, partial_yes_no=True) == pytest.approx(partial)


texts = st.text(alphabet="ab the.yesno-é ", max_size=20)


@given(texts, st.lists(texts, min_size=1, max_size=3), st.booleans())
def test_f1_lies_between_exact_match_and_one(prediction: str, answers: list[str], partial_yes_no: bool) -> None:
    score = f1(prediction, answers, partial_yes_no=partial_yes_no)
    assert exact_match(prediction, answers) <= score <= 1
    assert f1(answers[0], answers) == exact_match(answers[0], answers) == 1


@pytest.mark.parametrize("answers", [[], "Paris"])
def test_there_must_be_a_list_of_answers(answers: list[str]) -> None:
    for measure in (exact_match, f1):
        with pytest.raises(BadInputError, match="list of one or more answers"):
            measure("Paris", answers)
