"""Chain of thought: exemplars as data, with and without a retrieval or the cue, and several paths with one vote.

The model alone, and a ranking that is given.
"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_loops import PASSAGES, Table, final, path, reply
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing import toy
from triplebeam.testing.scripted import Scripted
from triplebeam.text.sentences import sentence_spans
from triplebeam_research.baselines.chain_of_thought import (
    STEP_BY_STEP,
    ChainOfThought,
    Vote,
    load_exemplars,
    vote,
    vote_key,
)
from triplebeam_research.baselines.simple import ClosedBook, FixedRanking

QUESTION = "When did the director of Laughter in Hell die?"


def test_exemplars() -> None:
    exemplars = load_exemplars()
    assert len(exemplars) == len({exemplar.question for exemplar in exemplars}) == 6
    held = []
    for exemplar in exemplars:
        assert len(exemplar.passage) == 2
        assert len(list(sentence_spans(exemplar.reasoning))) >= 2
        assert exemplar.answer == "yes" or exemplar.answer in exemplar.reasoning, exemplar.question
        held.append(exemplar.answer in " ".join(f"{passage.title} {passage.text}" for passage in exemplar.passage))
    assert held.count(False) == 2, "yes, and a year that no passage gives"
    shown = " ".join(exemplar.model_dump_json() for exemplar in exemplars)
    assert not [question.id for question in toy.questions() if question.question in shown]
    assert not [passage.id for passage in toy.passages() if passage.text in shown]


def test_without_retrieval_six_examples_then_the_question() -> None:
    with Scripted([path(" 25 August 1963 ", "Cahn directed it. He died then.")]) as model:
        answer = ChainOfThought(model=Accounted(model)).answer(QUESTION)
    assert (answer.text, answer.sentence) == ("25 August 1963", "Cahn directed it. He died then.")
    assert (answer.steps, len(answer.ranking), answer.usage.calls) == ((), 0, 1)
    assert answer.ending == "the reasoning came to an answer"
    [prompt] = model.prompts
    assert (prompt.user, prompt.temperature) == (f"Question: {QUESTION}", 0.0)
    assert prompt.system.count("Example question:") == 6
    assert "Example passages" not in prompt.system
    replies = [line for line in prompt.system.splitlines() if line.startswith("Example reply: ")]
    fields = [sorted(json.loads(line.removeprefix("Example reply: "))) for line in replies]
    assert fields == [["answer", "reasoning"]] * 6, "example replies are what is asked for"


def test_zero_plus_few_shot_cues_examples_and_question() -> None:
    with Scripted([path("x")]) as model:
        ChainOfThought(model=model, step_by_step=True).answer(QUESTION)
    [prompt] = model.prompts
    assert prompt.user == f"Question: {QUESTION}\n{STEP_BY_STEP}"
    assert prompt.system.count(f"\n{STEP_BY_STEP}\nExample reply:") == 6


@pytest.mark.parametrize("said", ["", None, "  ", "..."])
def test_not_to_know_is_no_answer(said: str | None) -> None:
    with Scripted([path(said, "Nobody knows.")]) as model:
        answer = ChainOfThought(model=model).answer(QUESTION)
    assert (answer.text, answer.sentence) == ("", "Nobody knows.")
    assert answer.ending == "the reasoning came to no answer"


def test_two_passages_are_read_and_examples_have_theirs() -> None:
    table = Table({QUESTION: ["film", "director", "actor"]})
    with Scripted([path("1963")]) as model:
        answer = ChainOfThought(model=Accounted(model), retriever=table, passages=PASSAGES).answer(QUESTION)
    [step] = answer.steps
    assert (step.query, step.ranking.ids) == (QUESTION, ["film", "director"])
    assert answer.ranking == step.so_far == step.ranking
    assert (answer.text, step.usage.calls, answer.usage.calls) == ("1963", 0, 1)
    [prompt] = model.prompts
    assert prompt.user.startswith("Passages:\n[1] Laughter in Hell\n")
    assert "Pat Brien" not in prompt.user
    assert prompt.system.count("Example passages:") == 6


VOTED_QUESTION = "On which lake lies Milwaukee?"


def agent(model: LanguageModel, paths: int = 5) -> ChainOfThought:
    return ChainOfThought(model=Accounted(model), paths=paths, temperature=0.7)


def vote_among(*answers: str) -> Vote:
    return vote([ReadAnswer(answer, f"Path {number}.") for number, answer in enumerate(answers, 1)])


def test_five_samples_of_one_prompt_and_the_majority() -> None:
    replies = [path("Superior", "a"), path("Lake Michigan", "b"), path("Huron"), path("lake Michigan."), path("")]
    with Scripted(replies) as model:
        answer = agent(model).answer(VOTED_QUESTION)
    assert (answer.text, answer.sentence) == ("Lake Michigan", "b"), "as the first of its paths has it"
    assert (answer.ending, answer.usage.calls) == ("2 of 5 paths came to this answer", 5)
    sampled = [(prompt.sample, prompt.temperature, prompt.seed) for prompt in model.prompts]
    assert sampled == [(number, 0.7, 0) for number in range(5)]
    assert len({(prompt.system, prompt.user) for prompt in model.prompts}) == 1


def test_a_path_that_cannot_be_used_is_reported_and_has_no_vote() -> None:
    with Scripted([path("A"), "no", path("B"), path("B"), path("A"), "no"]) as model:
        answer = agent(model).answer(VOTED_QUESTION)
    assert (answer.text, answer.usage.calls) == ("A", 6), "two votes each: the first given wins"
    assert answer.ending.startswith("2 of 5 paths came to this answer; The model's reply"), answer.ending


def test_over_a_retriever_all_paths_read_the_same() -> None:
    table = Table({VOTED_QUESTION: ["city", "lake"]})
    several = {"paths": 3, "temperature": 0.7}
    with Scripted([path("Lake Michigan")] * 3) as model:
        answer = ChainOfThought(model=model, retriever=table, passages=PASSAGES, **several).answer(VOTED_QUESTION)
    assert table.asked == [VOTED_QUESTION]
    assert all("Milwaukee lies in Wisconsin" in prompt.user for prompt in model.prompts)
    assert answer.ranking.ids == ["city", "lake"]
    with pytest.raises(BadInputError, match="paths is 0: it must be 1 or more"):
        agent(Scripted([]), 0).answer(VOTED_QUESTION)


@pytest.mark.parametrize(
    ("answers", "winner", "votes"),
    [
        (["A", "B", "B", "A", "C"], ReadAnswer("A", "Path 1."), 2),  # ties go to the answer given first
        (["C", "B", "A", "A", "B"], ReadAnswer("B", "Path 2."), 2),
        (["", "", "", "A"], ReadAnswer("A", "Path 4."), 1),  # empty answers do not vote
        (["", ""], ReadAnswer("", "Path 1."), 0),
        ([], ReadAnswer(), 0),
        (["Danube", "the Rhine", "Rhine.", "RHINE"], ReadAnswer("the Rhine", "Path 2."), 3),
        (["B", "A", "a", "The The", "the the"], ReadAnswer("A", "Path 2."), 2),  # articles alone are answers
    ],
)
def test_votes(answers: list[str], winner: ReadAnswer, votes: int) -> None:
    assert vote_among(*answers) == Vote(winner, votes)


@given(st.lists(st.sampled_from(["A", "the A", "B", "b.", "", "C"]), max_size=9))
def test_the_winner_has_the_most_votes_of_all(answers: list[str]) -> None:
    winner = vote_among(*answers)
    keys = [vote_key(answer) for answer in answers if answer]
    assert winner.votes == max((keys.count(key) for key in keys), default=0)
    if keys:
        best = [key for key in keys if keys.count(key) == winner.votes]
        assert vote_key(winner.path.text) == best[0]


def test_the_question_alone_is_asked() -> None:
    with Scripted([final(" Edward Cahn ")]) as model:
        answer = ClosedBook(model=Accounted(model)).answer(QUESTION)
    assert (answer.text, answer.sentence) == ("Edward Cahn", "It is  Edward Cahn .")
    assert (answer.steps, len(answer.ranking), answer.usage.calls) == ((), 0, 1)
    assert answer.ending == "no passages were asked for"
    [prompt] = model.prompts
    assert (prompt.template, prompt.user) == ("closed_book", f"Question: {QUESTION}")
    assert "at most six words" in prompt.system


@pytest.mark.parametrize("said", ["", "I do not know"])
def test_to_know_nothing_alone_is_no_answer(said: str) -> None:
    with Scripted([reply(found=False, answer=said, sentence=said)]) as model:
        assert ClosedBook(model=model).answer(QUESTION).text == ""


def test_a_reply_alone_that_cannot_be_used_is_reported() -> None:
    with Scripted(["no", "no"]) as model:
        answer = ClosedBook(model=Accounted(model)).answer(QUESTION)
    assert (answer.text, answer.usage.calls) == ("", 2)
    assert answer.ending.startswith("no passages were asked for; "), answer.ending


GIVEN: Retriever = FixedRanking({"Who?": ["z", "a", "m"], "Nobody?": []})


def test_the_order_given_is_kept() -> None:
    assert GIVEN.retrieve("Who?").ids == ["z", "a", "m"]
    assert GIVEN.retrieve(" Who? ") == GIVEN.retrieve("Who?")
    assert GIVEN.retrieve("Who?", 2) == GIVEN.retrieve("Who?").top(2)


@pytest.mark.parametrize("query", ["Where?", "who?", "", "Nobody?"])
def test_a_question_without_passages_is_an_error(query: str) -> None:
    with pytest.raises(BadInputError, match=f"No passages are listed for the question {re.escape(repr(query))}"):
        GIVEN.retrieve(query)
