"""ITER-RETGEN through loops that a scripted model drives."""

from types import MappingProxyType
from typing import Any

import pytest

from scripted_loops import BAD, PASSAGES, Table, final, reply
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.iter_retgen import IterRetGen

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = "Edward Cahn directed Laughter in Hell. Its actor has to be found."
LIVED = "Edward Cahn directed Laughter in Hell. Pat Brien of Laughter in Hell lived in Milwaukee."
DONE = f"{LIVED} Milwaukee lies on Lake Michigan."


def agent(retriever: Retriever, model: LanguageModel, **parameters: Any) -> IterRetGen:
    return IterRetGen(retriever=retriever, model=Accounted(model), passages=PASSAGES, **parameters)


def generation(reasoning: str | None, answer: str | None = "") -> Completion:
    return reply(reasoning=reasoning, answer=answer)


FINDS = {
    QUESTION: ["director", "film"],
    f"{DIRECTED} {QUESTION}": ["film", "actor"],
    f"{LIVED} {QUESTION}": ["city", "actor"],
}


class TestContract(AgentContract):
    """Only the third step finds the last passage; the ranking so far is the last retrieval."""

    passages = PASSAGES
    question = QUESTION
    finds = FINDS
    replies = (generation(DIRECTED), generation(LIVED), generation(DONE, "Lake Michigan"), final("Michigan"))
    last, text, loop_text, ending = "city", "Michigan", "Lake Michigan", "the last step was reached"
    so_far = (["director", "film"], ["film", "actor"], ["city", "actor"])
    calls = (1, 1, 1)
    parameters = MappingProxyType({"max_steps": 3})

    at_the_last_step = Ending(
        replies=[generation("A."), generation("B."), final("x")],
        ending="the last step was reached",
        text="x",
        queries=["q", "A. q"],
        parameters={"max_steps": 2},
    )
    when_it_repeats_itself = Ending(
        replies=[generation("A.", "x"), generation("a", "y"), final("")],
        ending="the generation repeats the one before",
        text="y",
        queries=["q", "A. q"],
    )
    when_it_may_repeat_itself = Ending(
        replies=[*[generation("A.")] * 4, final("")],
        ending="the last step was reached",
        queries=["q", *["A. q"] * 3],
        parameters={"stop_when_stuck": False},
    )
    when_nothing_is_found = Ending(replies=[generation(""), final("")], ending="the model generated nothing", finds=[])
    when_replies_are_unusable = Ending(
        replies=[generation("A.", "x"), BAD, BAD, final("")], ending="the model generated nothing", problems=[0, 1]
    )
    make_agent = staticmethod(agent)

    def make_reply(self, words: str) -> Completion:
        return reply(reasoning=words, found=True, answer=words, sentence=words)

    def test_a_step_reads_its_own_passages_and_no_others(self) -> None:
        done = self.drive_whole()
        assert "Edward Cahn was a film director" not in done.model.prompts[1].user
        assert done.steps[1].query == f"{done.steps[0].thought} {QUESTION}"


@pytest.mark.parametrize("nothing", ["", " ", None])
def test_nothing_is_generated(nothing: str | None) -> None:
    table = Table({"q": ["film"]})
    with Scripted([generation(nothing), final("x")]) as model:
        answer = agent(table, model).answer("q")
    assert (answer.ending, answer.text, table.asked) == ("the model generated nothing", "x", ["q"])


def test_its_own_answer_may_stand() -> None:
    with Scripted([generation("A.", "x"), generation("A.", "y")]) as model:
        answer = agent(Table({"q": ["film"], "A. q": ["actor"]}), model, own_answer=True).answer("q")
    assert (answer.text, answer.loop_text) == ("y", "y")


def test_more_are_ranked_than_read() -> None:
    with Scripted([generation(""), final("x")]) as model:
        answer = agent(Table({"q": ["film", "director", "actor"]}), model, retrieved=2, read=1).answer("q")
    assert answer.ranking.ids == ["film", "director"]
    assert "Edward Cahn was a film director" not in model.prompts[0].user
