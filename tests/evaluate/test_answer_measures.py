"""Exact Match and F1, on cases worked out by hand from the rules of the official scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam.evaluate.measures import exact_match, f1, normalize_answer


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
