"""ITER-RETGEN through loops that a scripted model drives."""

from typing import Any

import pytest

from scripted_loops import BAD, PASSAGES, Driven, Table, driven, final, reply
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.iter_retgen import IterRetGen

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = "Edward Cahn directed Laughter in Hell. Its actor has to be found."
LIVED = "Edward Cahn directed Laughter in Hell. Pat Brien of Laughter in Hell lived in Milwaukee."
DONE = f"{LIVED} Milwaukee lies on Lake Michigan."


def agent(model: LanguageModel, retriever: Retriever, **parameters: Any) -> IterRetGen:
    return IterRetGen(retriever=retriever, model=Accounted(model), passages=PASSAGES, **parameters)


def generation(reasoning: str | None, answer: str | None = "") -> Completion:
    return reply(reasoning=reasoning, answer=answer)


class TestThreeSteps:
    """Only the third step finds the last passage."""

    @pytest.fixture
    def done(self) -> Driven:
        table = Table(
            {
                QUESTION: ["director", "film"],
                f"{DIRECTED} {QUESTION}": ["film", "actor"],
                f"{LIVED} {QUESTION}": ["city", "actor"],
            }
        )
        replies = [generation(DIRECTED), generation(LIVED), generation(DONE, "Lake Michigan"), final("Michigan")]
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table, max_steps=3), QUESTION))

    def test_the_third_step_finds_the_last_passage(self, done: Driven) -> None:
        _, table, steps, answer = done
        assert table.asked == [step.query for step in steps] == list(table.table)
        assert ["city" in step.ranking.ids for step in steps] == [False, False, True]
        assert (answer.text, answer.loop_text) == ("Michigan", "Lake Michigan")
        assert (answer.ending, answer.usage.calls) == ("the last step was reached", 4)

    def test_the_second_query_depends_on_the_first_retrieval(self, done: Driven) -> None:
        model, _, steps, _ = done
        first, second, third, _ = (prompt.user for prompt in model.prompts)
        assert "Laughter in Hell is a drama film directed by Edward Cahn" in first
        assert steps[1].query == f"{steps[0].thought} {QUESTION}"
        assert "Pat Brien starred" in second
        assert "Edward Cahn was a film director" not in second, "a step reads its own passages and no others"
        assert "Milwaukee lies in Wisconsin" in third

    def test_the_ranking_so_far_is_the_last_retrieval(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.so_far.ids for step in steps] == [["director", "film"], ["film", "actor"], ["city", "actor"]]
        assert steps[-1].so_far == answer.ranking


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        table = Table({"q": ["film"], "A. q": ["actor"], "B. q": ["city"]})
        with Scripted(replies) as model:
            return agent(model, table, **parameters).answer("q"), table

    def test_a_repeated_generation(self) -> None:
        answer, table = self.run([generation("A.", "x"), generation("a", "y"), final("")])
        assert (answer.ending, answer.text, table.asked) == (
            "the generation repeats the one before",
            "y",
            ["q", "A. q"],
        )

    def test_the_switch_lets_it_go_on(self) -> None:
        answer, table = self.run([generation("A.")] * 4 + [final("")], stop_when_stuck=False)
        assert (answer.ending, len(table.asked)) == ("the last step was reached", 4)

    def test_its_own_answer_may_stand(self) -> None:
        answer, _ = self.run([generation("A.", "x"), generation("A.", "y")], own_answer=True)
        assert (answer.text, answer.loop_text) == ("y", "y")

    @pytest.mark.parametrize("nothing", ["", " ", None])
    def test_nothing_is_generated(self, nothing: str | None) -> None:
        answer, table = self.run([generation(nothing), final("x")])
        assert (answer.ending, answer.text, table.asked) == ("the model generated nothing", "x", ["q"])

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        answer, _ = self.run([generation("A.", "x"), BAD, BAD, final("")])
        assert [len(step.problems) for step in answer.steps] == [0, 1]
        assert (answer.ending, answer.text, answer.ranking.ids) == ("the model generated nothing", "", ["actor"])


def test_more_are_ranked_than_read() -> None:
    with Scripted([generation(""), final("x")]) as model:
        answer = agent(model, Table({"q": ["film", "director", "actor"]}), retrieved=2, read=1).answer("q")
    assert answer.ranking.ids == ["film", "director"]
    assert "Edward Cahn was a film director" not in model.prompts[0].user


def test_a_retriever_that_remembers_is_begun_once_a_question() -> None:
    """Appendix G of GNN-Ret: ITER-RETGEN over the recurrent retriever."""
    begun: list[Table] = []

    class Remembering:
        def begin(self) -> Retriever:
            begun.append(Table({"q": ["film"], "A. q": ["actor"]}))
            return begun[-1]

        def retrieve(self, query: str, k: int = 10) -> Ranking:
            raise AssertionError("the question's own retriever is to be asked")

    for _ in range(2):
        with Scripted([generation("A."), generation("A."), final("x")]) as model:
            agent(model, Remembering()).answer("q")
    assert [table.asked for table in begun] == [["q", "A. q"]] * 2
