"""Self-Ask through loops that a scripted model drives."""

from typing import Any

from scripted_loops import BAD, PASSAGES, Table, driven, final, reply
from triplebeam.answer import Answer, Step
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.self_ask import SelfAsk

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
FILM, ACTOR, LAKE = "Which drama did Edward Cahn direct?", "Where did Pat Brien live?", "On which lake is Milwaukee?"


def agent(retriever: Retriever, model: LanguageModel, **parameters: Any) -> SelfAsk:
    return SelfAsk(retriever=retriever, model=Accounted(model), **parameters)


def follow_up(question: str | None, answer: str | None = "") -> Completion:
    return reply(follow_up=question, answer=answer)


def answer_with(text: str) -> Completion:
    return reply(answer=text)


FINDS = {FILM: ["film", "director"], ACTOR: ["actor", "film"], LAKE: ["city", "actor"]}


class TestContract(AgentContract):
    """Only the third step finds the last passage."""

    passages = PASSAGES
    question = QUESTION
    finds = FINDS
    replies = (
        *(follow_up(FILM), answer_with("Edward Cahn directed Laughter in Hell.")),
        *(follow_up(ACTOR), answer_with("Pat Brien lived in Milwaukee.")),
        *(follow_up(LAKE), answer_with("Milwaukee lies on Lake Michigan.")),
        follow_up("", "Lake Michigan"),
    )
    last, text, loop_text, ending = "city", "Lake Michigan", "Lake Michigan", "no follow-up question is needed"
    so_far = (["film", "director"], ["film", "actor", "director"], ["actor", "film", "city", "director"])
    calls = (3, 2, 2)

    at_the_last_step = Ending(
        replies=[follow_up(FILM), answer_with("A."), follow_up(ACTOR), answer_with(""), follow_up(LAKE), final("x")],
        ending="the last step was reached",
        text="x",
        queries=[FILM, ACTOR],
        parameters={"max_steps": 2},
    )
    when_it_repeats_itself = None  # the follow-up is asked again
    when_it_may_repeat_itself = Ending(
        replies=[follow_up(FILM), answer_with(""), follow_up(FILM), answer_with(""), follow_up(FILM), final("")],
        ending="the last step was reached",
        queries=[FILM, FILM],
        parameters={"max_steps": 2},
    )
    when_nothing_is_found = Ending(
        replies=[follow_up(FILM), answer_with(""), follow_up(""), final("")],
        ending="the model gave neither a follow-up question nor an answer",
        finds=[],
    )
    when_replies_are_unusable = Ending(
        replies=[follow_up(FILM), *[BAD] * 6],
        ending="the model gave neither a follow-up question nor an answer;",
        problems=[2],
    )
    make_agent = staticmethod(agent)

    def make_reply(self, words: str) -> Completion:
        return reply(follow_up=words, found=True, answer=words, sentence=words, facts=[])

    def test_the_model_sees_its_follow_ups_and_their_answers(self) -> None:
        done = self.drive_whole()
        asking = [prompt.user for prompt in done.model.prompts if prompt.template == "self_ask/follow_up"]
        assert asking[0] == f"Question: {QUESTION}\n\nFollow-ups so far:\n(none)"
        assert asking[1].endswith(f"1. {FILM}\n   Edward Cahn directed Laughter in Hell.")
        assert asking[3].endswith(f"3. {LAKE}\n   Milwaukee lies on Lake Michigan.")
        assert done.steps[1].thought == "Pat Brien lived in Milwaukee."


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        table = Table({"q": ["film"], FILM: ["film"], ACTOR: ["actor"], LAKE: ["city"]})
        with Scripted(replies) as model:
            return agent(table, model, **parameters).answer("q"), table

    def test_an_answer_at_once_is_looked_up_once(self) -> None:
        answer, table = self.run([follow_up("", "Cahn")])
        assert (answer.text, answer.loop_text, table.asked, len(answer.steps)) == ("Cahn", "Cahn", ["q"], 1)
        assert answer.ending == "no follow-up question is needed"

    def test_an_answer_beside_a_follow_up_runs_ahead(self) -> None:
        answer, table = self.run([follow_up(FILM, "early"), answer_with("A."), follow_up(None, "late")])
        assert (answer.text, table.asked) == ("late", [FILM])

    def test_after_the_last_step_its_own_answer_is_still_asked_for(self) -> None:
        answer, _ = self.run([follow_up(FILM), answer_with("A."), follow_up("", "x")], max_steps=1)
        assert (answer.ending, answer.text) == ("no follow-up question is needed", "x")

    def test_its_own_answer_stands(self) -> None:
        answer, _ = self.run([follow_up(FILM), answer_with("A."), follow_up("", "x")])
        assert (answer.text, answer.loop_text) == ("x", "x")
        answer, _ = self.run([follow_up(FILM), answer_with("A."), follow_up(""), final("y")])
        assert (answer.text, answer.loop_text) == ("y", ""), "without one the passages are read"

    def test_neither_a_follow_up_nor_an_answer(self) -> None:
        answer, table = self.run([follow_up(None, None), answer_with("A."), follow_up(" ", ""), final("")])
        assert answer.ending == "the model gave neither a follow-up question nor an answer"
        assert table.asked == ["q"], "the question itself is the first follow-up then"


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
