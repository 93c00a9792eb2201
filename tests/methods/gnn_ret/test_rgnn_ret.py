"""RGNN-Ret's agent: against its oracle, and through loops that a scripted model drives."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles.rgnn_ret import rgnn_ret
from scripted_loops import BAD, PASSAGES, Driven, Table, driven, final, reply
from small_graphs import edge_lists, graph_of, neighbours_of
from trials import examples
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage, estimate_tokens
from triplebeam.methods.gnn_ret.agent import RGNNRet
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.passage import Passage, Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
FILM, ACTOR, LAKE = "Which drama did Edward Cahn direct?", "Where did Pat Brien live?", "On which lake is Milwaukee?"


def agent(model: LanguageModel, retriever: Retriever, passages: Passages = PASSAGES, **parameters: Any) -> RGNNRet:
    return RGNNRet(retriever=retriever, model=Accounted(model), passages=passages, **parameters)


def ask(question: str | None) -> Completion:
    return reply(question=question)


def sub_answer(text: str) -> Completion:
    return reply(answer=text)


MISSING = "No document says where Pat Brien lived."


def critique(enough: bool) -> Completion:
    return reply(missing="" if enough else MISSING, enough=enough)


@dataclass(frozen=True)
class Drawn:
    """A table of passages, and a base whose distances belong to the query."""

    distances: dict[str, list[float]]

    def __len__(self) -> int:
        return len(self.distances["begin"])

    def ids(self, rows: Sequence[int]) -> list[str]:
        return [f"p{row:02d}" for row in rows]

    def row(self, passage_id: str) -> int:
        return int(passage_id[1:])

    def __getitem__(self, passage_id: str) -> Passage:
        return Passage(passage_id, "text", passage_id)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        raise AssertionError("GNN-Ret takes the scores")

    def scores(self, query: str) -> NDArray[np.float32]:
        return np.array([1 - distance for distance in self.distances[query]], np.float32)


class Told:
    """Answers every sub-question with the name of the last passage it is shown, and makes it the next."""

    name = "script"

    def __init__(self, enough: str) -> None:
        self.enough = enough

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(text=json.dumps(self.reply(prompt)), usage=Usage(calls=1)) for prompt in prompts]

    def reply(self, prompt: Prompt) -> dict[str, Any]:
        names = re.findall(r"p\d\d", prompt.user)
        match prompt.template:
            case "gnn_ret/next_question":
                return {"question": names[-1] if names else "begin"}
            case "published/sub_answer":
                return {"answer": re.findall(r"\[\d+\] (p\d\d)", prompt.user)[-1]}
            case "gnn_ret/critique":
                return {"missing": "", "enough": self.enough in names}
            case _:
                return {"found": True, "answer": names[-1], "sentence": ""}


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    """Shares that single precision holds exactly, so that what ties in the oracle ties in the code."""
    nodes = draw(st.integers(2, 8))
    part = st.integers(0, 64).map(lambda part: part / 64)
    keys = ["begin", *(f"p{row:02d}" for row in range(nodes))]
    quarter = st.sampled_from([0.25, 0.5, 0.75])
    return {
        "edges": draw(edge_lists(nodes)),
        "distances": {key: draw(st.lists(part, min_size=nodes, max_size=nodes)) for key in keys},
        "alpha": tuple(draw(st.lists(quarter, max_size=2))),
        "beta": draw(st.sampled_from([0.25, 0.5, 0.75, 1.0])),
        "relevant": draw(st.integers(1, 4)),
        "retrieved": draw(st.integers(1, nodes)),
        "max_steps": draw(st.integers(1, 4)),
        "enough": draw(st.sampled_from(keys[1:])),
    }


@settings(max_examples=examples(60), deadline=None)
@given(problem=problems())
def test_the_agent_agrees_with_its_oracle(problem: dict[str, Any]) -> None:
    drawn, nodes = Drawn(problem["distances"]), len(problem["distances"]["begin"])
    over: dict[str, Any] = {"base": drawn, "passages": drawn, "graph": graph_of(nodes, [], problem["edges"])}
    gnn_ret = GNNRet(alpha=problem["alpha"], relevant=problem["relevant"], **over)
    recurrent = RecurrentGNNRet(gnn_ret=gnn_ret, beta=problem["beta"])
    tokens = problem["retrieved"] * estimate_tokens(drawn["p00"].searchable)
    ours = agent(Told(problem["enough"]), recurrent, drawn, tokens=tokens, max_steps=problem["max_steps"])
    steps, answer = driven(ours, "q")
    queries, h_hat, passages, stopped = rgnn_ret(
        "q",
        problem["distances"].__getitem__,
        neighbours_of(nodes, {"structural": [], "keyword": problem["edges"]}, ("keyword",)),
        problem["alpha"],
        problem["beta"],
        problem["relevant"],
        problem["retrieved"],
        problem["max_steps"],
        subquestion=lambda _, answers: answers[-1] if answers else "begin",
        subanswer=lambda _, found: f"p{found[-1]:02d}",
        critique=lambda _, answers: problem["enough"] in answers,
    )
    assert [step.query for step in steps] == queries
    assert [step.ranking.ids for step in steps] == [drawn.ids(found) for found in passages]
    assert [step.so_far.ids for step in steps] == [drawn.ids(found) for found in stopped]
    for step, integrated in zip(steps, h_hat, strict=True):
        assert [1 - hit.score for hit in step.ranking] == [integrated[drawn.row(id_)] for id_ in step.ranking.ids]
    assert answer.ranking == steps[-1].so_far


TRIED = (ask(FILM), sub_answer("A."), critique(False))


class TestContract(AgentContract):
    """Only the third step finds the last passage."""

    passages = PASSAGES
    question = QUESTION
    finds = MappingProxyType({FILM: ["film", "director"], ACTOR: ["actor", "film"], LAKE: ["city", "actor"]})
    replies = (
        *(ask(FILM), sub_answer("Edward Cahn directed Laughter in Hell."), critique(False)),
        *(ask(ACTOR), sub_answer("Pat Brien lived in Milwaukee."), critique(False)),
        *(ask(LAKE), sub_answer("Milwaukee lies on Lake Michigan."), critique(True), final("Lake Michigan")),
    )
    last, text, loop_text, ending = "city", "Lake Michigan", "Lake Michigan", "the sub-answers answer the question"
    so_far = (["film", "director"], ["film", "actor", "director"], ["actor", "film", "city", "director"])
    calls = (4, 3, 3)  # the next sub-question is asked in the step before

    at_the_last_step = Ending(
        replies=[*TRIED, ask(ACTOR), sub_answer("B."), critique(False), final("x")],
        ending="the last step was reached",
        text="x",
        queries=[FILM, ACTOR],
        parameters={"max_steps": 2},
    )
    when_it_repeats_itself = None  # the sub-question is asked again
    when_it_may_repeat_itself = Ending(
        replies=[*TRIED, *TRIED, final("")],
        ending="the last step was reached",
        queries=[FILM, FILM],
        parameters={"max_steps": 2},
    )
    when_nothing_is_found = Ending(
        replies=[ask(FILM), sub_answer(""), ask(""), final("")],
        ending="the model gave no further sub-question",
        finds=[],
    )
    when_replies_are_unusable = Ending(  # the last reading fails, too
        replies=[BAD] * 8, ending="the model gave no further sub-question;", queries=["q"], problems=[3]
    )

    def make_agent(self, retriever: Retriever, model: LanguageModel, **parameters: Any) -> RGNNRet:
        return agent(model, retriever, **parameters)

    def make_reply(self, words: str) -> Completion:
        fields = {"missing": MISSING, "enough": not words.strip(), "facts": [], "sentence": words}
        return reply(question=words, found=bool(words), answer=words, **fields)

    def test_the_model_sees_sub_questions_and_their_answers(self) -> None:
        prompts = self.drive_whole().model.prompts
        reading = [prompt.user for prompt in prompts if prompt.template == "published/sub_answer"]
        assert [user.split("Question: ")[1] for user in reading] == [FILM, ACTOR, LAKE], "the sub-question alone"
        asking = [prompt.user for prompt in prompts if prompt.template == "gnn_ret/next_question"]
        assert all(f"Question: {QUESTION}" in user for user in asking)
        assert asking[0].endswith("Steps so far:\n(none)")
        assert asking[1].endswith(f"1. {FILM}\n   Edward Cahn directed Laughter in Hell.")
        assert asking[2].endswith(f"2. {ACTOR}\n   Pat Brien lived in Milwaukee.")

    def test_the_critique_sees_answers_and_no_sub_questions(self) -> None:
        done = self.drive_whole()
        seen = [prompt.user for prompt in done.model.prompts if prompt.template == "gnn_ret/critique"]
        assert seen[1] == (
            f"Question: {QUESTION}\n\nStatements:\n"
            "1. Edward Cahn directed Laughter in Hell.\n2. Pat Brien lived in Milwaukee."
        )
        assert done.steps[2].thought == "Milwaukee lies on Lake Michigan."
        assert done.answer.sentence == "It is Lake Michigan."


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> Driven:
        table = Table({"q": ["film"], FILM: ["film"], ACTOR: ["actor"], LAKE: ["city"]})
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table, **parameters), "q"))

    def test_what_the_critique_misses_is_shown_with_the_answer(self) -> None:
        answer = self.run([*TRIED, final("")], max_steps=1).answer
        assert (answer.outcome, answer.missing) == ("not_in_documents", (MISSING,))

    def test_a_sub_answer_that_is_not_found_is_not_criticised_and_shown_to_the_next_question(self) -> None:
        done = self.run([ask(FILM), sub_answer(""), ask(LAKE), sub_answer("B."), critique(True), final("x")])
        assert (done.answer.text, done.table.asked) == ("x", [FILM, LAKE])
        assert done.model.prompts[2].user.endswith(f"1. {FILM}\n   (not found in the passages)")

    @pytest.mark.parametrize("nothing", ["", "  ", None])
    def test_without_a_first_question_the_question_itself_is_asked(self, nothing: str | None) -> None:
        done = self.run([ask(nothing), sub_answer("A."), critique(True), final("x")])
        assert (done.table.asked, done.answer.text) == (["q"], "x")

    def test_where_the_final_answer_is_none_the_passages_are_read(self) -> None:
        answer = self.run([ask(FILM), sub_answer("A."), critique(True), final(""), final("z")]).answer
        assert (answer.text, answer.loop_text, answer.sentence) == ("z", "", "It is z.")

    def test_a_critique_that_cannot_be_read_is_no_yes(self) -> None:
        answer = self.run([ask(FILM), sub_answer("A."), BAD, BAD, ask(""), final("x")]).answer
        assert answer.steps[0].problems
        assert (answer.ending, answer.text) == ("the model gave no further sub-question", "x")


def test_the_last_reading_has_the_tokens_of_a_step() -> None:
    table = Table({FILM: ["film", "director", "actor"]})
    for tokens, read in ((30, 1), (3500, 3)):
        with Scripted([ask(FILM), sub_answer(""), final("x")]) as model:
            driven(agent(model, table, tokens=tokens, max_steps=1, answered_from=1), "q")
        assert model.prompts[-1].user.count("\n[") == read
