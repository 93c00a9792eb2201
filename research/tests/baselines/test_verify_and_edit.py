"""Verify-and-Edit: nothing is checked where the paths agree; else every sentence is, in steps that a script drives."""

from typing import Any

import pytest

from scripted_loops import PASSAGES, Table, driven, path, reply
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.verify_and_edit import VerifyAndEdit

QUESTION = "On which lake lies the city where the actor of Edward Cahn's drama lived?"
FIRST = "Edward Cahn directed Afraid to Talk."
SECOND = "Pat Brien lived in Chicago."
THIRD = "Chicago lies on Lake Erie."
WRONG = f"{FIRST} {SECOND} {THIRD}"
WHICH, WHERE, LAKE = "Which drama did Edward Cahn direct?", "Where did Pat Brien live?", "On which lake lies Chicago?"


def ask_for(question: str | None) -> Completion:
    return reply(question=question)


def edit_to(sentence: str | None) -> Completion:
    return reply(sentence=sentence)


def final(answer: str | None) -> Completion:
    return reply(answer=answer)


def agent(model: LanguageModel, table: Table, **parameters: Any) -> VerifyAndEdit:
    return VerifyAndEdit(retriever=table, model=Accounted(model), passages=PASSAGES, **parameters)


#: Four answers, none with three votes: the second has two.
UNSURE = [path("Ontario"), path("Lake Erie", WRONG), path("Huron"), path("erie lake"), path("Lake Erie")]


@pytest.mark.parametrize("answers", [["A", "A", "A", "B", "C"], ["B", "A", "a", "", "A."]])
def test_three_of_five_are_enough(answers: list[str]) -> None:
    with Scripted([path(answer) for answer in answers]) as model:
        answer = agent(model, Table({})).answer(QUESTION)
    assert (answer.text, answer.steps, len(answer.ranking)) == ("A", (), 0)
    assert (answer.ending, answer.usage.calls) == ("3 of 5 paths agreed", 5)


def test_nobody_has_anything_to_say() -> None:
    with Scripted(["no"] * 10) as model:
        answer = agent(model, Table({})).answer(QUESTION)
    assert (answer.text, answer.usage.calls) == ("", 10)
    assert answer.ending.startswith("the reasoning came to no answer; The model's reply")


def test_three_steps() -> None:
    """The winning path's three sentences are checked; the last check finds the last passage."""
    queries = [WHICH, WHERE, LAKE]
    table = Table({WHICH: ["film", "director"], WHERE: ["actor", "film"], LAKE: ["lake", "city", "other"]})
    kept = ["Edward Cahn directed Laughter in Hell.", "Pat Brien lived in Milwaukee.", THIRD]
    edits = [edit_to(sentence) for sentence in (*kept[:2], "")]
    checks = [each for query, edit in zip(queries, edits, strict=True) for each in (ask_for(query), edit)]
    with Scripted([*UNSURE, *checks, final("Lake Michigan")]) as model:
        _, answer = driven(agent(model, table), QUESTION)
    assert table.asked == [step.query for step in answer.steps] == queries
    assert ["city" in step.so_far.ids for step in answer.steps] == [False, False, True]
    assert answer.steps[2].ranking.ids == ["lake", "city"]
    assert answer.ranking == answer.steps[-1].so_far

    asked = [prompt.user for prompt in model.prompts[5:11:2]]
    assert [user.split("Sentence: ")[1] for user in asked] == [FIRST, SECOND, THIRD]
    assert all(f"Question: {QUESTION}" in user for user in asked)
    read = [prompt.user for prompt in model.prompts[6:11:2]]
    assert all(f"Question: {query}" in user for user, query in zip(read, queries, strict=True))
    assert "Pat Brien starred" in read[1]
    assert "Milwaukee lies in Wisconsin" in read[2]

    assert f"Reasoning: {' '.join(kept)}" in model.prompts[-1].user
    assert model.prompts[-1].system.count("Example reasoning:") == 6
    assert (answer.text, answer.sentence) == ("Lake Michigan", " ".join(kept))
    assert [(step.thought, step.usage.calls) for step in answer.steps] == [(sentence, 2) for sentence in kept]
    assert answer.ending == "2 of 5 paths agreed, and the reasoning was checked"
    assert answer.usage.calls == 5 + 6 + 1


def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it() -> None:
    table = Table({FIRST: ["film"], SECOND: ["actor"]})
    two = [path("A", f"{FIRST} {SECOND}"), path("B"), path("C"), path("D"), path("E")]
    with Scripted([*two, "no", "no", "no", "no", ask_for(None), edit_to(None), "no", "no"]) as model:
        answer = agent(model, table).answer(QUESTION)
    assert table.asked == [FIRST, SECOND], "the sentences themselves are searched for"
    assert [len(step.problems) for step in answer.steps] == [2, 0]
    assert (answer.text, answer.sentence) == ("A", f"{FIRST} {SECOND}"), "both stand"
    assert answer.ending.startswith("1 of 5 paths agreed, and the reasoning was checked; The model's reply")
