"""IRCoT and ITER-RETGEN through loops that a scripted model drives."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from scripted_loops import BAD, PASSAGES, Table, final, reply
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.ircot import IRCoT
from triplebeam_research.baselines.iter_retgen import IterRetGen


def sentence(text: str | None) -> Completion:
    return reply(sentence=text)


def agent(table: Retriever, model: LanguageModel, **parameters: Any) -> IRCoT:
    return IRCoT(retriever=table, model=Accounted(model), **parameters)


QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = "Edward Cahn directed Laughter in Hell."
LIVED = "Pat Brien of Laughter in Hell lived in Milwaukee."


class TestIRCoT(AgentContract):
    """Only the third step finds the last passage; the lists of the steps are fused."""

    passages = PASSAGES
    question = QUESTION
    finds = MappingProxyType({QUESTION: ["director", "film"], DIRECTED: ["film", "actor"], LIVED: ["city", "actor"]})
    replies = (sentence(DIRECTED), sentence(LIVED), sentence("So the answer is: Lake Michigan."), final("Michigan"))
    last, text, loop_text, ending = "city", "Michigan", "Lake Michigan", "the reasoning came to an answer"
    # film 1/62 + 1/61 and actor 1/62 + 1/62 stand in two lists; city and director lead one each, and tie.
    so_far = (["director", "film"], ["film", "director", "actor"], ["film", "actor", "city", "director"])
    calls = (1, 1, 1)

    at_the_last_step = Ending(
        replies=[sentence("R is S."), sentence("S is T."), final("")],
        ending="the last step was reached",
        queries=["q", "R is S."],
        parameters={"max_steps": 2},
    )
    when_it_repeats_itself = None  # the sentence is searched for again
    when_it_may_repeat_itself = Ending(
        replies=[*[sentence("R is S.")] * 4, final("")],
        ending="the last step was reached",
        queries=["q", *["R is S."] * 3],
    )
    when_nothing_is_found = Ending(
        replies=[sentence(""), final("")], ending="the model gave no further sentence", finds=[]
    )
    when_replies_are_unusable = Ending(  # asked, and corrected once; the last reading fails, too
        replies=[sentence("R is S."), *[BAD] * 4], ending="the model gave no further sentence;", problems=[0, 1]
    )
    make_agent = staticmethod(agent)

    def make_reply(self, words: str) -> Completion:
        return reply(sentence=words, found=True, answer=words)

    def test_the_model_sees_the_question_and_its_sentences(self) -> None:
        thinking = [prompt.user for prompt in self.drive_whole().model.prompts[:3]]
        assert all(f"Question: {QUESTION}" in user for user in thinking)
        assert [user.split("Sentences so far: ")[1] for user in thinking] == ["(none)", DIRECTED, f"{DIRECTED} {LIVED}"]


def run(replies: list[Completion], finds: Mapping[str, list[str]], **parameters: Any) -> tuple[Answer, Scripted, Table]:
    table = Table(finds)
    with Scripted(replies) as model:
        return agent(table, model, **parameters).answer("q"), model, table


@pytest.mark.parametrize("said", ["", "  ", None, "So the answer is:", "So the answer is: ..."])
def test_a_sentence_without_words_ends_it(said: str | None) -> None:
    answer, _, table = run([sentence(said), final("")], {"q": ["film"]})
    assert (answer.ending, answer.loop_text, table.asked) == ("the model gave no further sentence", "", ["q"])


def test_what_runs_ahead_of_the_evidence_is_discarded() -> None:
    said = [sentence(f"{DIRECTED} So the answer is: 1."), sentence("So the answer is: 2"), final("")]
    answer, _, table = run(said, {"q": ["film"], DIRECTED: ["actor"]})
    assert (table.asked, answer.loop_text) == (["q", DIRECTED], "2")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Sentence: So the answer is Lake Michigan.", "Lake Michigan"),
        ("Hence the answer is: Dr. Cahn of the U.S.", "Dr. Cahn of the U.S"),
    ],
)
def test_where_the_passages_do_not_say_it_the_reasonings_answer_is_kept(said: str, text: str) -> None:
    answer, *_ = run([sentence(said), final("")], {"q": ["film"]})
    assert (answer.text, answer.sentence) == (text, "")


def test_a_late_find_enters_a_full_collection() -> None:
    finds = {"q": ["film", "director", "other"], "A.": ["film", "actor", "lake"], "B.": ["city", "film"]}
    said = [sentence("A."), sentence("B."), sentence("So the answer is: x"), final("x")]
    answer, model, _ = run(said, finds, collected=3)
    assert answer.ranking.ids == ["film", "city", "actor"]
    assert "Milwaukee lies in Wisconsin" in model.prompts[2].user


def test_passages_a_step_and_for_the_answer() -> None:
    finds = {"q": ["film", "director", "other", "actor"]}
    answer, model, _ = run([sentence(""), final("x")], finds, retrieved=3, answered_from=1)
    assert answer.ranking.ids == ["film", "director", "other"]
    assert "Edward Cahn was a film director" not in model.prompts[1].user


SOUGHT = "Edward Cahn directed Laughter in Hell. Its actor has to be found."
FOUND = "Edward Cahn directed Laughter in Hell. Pat Brien of Laughter in Hell lived in Milwaukee."
DONE = f"{FOUND} Milwaukee lies on Lake Michigan."


def generating_agent(retriever: Retriever, model: LanguageModel, **parameters: Any) -> IterRetGen:
    return IterRetGen(retriever=retriever, model=Accounted(model), passages=PASSAGES, **parameters)


def generation(reasoning: str | None, answer: str | None = "") -> Completion:
    return reply(reasoning=reasoning, answer=answer)


FINDS = {
    QUESTION: ["director", "film"],
    f"{SOUGHT} {QUESTION}": ["film", "actor"],
    f"{FOUND} {QUESTION}": ["city", "actor"],
}


class TestIterRetGen(AgentContract):
    """Only the third step finds the last passage; the ranking so far is the last retrieval."""

    passages = PASSAGES
    question = QUESTION
    finds = FINDS
    replies = (generation(SOUGHT), generation(FOUND), generation(DONE, "Lake Michigan"), final("Michigan"))
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
    make_agent = staticmethod(generating_agent)

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
        answer = generating_agent(table, model).answer("q")
    assert (answer.ending, answer.text, table.asked) == ("the model generated nothing", "x", ["q"])


def test_its_own_answer_may_stand() -> None:
    with Scripted([generation("A.", "x"), generation("A.", "y")]) as model:
        answer = generating_agent(Table({"q": ["film"], "A. q": ["actor"]}), model, own_answer=True).answer("q")
    assert (answer.text, answer.loop_text) == ("y", "y")


def test_more_are_ranked_than_read() -> None:
    with Scripted([generation(""), final("x")]) as model:
        answer = generating_agent(Table({"q": ["film", "director", "actor"]}), model, retrieved=2, read=1).answer("q")
    assert answer.ranking.ids == ["film", "director"]
    assert "Edward Cahn was a film director" not in model.prompts[0].user
