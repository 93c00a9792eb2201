"""GE-Reasoning through loops that a scripted model drives."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from scripted_question_graphs import (
    CHAIN,
    LAKE,
    LIES,
    LIVED,
    QUESTION,
    STARRED,
    WHERE,
    WHO,
    agent,
    ask,
    asks,
    extracts,
    first_lines,
    graph,
    helpful,
    make_grounded,
    reads,
    says,
)

from scripted_loops import BAD, PASSAGES, final, read_by, reply
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.connect import WithParameters
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.testing.contracts.agents import AgentContract, Driven, Ending
from triplebeam.triple import Triple


class TestContract(AgentContract):
    """Only the third round finds the last passage; the second sub-answer is sure enough without a search."""

    passages = PASSAGES
    question = QUESTION
    finds = MappingProxyType({WHO: ["actor", "film"], LAKE: ["city", "lake", "other"]})
    queries = (QUESTION, WHO, WHERE, LAKE)
    replies = (
        graph(CHAIN, "lake: #3"),
        *(asks(WHO), says("John", 0.2), extracts(STARRED, LIVED), extracts(), helpful(1), says("Pat Brien", used=[1])),
        *(asks(WHERE), says("Milwaukee", 0.6)),
        *(asks(LAKE), says("Lake Erie", 0.3), extracts(LIES, ["Milwaukee", "", "x"]), extracts(), helpful(1)),
        *(says("Lake Michigan", 0.8, [1]), final("Lake Michigan")),
    )
    last, text, loop_text, ending = "city", "Lake Michigan", "Lake Michigan", "every variable has a value"
    so_far = ([], ["actor", "film"], ["actor", "film"], ["actor", "city", "film", "lake", "other"])
    calls = (1, 6, 2, 6)

    at_the_last_step = Ending(
        replies=[graph(CHAIN[:1]), asks(WHO), says("x", 0.1), extracts(), *[says("x", 0.1)] * 3, final("guess")],
        ending="the last round was reached",
        text="guess",
        queries=[WHO],
        parameters={"max_rounds": 2},
    )
    when_it_repeats_itself = when_it_may_repeat_itself = None  # a search is made once for each sub-question
    when_nothing_is_found = Ending(
        replies=[graph(CHAIN[:1]), asks(WHO), *[says("x", 0.1)] * 2, final("")],
        ending="the last round was reached",
        finds=[],
        parameters={"max_rounds": 1},
    )
    when_replies_are_unusable = Ending(
        replies=[graph(CHAIN[:1]), BAD, BAD, says("x", 0.1), BAD, BAD, says("Pat Brien"), final("p")],
        ending="every variable has a value",
        text="p",
        queries=["Laughter in Hell actor name"],  # the triplet's words
        problems=[0, 2],
    )
    step_limit, steps_beyond = "max_rounds", 1  # the graph is the first step

    def make_agent(self, retriever: Any, model: Any, **parameters: Any) -> GEReasoning:
        return agent(model, retriever, **parameters)

    def make_reply(self, words: str) -> Completion:
        return reply(triplets=CHAIN, target=[], question=words, sentence=words, answer=words, found=True, helpful=[])

    @pytest.fixture
    def done(self) -> Driven:
        return self.drive_whole()

    def test_the_graph_fills_in(self, done: Driven) -> None:
        steps = done.steps
        assert steps[0].thought.endswith("(city: #2; lies on; lake: #3)")
        assert ['v1(["name: #1 = Pat Brien"])' in step.picture for step in steps] == [False, True, True, True]
        assert first_lines(steps[1:]) == [
            "name: #1 = Pat Brien (smallest token probability 0.90, after retrieval)",
            "city: #2 = Milwaukee (smallest token probability 0.60, without retrieval)",
            "lake: #3 = Lake Michigan (smallest token probability 0.80, after retrieval)",
        ]
        assert steps[2].thought.splitlines()[-2:] == [
            "(name: #1 = Pat Brien; lived in; city: #2 = Milwaukee)",
            "(city: #2 = Milwaukee; lies on; lake: #3)",
        ]

    def test_sub_questions_see_values(self, done: Driven) -> None:
        asked = [prompt.user for prompt in done.model.prompts if prompt.template == "ge_reasoning/sub_question"]
        assert asked == [
            "Triplet: (Laughter in Hell; actor; name: #1)",
            "Triplet: (Pat Brien; lived in; city: #2)",
            "Triplet: (Milwaukee; lies on; lake: #3)",
        ]

    def test_sub_answers_see_the_history_and_the_facts(self, done: Driven) -> None:
        shown = [prompt.user for prompt in done.model.prompts if prompt.template == "ge_reasoning/sub_answer"]
        history = f"(1) {WHO}\nIt is Pat Brien. Answer: Pat Brien\n(2) {WHERE}\nIt is Milwaukee. Answer: Milwaukee"
        assert all(f"Question: {QUESTION}" in user for user in shown)
        assert ["(no search was made)" in user for user in shown] == [True, False, True, True, False]
        assert history in shown[-1], "line 12 keeps the history"
        assert "The search found:\n1. Milwaukee lies on Lake Michigan\n" in shown[-1]

    def test_evidence(self, done: Driven) -> None:
        answer = done.answer
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED, LIES]
        spans = [fact.span for fact in answer.evidence]
        assert [span.passage_id if span else None for span in spans] == ["actor", None, "city"]
        assert not answer.supported, "the second value was never looked for in a passage"
        assert [fact.note for fact in answer.evidence] == [
            f"#1 (name) = Pat Brien: {WHO}",
            f"#2 (city) = Milwaukee: {WHERE}",
            f"#3 (lake) = Lake Michigan: {LAKE}",
        ]

    def test_facts_and_problems_by_step(self, done: Driven) -> None:
        assert [read_by(step) for step in done.steps] == [(), (STARRED,), (), (LIES,)]
        assert [len(step.problems) for step in done.steps] == [0, 0, 0, 1]


def test_a_filtered_variable_succeeds_at_the_second_attempt() -> None:
    lines = [graph(CHAIN[:1], "#1"), asks(WHO), says("John", 0.1), extracts(STARRED), helpful(1), says("Jim", 0.49)]
    done = ask([*lines, says("John", 0.2), says("Pat Brien", 0.5, [1]), final("Pat Brien")], {WHO: ["film"]})
    assert first_lines(done.steps[1:]) == [
        "name: #1 stays open: 'Jim' (smallest token probability 0.49, after retrieval; 0.5 is needed)",
        "name: #1 = Pat Brien (smallest token probability 0.50, after retrieval)",
    ]
    assert (done.table.asked, done.answer.text) == ([WHO], "Pat Brien"), "the search is not repeated"
    samples = [prompt.sample for prompt in done.model.prompts if prompt.template == "ge_reasoning/sub_answer"]
    assert samples == [0, 0, 5, 5]
    assert "Jim" not in done.model.prompts[-1].user, "what was filtered is not in the history"


def test_an_answer_without_one_of_its_branches_is_not_supported() -> None:
    lines = [graph([CHAIN[0], ["Ordet", "actor", "name: #4"]], "#1", "#4"), asks(WHO)]
    lines += [reads("Pat Brien", (STARRED, 1, "Pat Brien starred in")), asks("C?"), reads(""), final("yes")]
    answer = ask(lines, {WHO: ["actor"], "C?": ["film"]}, make=make_grounded).answer
    assert [(fact.triple, bool(fact.span)) for fact in answer.evidence] == [
        (STARRED, True),
        (Triple("Ordet", "actor", "name: #4"), False),
    ]
    assert answer.evidence[1].note == "#4 (name): not found"
    assert (answer.text, answer.agreed, answer.supported) == ("yes", True, False)


def test_pairs_that_do_not_answer_send_to_the_passages() -> None:
    lines = [graph(CHAIN[:1]), asks(WHO), says("x", 0.1), extracts(STARRED), helpful(1), says("Pat Brien")]
    done = ask([*lines, final(""), final("Milwaukee")], {WHO: ["actor"]})
    assert "lived in Milwaukee" in done.model.prompts[-1].user
    assert (done.answer.text, done.answer.loop_text) == ("Milwaukee", "")


class Fickle:
    """A model that answers by chance: the same to the same prompt, seed and sample, as a seeded endpoint does."""

    name = "fickle"

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.calls += len(prompts)
        return [self._reply(prompt) for prompt in prompts]

    def _reply(self, prompt: Prompt) -> Completion:
        chance = hashlib.blake2b(f"{prompt.user}{prompt.seed}{prompt.sample}".encode(), digest_size=1).digest()[0]
        said = {
            "ge_reasoning/question_graph": graph(CHAIN, "#3"),
            "ge_reasoning/sub_question": asks(prompt.user),
            "ge_reasoning/sub_answer": reply(sentence="", answer="abc"[chance % 3], used=[]),
        }
        return said.get(prompt.template, final("abc"[chance % 3]))


def test_a_seed_and_a_cache_make_it_deterministic(tmp_path: Path) -> None:
    def answers(seed: int, model: LanguageModel) -> tuple[str, list[str]]:
        answer = agent(WithParameters(model=model, seed=seed)).answer(QUESTION)
        return answer.text, [step.thought for step in answer.steps]

    with CompletionStore(tmp_path / "completions") as store:
        fickle = Fickle()
        kept = Cached(model=fickle, store=store)
        first = answers(1, kept)
        paid = fickle.calls
        assert first == answers(1, kept) == answers(1, Fickle())
        assert fickle.calls == paid, "a rerun is replayed"
    assert any(answers(seed, Fickle()) != first for seed in range(2, 6)), "chance it was"
