"""Self-Ask through loops that a scripted model drives."""

from typing import Any

import pytest

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


NO_FOLLOW_UP = "no follow-up question is needed"
NEITHER = "the model gave neither a follow-up question nor an answer"


STEP = (follow_up(FILM), answer_with("A."))


@pytest.mark.parametrize(
    ("replies", "asked", "text", "loop_text", "ending"),
    [
        ([follow_up("", "Cahn")], "q", "Cahn", "Cahn", NO_FOLLOW_UP),  # looked up once
        ([*STEP, follow_up("", "x")], FILM, "x", "x", NO_FOLLOW_UP),  # asked for though the last step was reached
        ([follow_up(FILM, "early"), STEP[1], follow_up(None, "late")], FILM, "late", "late", NO_FOLLOW_UP),
        ([*STEP, follow_up(""), final("y")], FILM, "y", "", NEITHER),  # the passages are read
        ([follow_up(None, None), STEP[1], follow_up(" ", ""), final("")], "q", "", "", NEITHER),
    ],
)
def test_every_way_out_is_named(replies: list[Completion], asked: str, text: str, loop_text: str, ending: str) -> None:
    table = Table({"q": ["film"], FILM: ["film"]})
    with Scripted(replies) as model:
        answer = agent(table, model, max_steps=1).answer("q")
    assert (table.asked, answer.text, answer.loop_text, answer.ending) == ([asked], text, loop_text, ending)


def ask_closed_book(*replies: Completion, **parameters: Any) -> tuple[Scripted, list[Step], Answer]:
    """Without a retriever the model answers its own follow-ups."""
    with Scripted(replies) as model:
        return model, *driven(SelfAsk(model=Accounted(model), **parameters), QUESTION)


def test_three_steps_without_passages() -> None:
    model, steps, answer = ask_closed_book(
        *(follow_up(FILM), final("Laughter in Hell")),
        *(follow_up(ACTOR), final("")),
        *(follow_up(LAKE), final("Lake Michigan")),
        follow_up("", "Michigan"),
    )
    assert [(step.query, step.thought) for step in steps] == [
        (FILM, "It is Laughter in Hell."),
        (ACTOR, "Nothing says it."),
        (LAKE, "It is Lake Michigan."),
    ]
    assert [prompt.user for prompt in model.prompts if prompt.template == "closed_book"] == [
        f"Question: {follow}" for follow in (FILM, ACTOR, LAKE)
    ]
    assert model.prompts[-1].user.endswith(f"3. {LAKE}\n   It is Lake Michigan.")
    assert (answer.text, answer.loop_text, answer.usage.calls) == ("Michigan", "Michigan", 7)
    assert not answer.ranking
    assert not answer.supported


def test_without_passages_an_immediate_answer_is_kept_and_without_one_the_question_is_put_unchanged() -> None:
    _, [step], answer = ask_closed_book(follow_up("", "Michigan"))
    assert (answer.text, step.query, answer.usage.calls) == ("Michigan", QUESTION, 1)
    said = (follow_up(FILM), final("x"), follow_up(ACTOR), final("Erie"))
    model, _, answer = ask_closed_book(*said, max_steps=1)
    assert (answer.text, answer.loop_text, answer.ending) == ("Erie", "", "the last step was reached")
    assert model.prompts[-1].user == f"Question: {QUESTION}"
