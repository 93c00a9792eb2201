"""Self-Ask through loops that a scripted model drives."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_loops import BAD, PASSAGES, Anywhere, Driven, Table, driven, final, reply
from triplebeam.answer import Answer, Step
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.methods.baselines.self_ask import SelfAsk
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.methods.shared.sub_questions import SubAnswerer
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.scripted import Scripted

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
FILM, ACTOR, LAKE = "Which drama did Edward Cahn direct?", "Where did Pat Brien live?", "On which lake is Milwaukee?"


def agent(model: LanguageModel, retriever: Retriever, **parameters: Any) -> SelfAsk:
    return SelfAsk(retriever=retriever, model=Accounted(model), **parameters)


def follow_up(question: str | None, answer: str | None = "") -> Completion:
    return reply(follow_up=question, answer=answer)


def found(text: str) -> Completion:
    return reply(answer=text)


class TestThreeSteps:
    """Only the third step finds the last passage."""

    @pytest.fixture
    def done(self) -> Driven:
        table = Table({FILM: ["film", "director"], ACTOR: ["actor", "film"], LAKE: ["city", "actor"]})
        replies = [
            *(follow_up(FILM), found("Edward Cahn directed Laughter in Hell.")),
            *(follow_up(ACTOR), found("Pat Brien lived in Milwaukee.")),
            *(follow_up(LAKE), found("Milwaukee lies on Lake Michigan.")),
            follow_up("", "Lake Michigan"),
        ]
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table), QUESTION))

    def test_the_third_step_finds_the_last_passage(self, done: Driven) -> None:
        _, table, steps, answer = done
        assert table.asked == [step.query for step in steps] == [FILM, ACTOR, LAKE]
        assert ["city" in step.ranking.ids for step in steps] == [False, False, True]
        assert (answer.text, answer.loop_text) == ("Lake Michigan", "Lake Michigan")
        assert answer.ending == "no follow-up question is needed"

    def test_the_second_question_depends_on_the_first_retrieval(self, done: Driven) -> None:
        asking = [prompt.user for prompt in done.model.prompts if prompt.template == "self_ask/follow_up"]
        reading = [prompt.user for prompt in done.model.prompts if prompt.template == "published/sub_answer"]
        assert "directed by Edward Cahn" in reading[0]
        assert asking[0] == f"Question: {QUESTION}\n\nFollow-ups so far:\n(none)"
        assert asking[1].endswith(f"1. {FILM}\n   Edward Cahn directed Laughter in Hell.")
        assert asking[3].endswith(f"3. {LAKE}\n   Milwaukee lies on Lake Michigan.")

    def test_each_step_tells_the_ranking_so_far(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.so_far.ids for step in steps] == [
            ["film", "director"],
            ["film", "actor", "director"],
            ["actor", "film", "city", "director"],
        ]
        assert steps[-1].so_far == answer.ranking
        assert [step.thought for step in steps][1] == "Pat Brien lived in Milwaukee."

    def test_calls_are_counted_by_step(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.usage.calls for step in steps] == [3, 2, 2]
        assert answer.usage.calls == 7


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        table = Table({"q": ["film"], FILM: ["film"], ACTOR: ["actor"], LAKE: ["city"]})
        with Scripted(replies) as model:
            return agent(model, table, **parameters).answer("q"), table

    def test_an_answer_at_once_is_looked_up_once(self) -> None:
        answer, table = self.run([follow_up("", "Cahn")])
        assert (answer.text, answer.loop_text, table.asked, len(answer.steps)) == ("Cahn", "Cahn", ["q"], 1)
        assert answer.ending == "no follow-up question is needed"

    def test_an_answer_beside_a_follow_up_runs_ahead(self) -> None:
        answer, table = self.run([follow_up(FILM, "early"), found("A."), follow_up(None, "late")])
        assert (answer.text, table.asked) == ("late", [FILM])

    def test_the_last_step(self) -> None:
        replies = [follow_up(FILM), found("A."), follow_up(ACTOR), found(""), follow_up(LAKE), final("x")]
        answer, table = self.run(replies, max_steps=2)
        assert (answer.ending, answer.text, table.asked) == ("the last step was reached", "x", [FILM, ACTOR])

    def test_after_the_last_step_its_own_answer_is_still_asked_for(self) -> None:
        answer, _ = self.run([follow_up(FILM), found("A."), follow_up("", "x")], max_steps=1)
        assert (answer.ending, answer.text) == ("no follow-up question is needed", "x")

    def test_a_repeated_follow_up_is_asked_again(self) -> None:
        replies = [follow_up(FILM), found(""), follow_up(FILM), found(""), follow_up(FILM), final("")]
        answer, table = self.run(replies, max_steps=2)
        assert (answer.ending, table.asked) == ("the last step was reached", [FILM, FILM])

    def test_its_own_answer_stands(self) -> None:
        answer, _ = self.run([follow_up(FILM), found("A."), follow_up("", "x")])
        assert (answer.text, answer.loop_text) == ("x", "x")
        answer, _ = self.run([follow_up(FILM), found("A."), follow_up(""), final("y")])
        assert (answer.text, answer.loop_text) == ("y", ""), "without one the passages are read"

    def test_neither_a_follow_up_nor_an_answer(self) -> None:
        answer, table = self.run([follow_up(None, None), found("A."), follow_up(" ", ""), final("")])
        assert answer.ending == "the model gave neither a follow-up question nor an answer"
        assert table.asked == ["q"], "the question itself is the first follow-up then"

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        answer, _ = self.run([follow_up(FILM), BAD, BAD, BAD, BAD, BAD, BAD])
        assert (len(answer.steps[0].problems), answer.usage.calls, answer.text) == (2, 7, "")
        assert answer.ending.startswith("the model gave neither a follow-up question nor an answer; ")


class TestClosedBook:
    """Without a retriever the model answers its own follow-ups."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Scripted, list[Step], Answer]:
        with Scripted(replies) as model:
            return model, *driven(SelfAsk(model=Accounted(model), **parameters), QUESTION)

    def test_three_steps(self) -> None:
        model, steps, answer = self.run(
            [
                *(follow_up(FILM), final("Laughter in Hell")),
                *(follow_up(ACTOR), final("")),
                *(follow_up(LAKE), final("Lake Michigan")),
                follow_up("", "Michigan"),
            ]
        )
        assert [step.query for step in steps] == [FILM, ACTOR, LAKE]
        assert [step.thought for step in steps] == [
            "It is Laughter in Hell.",
            "Nothing says it.",
            "It is Lake Michigan.",
        ]
        assert [prompt.user for prompt in model.prompts if prompt.template == "closed_book"] == [
            f"Question: {follow}" for follow in (FILM, ACTOR, LAKE)
        ]
        assert model.prompts[-1].user.endswith(f"3. {LAKE}\n   It is Lake Michigan.")
        assert (answer.text, answer.loop_text, answer.usage.calls) == ("Michigan", "Michigan", 7)
        assert not answer.ranking
        assert not answer.supported

    def test_an_immediate_answer_is_kept(self) -> None:
        _, [step], answer = self.run([follow_up("", "Michigan")])
        assert (answer.text, step.query, answer.usage.calls) == ("Michigan", QUESTION, 1)

    def test_without_an_answer_of_the_loop_the_question_is_put_unchanged(self) -> None:
        model, _, answer = self.run([follow_up(FILM), final("x"), follow_up(ACTOR), final("Erie")], max_steps=1)
        assert (answer.text, answer.loop_text, answer.ending) == ("Erie", "", "the last step was reached")
        assert model.prompts[-1].user == f"Question: {QUESTION}"


@settings(max_examples=60, deadline=None)
@given(said=st.lists(st.text(max_size=4), min_size=6, max_size=6), max_steps=st.integers(1, 5))
def test_it_always_ends(said: list[str], max_steps: int) -> None:
    model = Scripted([*(follow_up(text) for text in said)])
    asked = SelfAsk(
        retriever=Anywhere(),
        model=model,
        sub_answerer=SubAnswerer(model=Scripted([found("A.")] * 5), passages=PASSAGES),
        answerer=QuestionAnswerer(model=Scripted([final("end")]), passages=PASSAGES),
        max_steps=max_steps,
    )
    answer = asked.answer("q")
    assert 1 <= len(answer.steps) <= max_steps
    assert (answer.text, bool(answer.ending)) == ("end", True)
