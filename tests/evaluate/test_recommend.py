"""Do I need a graph? Yes, no, and cannot tell, each where it is right."""

import re

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.recommend import can_recommend, recommend
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run

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
    assert "+20.0 points R@5 against hybrid" in str(said)
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
