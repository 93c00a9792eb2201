"""IRCoT through loops that a scripted model drives."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scripted_loops import BAD, PASSAGES, Table, final, reply
from small_world import TRIPLES
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.baselines.ircot import IRCoT


def sentence(text: str | None) -> Completion:
    return reply(sentence=text)


def agent(table: Retriever, model: LanguageModel, **parameters: Any) -> IRCoT:
    return IRCoT(retriever=table, model=Accounted(model), **parameters)


QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = "Edward Cahn directed Laughter in Hell."
LIVED = "Pat Brien of Laughter in Hell lived in Milwaukee."


FINDS = {QUESTION: ["director", "film"], DIRECTED: ["film", "actor"], LIVED: ["city", "actor"]}


class TestContract(AgentContract):
    """Only the third step finds the last passage; the lists of the steps are fused."""

    passages = PASSAGES
    question = QUESTION
    finds = FINDS
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

    def test_the_steps_lists_are_fused(self) -> None:
        assert self.drive_whole().answer.ranking[0].score == pytest.approx(1 / 62 + 1 / 61)


class Graph:
    """A fake graph method: the passages whose titles a query names, then those whose triples name one of them."""

    def __init__(self, triples: Mapping[str, Sequence[Triple]]) -> None:
        self.triples = triples

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        named = {id_: passage.title for id_, passage in PASSAGES.items() if passage.title in query}
        beside = [id_ for id_, facts in self.triples.items() if any({*fact} & {*named.values()} for fact in facts)]
        ids = dict.fromkeys([*named, *beside])
        return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(ids)).top(k)


class Thinker:
    """Says what the passages it is shown let it say, one sentence at a time, and no more."""

    name = "thinker"
    sentences: Mapping[str, str] = {"film": DIRECTED, "actor": LIVED, "city": "So the answer is: Lake Michigan."}

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [sentence(self._next(prompt.user)) for prompt in prompts]

    def _next(self, shown: str) -> str:
        unsaid = [said for id_, said in self.sentences.items() if PASSAGES[id_].text in shown and said not in shown]
        return unsaid[0] if unsaid else ""


class TestOverAGraph:
    """The same loop over another kind of retriever, with a model that knows nothing but what it is shown."""

    def run(self, triples: Mapping[str, Sequence[Triple]]) -> Answer:
        answerer = QuestionAnswerer(model=Scripted([final("")]), passages=PASSAGES)
        return IRCoT(retriever=Graph(triples), model=Thinker(), answerer=answerer, passages=PASSAGES).answer(QUESTION)

    def test_the_third_step_finds_the_last_passage(self) -> None:
        answer = self.run(TRIPLES)
        assert [step.query for step in answer.steps] == [QUESTION, DIRECTED, LIVED]
        assert ["city" in step.so_far.ids for step in answer.steps] == [False, False, True]
        assert answer.text == "Lake Michigan"

    def test_without_the_first_find_there_is_no_second_query(self) -> None:
        answer = self.run({id_: facts for id_, facts in TRIPLES.items() if id_ != "film"})
        assert [step.query for step in answer.steps] == [QUESTION]
        assert answer.steps[0].so_far.ids == ["director"]


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        table = Table({"q": ["film"], "R is S.": ["film", "city"], "S is T.": ["city"]})
        with Scripted(replies) as model:
            return agent(table, model, **parameters).answer("q"), table

    @pytest.mark.parametrize("said", ["", "  ", None, "So the answer is:", "So the answer is: ..."])
    def test_a_sentence_without_words(self, said: str | None) -> None:
        answer, table = self.run([sentence(said), final("")])
        assert (answer.ending, answer.loop_text, table.asked) == ("the model gave no further sentence", "", ["q"])

    def test_what_runs_ahead_of_the_evidence_is_discarded(self) -> None:
        table = Table({"q": ["film"], DIRECTED: ["actor"]})
        with Scripted(
            [sentence(f"{DIRECTED} So the answer is: 1."), sentence("So the answer is: 2"), final("")]
        ) as model:
            answer = agent(table, model).answer("q")
        assert (table.asked, answer.loop_text) == (["q", DIRECTED], "2")

    def test_where_the_passages_do_not_say_it_the_reasonings_answer_is_kept(self) -> None:
        answer, _ = self.run([sentence("Sentence: So the answer is Lake Michigan."), final("")])
        assert answer.text == "Lake Michigan"
        answer, _ = self.run([sentence("Hence the answer is: Dr. Cahn of the U.S."), final("")])
        assert (answer.text, answer.sentence) == ("Dr. Cahn of the U.S", "")


class TestLimits:
    def test_a_late_find_enters_a_full_collection(self) -> None:
        table = Table({"q": ["film", "director", "other"], "A.": ["film", "actor", "lake"], "B.": ["city", "film"]})
        with Scripted([sentence("A."), sentence("B."), sentence("So the answer is: x"), final("x")]) as model:
            answer = agent(table, model, collected=3).answer("q")
        assert answer.ranking.ids == ["film", "city", "actor"]
        assert "Milwaukee lies in Wisconsin" in model.prompts[2].user

    def test_passages_a_step_and_for_the_answer(self) -> None:
        table = Table({"q": ["film", "director", "other", "actor"]})
        with Scripted([sentence(""), final("x")]) as model:
            answer = agent(table, model, retrieved=3, answered_from=1).answer("q")
        assert answer.ranking.ids == ["film", "director", "other"]
        assert "Edward Cahn was a film director" not in model.prompts[1].user
