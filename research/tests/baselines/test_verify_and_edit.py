"""Verify-and-Edit: nothing is checked where the paths agree; else every sentence is, in steps that a script drives."""

from typing import Any

import pytest

from scripted_loops import PASSAGES, Driven, Table, driven, path, reply
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


class TestPathsAgree:
    @pytest.mark.parametrize("answers", [["A", "A", "A", "B", "C"], ["B", "A", "a", "", "A."]])
    def test_three_of_five_are_enough(self, answers: list[str]) -> None:
        with Scripted([path(answer) for answer in answers]) as model:
            answer = agent(model, Table({})).answer(QUESTION)
        assert (answer.text, answer.steps, len(answer.ranking)) == ("A", (), 0)
        assert (answer.ending, answer.usage.calls) == ("3 of 5 paths agreed", 5)

    def test_nobody_has_anything_to_say(self) -> None:
        with Scripted(["no"] * 10) as model:
            answer = agent(model, Table({})).answer(QUESTION)
        assert (answer.text, answer.usage.calls) == ("", 10)
        assert answer.ending.startswith("the reasoning came to no answer; The model's reply")


class TestThreeSteps:
    """The winning path's three sentences are checked; the last check finds the last passage."""

    @pytest.fixture
    def done(self) -> Driven:
        table = Table({WHICH: ["film", "director"], WHERE: ["actor", "film"], LAKE: ["lake", "city", "other"]})
        replies = [
            *UNSURE,
            ask_for(WHICH),
            edit_to("Edward Cahn directed Laughter in Hell."),
            ask_for(WHERE),
            edit_to("Pat Brien lived in Milwaukee."),
            ask_for(LAKE),
            edit_to(""),
            final("Lake Michigan"),
        ]
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table), QUESTION))

    def test_every_sentence_is_asked_for_and_the_last_step_finds_the_city(self, done: Driven) -> None:
        _, table, _, answer = done
        assert table.asked == [step.query for step in answer.steps] == [WHICH, WHERE, LAKE]
        assert ["city" in step.so_far.ids for step in answer.steps] == [False, False, True]
        assert answer.steps[2].ranking.ids == ["lake", "city"]
        assert answer.ranking == answer.steps[-1].so_far

    def test_each_verifying_question_comes_from_its_sentence(self, done: Driven) -> None:
        users = [prompt.user for prompt in done.model.prompts[5:]]
        assert [user.split("Sentence: ")[1] for user in users[0:6:2]] == [FIRST, SECOND, THIRD]
        assert all(f"Question: {QUESTION}" in user for user in users[0:6:2])

    def test_edits_are_read_from_what_was_found(self, done: Driven) -> None:
        users = [prompt.user for prompt in done.model.prompts[6:11:2]]
        assert all(f"Question: {query}" in user for user, query in zip(users, (WHICH, WHERE, LAKE), strict=True))
        assert "Pat Brien starred" in users[1]
        assert "Milwaukee lies in Wisconsin" in users[2]

    def test_the_answer_follows_from_the_edited_reasoning(self, done: Driven) -> None:
        model, *_, answer = done
        kept = f"Edward Cahn directed Laughter in Hell. Pat Brien lived in Milwaukee. {THIRD}"
        assert f"Reasoning: {kept}" in model.prompts[-1].user
        assert model.prompts[-1].system.count("Example reasoning:") == 6
        assert (answer.text, answer.sentence) == ("Lake Michigan", kept)
        assert [step.thought for step in answer.steps] == [*kept.replace(". ", ".|").split("|")]
        assert answer.ending == "2 of 5 paths agreed, and the reasoning was checked"

    def test_all_calls_are_counted(self, done: Driven) -> None:
        assert [step.usage.calls for step in done.answer.steps] == [2, 2, 2]
        assert done.answer.usage.calls == 5 + 6 + 1


def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it() -> None:
    table = Table({FIRST: ["film"], SECOND: ["actor"]})
    two = [path("A", f"{FIRST} {SECOND}"), path("B"), path("C"), path("D"), path("E")]
    with Scripted([*two, "no", "no", "no", "no", ask_for(None), edit_to(None), "no", "no"]) as model:
        answer = agent(model, table).answer(QUESTION)
    assert table.asked == [FIRST, SECOND], "the sentences themselves are searched for"
    assert [len(step.problems) for step in answer.steps] == [2, 0]
    assert (answer.text, answer.sentence) == ("A", f"{FIRST} {SECOND}"), "both stand"
    assert answer.ending.startswith("1 of 5 paths agreed, and the reasoning was checked; The model's reply")
