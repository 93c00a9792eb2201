"""Groups of questions, and runs followed step by step."""

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult, Run, StepResult
from triplebeam.generate.language_model import Usage
from triplebeam_research.report.breakdown import (
    group_by_gold_passages,
    group_by_hops,
    group_by_kind_of_hops,
    group_by_triple_density,
    group_by_type,
    is_all_found,
    recall_by_step,
    steps_by_hops,
    tokens_by_step,
)

QUESTIONS = [
    Question(id="1", question="?", gold=("a", "b"), hops=4, type="bridge"),
    Question(id="2", question="?", gold=("c",), hops=2, type="comparison"),
    Question(id="3", question="?", answers=("yes",)),
    Question(id="4", question="?", gold=("d",), hops=2, type="bridge"),
    Question(id="5", question="?", gold=("e",), hops=10, type="bridge"),
]


def step(passages: str, read: int = 0, *, cached: int = 0) -> StepResult:
    return StepResult(
        passage_ids=tuple(passages),
        usage=Usage(tokens_in=read, tokens_out=1 if read else 0, cached_tokens_in=cached, cached_tokens_out=cached),
    )


RUN = Run(
    method="agent",
    results=[
        QuestionResult(
            question_id="1",
            passage_ids=tuple("ab"),
            steps=(step("ax", 10), step("xa", 20), step("ab", 30)),
            usage=Usage(tokens_in=1000),
            ending="the last step was reached; the reply was cut off",
        ),
        QuestionResult(question_id="2", passage_ids=tuple("cx"), steps=(step("cx", 5),), ending="answered"),
        QuestionResult(question_id="3", passage_ids=tuple("xy"), steps=(step("xy"), step("xy", cached=7))),
        QuestionResult(
            question_id="4",
            passage_ids=tuple("dx"),
            usage=Usage(tokens_in=3),
            ending="one step did not answer it; then answered; the endpoint was slow",
        ),
        QuestionResult(
            question_id="5", passage_ids=tuple("xe"), steps=(step("e", 5), step("xe", 5)), ending="answered"
        ),
    ],
)


def test_by_hops_in_the_order_of_numbers() -> None:
    groups = group_by_hops(QUESTIONS)
    assert list(groups.items()) == [("2 hops", [1, 3]), ("4 hops", [0]), ("10 hops", [4]), ("not known", [2])]
    assert list(group_by_hops([Question(id="1", question="?", hops=1)])) == ["1 hop"]
    assert group_by_hops([]) == {}


def test_by_type_in_the_order_of_names() -> None:
    assert list(group_by_type(QUESTIONS).items()) == [("bridge", [0, 3, 4]), ("comparison", [1]), ("not known", [2])]


def test_by_triple_density_as_the_paper_parts_them() -> None:
    densities = {"1": 9.0, "2": 8.99, "4": 13.0, "5": 40.5}
    assert list(group_by_triple_density(QUESTIONS, densities).items()) == [
        ("under 9", [1]),
        ("9 to 11", [0]),
        ("13 and more", [3, 4]),
        ("not known", [2]),
    ]
    assert list(group_by_triple_density(QUESTIONS, {"1": 10.9, "2": 11, "4": 12.9}))[:2] == ["9 to 11", "11 to 13"]


def test_recall_so_far_is_carried_forward() -> None:
    """Question 1: 1/2, 1/2, 1; 2 stops with 1; 3 has no gold; 4 has no steps, 1; 5 finds it at once, then loses it."""
    assert recall_by_step(QUESTIONS, RUN, k=2, steps=3) == pytest.approx([3.5 / 4, 3.5 / 4, 1])
    assert recall_by_step(QUESTIONS, RUN, k=1, steps=3) == pytest.approx([3.5 / 4, 2 / 4, 2.5 / 4])
    assert recall_by_step(QUESTIONS, RUN, k=2, steps=2) == pytest.approx([3.5 / 4, 3.5 / 4])
    assert recall_by_step(QUESTIONS, RUN, k=2, steps=5)[2:] == [1, 1, 1]


def test_tokens_add_up_over_steps_and_cached_ones_count() -> None:
    assert tokens_by_step(RUN, steps=3) == [11 + 6 + 0 + 3 + 6, 26 + 21 + 14 + 6, 67 + 31]
    assert tokens_by_step(RUN, steps=1) == [26]
    assert tokens_by_step(RUN, steps=4) == [26, 67, 98, 98]


def test_steps_by_hops() -> None:
    """The first question ended undecided after its third step: "3+"."""
    assert steps_by_hops(QUESTIONS, RUN) == {"2 hops": [1, 1], "4 hops": [4], "10 hops": [2], "not known": [2]}


def test_musiques_types_say_how_hops_are_connected() -> None:
    types = ["3hop1", "2hop", "3hop2", "2hop"]
    questions = [Question(id=f"{n}", question="?", hops=int(kind[0]), type=kind) for n, kind in enumerate(types)]
    assert group_by_kind_of_hops(questions) == {"2hop": [1, 3], "3hop1": [0], "3hop2": [2]}
    assert group_by_kind_of_hops(QUESTIONS) == group_by_hops(QUESTIONS)


def test_all_gold_passages_in_the_whole_list_that_was_read() -> None:
    grouped = Question(id="6", question="?", gold=("a", "b", "c"), groups=(("a", "b"), ("c",)))
    assert group_by_gold_passages([*QUESTIONS, grouped]) == {
        "1 gold passages": [1, 3, 4],
        "2 gold passages": [0, 5],
        "not known": [2],
    }
    found = QuestionResult(question_id="6", passage_ids=("x", "b"), further_ids=("y", "c"))
    assert is_all_found(grouped, found)
    assert not is_all_found(QUESTIONS[0], found)


def test_results_of_other_questions_are_refused() -> None:
    with pytest.raises(BadInputError, match="2 results for 5 questions"):
        steps_by_hops(QUESTIONS, Run(method="m", results=RUN.results[:2]))
