"""Accuracy judged by a scripted model, and question graphs beside a dataset's evidences (GE-Reasoning's Table 5)."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from scripted_loops import Gone
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.evaluate.ask_all import ask_all, read_graph
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.testing.scripted import Scripted
from triplebeam_research.experiments.evaluator import Triplet, check_graphs, graph_is_right, judge

RIGHT, WRONG = '{"correct": true}', '{"correct": false}'


def question(number: int, *answers: str) -> Question:
    return Question(id=str(number), question=f"Which river is number {number}?", answers=answers)


def result(number: int, answer: str | None) -> QuestionResult:
    return QuestionResult(question_id=str(number), answer=answer)


def test_each_answer_is_shown_with_what_is_accepted() -> None:
    with Scripted([RIGHT]) as model:
        verdicts = judge(
            model,
            [question(1, "Salzach", "the\nSalzach river")],
            [result(1, " It is the Salzach.\n\nAccepted answers:\n- Inn ")],
        )
    assert verdicts == [1.0]
    [prompt] = model.prompts
    assert prompt.user == (
        "Question: Which river is number 1?\n\n"
        "Accepted answers:\n- Salzach\n- the Salzach river\n\n"
        "Answer to be judged: It is the Salzach. Accepted answers: - Inn"
    )
    assert "in whatever words" in prompt.system
    assert (prompt.template, prompt.temperature) == ("judge", 0.0)
    assert prompt.schema["required"] == ["correct"]


def test_verdicts_are_in_the_order_of_questions_and_no_call_is_wasted() -> None:
    questions = [question(1, "Inn"), question(2, "Inn"), question(3), question(4, "Inn"), question(5, "Inn")]
    results = [result(1, "Inn"), result(2, " "), result(3, "Inn"), result(4, None), result(5, "Elbe")]
    with Scripted({"number 1": RIGHT, "number 5": WRONG}) as model:
        assert judge(model, questions, results) == [1.0, 0.0, None, None, 0.0]


def test_an_unusable_reply_is_not_a_wrong_answer() -> None:
    questions, results = [question(1, "Inn"), question(2, "Inn")], [result(1, "Inn"), result(2, "Inn")]
    model = Scripted([RIGHT, "Hard to say.", "I really cannot tell."])  # the last answers the correction
    with model, account() as spent:
        assert judge(model, questions, results) == [1.0, None]
    [problem] = spent.problems
    assert problem.startswith("question '2' was not judged: ")


def test_many_are_asked_in_batches_and_progress_is_reported() -> None:
    sizes: list[int] = []

    class Batches(Scripted):
        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            sizes.append(len(prompts))
            return super().complete(prompts)

    seen: list[tuple[str, int, int]] = []
    questions, results = [question(n, "Inn") for n in range(20)], [result(n, "Inn") for n in range(20)]
    with Batches([RIGHT, WRONG] * 10) as model:
        verdicts = judge(model, questions, results, lambda *each: seen.append(each))
    assert verdicts == [1.0, 0.0] * 10
    assert [size for size in sizes if size] == [16, 4]  # corrections are batches too, empty here
    assert seen == [("judge", 16, 20), ("judge", 20, 20)]


def test_an_endpoint_that_is_gone_stops_it_and_results_of_other_questions_are_not_judged() -> None:
    with pytest.raises(EndpointError, match="does not answer"):
        judge(Gone(), [question(1, "Inn")], [result(1, "Inn")])
    with pytest.raises(BadInputError, match="Result 1 is for question '2'"):
        judge(Scripted([]), [question(1, "Inn")], [result(2, "Inn")])


CHAIN = [("Lisbet Palme", "spouse", "Olof Palme"), ("Olof Palme", "place of birth", "Stockholm")]
SAME = [("Vasilyevsky Island", "country", "Russia"), ("Preobrazheniya Island", "country", "Russia")]


def graph(*rows: tuple[str, str]) -> list[Triplet]:
    return [(head, "is of", tail) for head, tail in rows]


@pytest.mark.parametrize(
    ("triplets", "evidences", "right"),
    [
        (graph(("Lisbeth Palme", "name: #1"), ("name: #1", "place: #2")), CHAIN, True),
        (graph(("place: #7", "#3"), ("#3", "Lisbeth Palme")), CHAIN, True),  # read from the other side
        (graph(("Lisbeth Palme", "place: #1")), CHAIN, False),  # a link is missing
        (graph(("Lisbeth Palme", "#1"), ("Lisbeth Palme", "#2")), CHAIN, False),  # not a chain
        (graph(("Lisbeth Palme", "#1"), ("#2", "#3")), CHAIN, False),
        (graph(("Otto", "#1"), ("#1", "#2")), CHAIN, False),  # about somebody else
        (graph(("Vasilyevsky Island", "#1"), ("Preobrazheniya Island", "#2")), SAME, True),
        (graph(("Vasilyevsky Island", "#1"), ("Preobrazheniya Island", "#1")), SAME, False),  # nothing to compare
        ([], CHAIN, False),
    ],
)
def test_graphs_whose_triplets_pair_up(triplets: list[Triplet], evidences: list[Triplet], right: bool) -> None:
    assert graph_is_right(triplets, evidences) == right


@pytest.mark.parametrize(("evidences", "share"), [(CHAIN[:1], 1.0), (CHAIN, 0.0)])
def test_an_agents_graph_is_measured(evidences: list[Triplet], share: float) -> None:
    question = Question(id="1", question="Who?", answers=("Olof",), evidences=tuple(evidences))
    said = [json.dumps({"triplets": [["Lisbeth Palme", "spouse", "name: #1"]], "target": ["#1"]})]
    said += [json.dumps({"question": "Who?"}), *[json.dumps({"sentence": "", "answer": "Olof", "used": []})] * 5]
    with Scripted([*said, json.dumps({"found": True, "answer": "Olof", "sentence": ""})]) as model:
        results = ask_all("ge", GEReasoning(model=model), [question])
    assert values("Graph", [question], check_graphs([question], results)) == [share]
    text = "The question as a graph:\n(Lisbeth Palme; spouse; name: #1)\n(name: #1; born in; city: #2)"
    assert read_graph(text) == (("Lisbeth Palme", "spouse", "name: #1"), ("name: #1", "born in", "city: #2"))
    without = [replace(question, evidences=())]
    assert np.isnan(values("Graph", without, check_graphs(without, results))).all()
