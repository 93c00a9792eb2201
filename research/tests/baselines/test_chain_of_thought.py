"""Chain of thought: exemplars as data, with and without a retrieval, with and without the cue.

Self-consistency: several paths, one vote.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_loops import PASSAGES, Table, path
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.shared.question_answering import ReadAnswer
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

QUESTION = "When did the director of Laughter in Hell die?"


class TestExemplars:
    def test_there_are_six_each_with_sentences_and_two_passages(self) -> None:
        exemplars = load_exemplars()
        assert len(exemplars) == len({exemplar.question for exemplar in exemplars}) == 6
        assert all(len(exemplar.passage) == 2 for exemplar in exemplars)
        assert all(len(list(sentence_spans(exemplar.reasoning))) >= 2 for exemplar in exemplars)

    def test_the_reasoning_leads_to_the_answer(self) -> None:
        for exemplar in load_exemplars():
            assert exemplar.answer == "yes" or exemplar.answer in exemplar.reasoning, exemplar.question

    def test_their_first_link_is_in_the_passages_and_not_always_the_last(self) -> None:
        held = []
        for exemplar in load_exemplars():
            text = " ".join(f"{passage.title} {passage.text}" for passage in exemplar.passage)
            held.append(exemplar.answer in text)
        assert (held.count(False), len(held)) == (2, 6), "yes, and a year that no passage gives"

    def test_they_give_no_toy_answer_away(self) -> None:
        shown = " ".join(exemplar.model_dump_json() for exemplar in load_exemplars())
        assert not [question.id for question in toy.questions() if question.question in shown]
        assert not [passage.id for passage in toy.passages() if passage.text in shown]


class TestWithoutRetrieval:
    def test_six_examples_then_the_question(self) -> None:
        with Scripted([path(" 25 August 1963 ", "Cahn directed it. He died then.")]) as model:
            answer = ChainOfThought(model=Accounted(model)).answer(QUESTION)
        assert (answer.text, answer.sentence) == ("25 August 1963", "Cahn directed it. He died then.")
        assert (answer.steps, len(answer.ranking), answer.usage.calls) == ((), 0, 1)
        assert answer.ending == "the reasoning came to an answer"
        assert not answer.supported
        [prompt] = model.prompts
        assert (prompt.user, prompt.temperature) == (f"Question: {QUESTION}", 0.0)
        assert prompt.system.count("Example question:") == prompt.system.count("Example reply:") == 6
        assert "Example passages" not in prompt.system

    def test_example_replies_are_what_is_asked_for(self) -> None:
        with Scripted([path("x")]) as model:
            ChainOfThought(model=model).answer(QUESTION)
        replies = [line for line in model.prompts[0].system.splitlines() if line.startswith("Example reply: ")]
        assert [sorted(json.loads(line.removeprefix("Example reply: "))) for line in replies] == [
            ["answer", "reasoning"]
        ] * 6

    def test_zero_plus_few_shot_cues_examples_and_question(self) -> None:
        with Scripted([path("x")]) as model:
            ChainOfThought(model=model, step_by_step=True).answer(QUESTION)
        [prompt] = model.prompts
        assert prompt.user == f"Question: {QUESTION}\n{STEP_BY_STEP}"
        assert prompt.system.count(f"\n{STEP_BY_STEP}\nExample reply:") == 6

    @pytest.mark.parametrize("said", ["", None, "  ", "..."])
    def test_not_to_know_is_no_answer(self, said: str | None) -> None:
        with Scripted([path(said, "Nobody knows.")]) as model:
            answer = ChainOfThought(model=model).answer(QUESTION)
        assert (answer.text, answer.sentence) == ("", "Nobody knows.")
        assert answer.ending == "the reasoning came to no answer"

    def test_a_reply_that_cannot_be_used_is_reported(self) -> None:
        with Scripted(["no", "no"]) as model:
            answer = ChainOfThought(model=Accounted(model)).answer(QUESTION)
        assert (answer.text, answer.usage.calls) == ("", 2)
        assert answer.ending.startswith("the reasoning came to no answer; The model's reply"), answer.ending


class TestOneRetrieval:
    def test_two_passages_are_read_and_examples_have_theirs(self) -> None:
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

    def test_nothing_found_is_shown_as_nothing(self) -> None:
        with Scripted([path("1963")]) as model:
            answer = ChainOfThought(model=model, retriever=Table({QUESTION: []}), passages=PASSAGES).answer(QUESTION)
        assert "Passages:\n(none)" in model.prompts[0].user
        assert answer.text == "1963"


VOTED_QUESTION = "On which lake lies Milwaukee?"


def agent(model: LanguageModel, paths: int = 5) -> ChainOfThought:
    return ChainOfThought(model=Accounted(model), paths=paths, temperature=0.7)


def vote_among(*answers: str) -> Vote:
    return vote([ReadAnswer(answer, f"Path {number}.") for number, answer in enumerate(answers, 1)])


class TestPaths:
    def test_five_samples_of_one_prompt_and_the_majority(self) -> None:
        replies = [path("Superior", "a"), path("Lake Michigan", "b"), path("Huron"), path("lake Michigan."), path("")]
        with Scripted(replies) as model:
            answer = agent(model).answer(VOTED_QUESTION)
        assert (answer.text, answer.sentence) == ("Lake Michigan", "b"), "as the first of its paths has it"
        assert answer.ending == "2 of 5 paths came to this answer"
        assert answer.usage.calls == 5
        assert [(prompt.sample, prompt.temperature, prompt.seed) for prompt in model.prompts] == [
            (number, 0.7, 0) for number in range(5)
        ]
        assert len({(prompt.system, prompt.user) for prompt in model.prompts}) == 1

    def test_a_path_that_cannot_be_used_is_reported_and_has_no_vote(self) -> None:
        with Scripted([path("A"), "no", path("B"), path("B"), path("A"), "no"]) as model:
            answer = agent(model).answer(VOTED_QUESTION)
        assert (answer.text, answer.usage.calls) == ("A", 6), "two votes each: the first given wins"
        assert answer.ending.startswith("2 of 5 paths came to this answer; The model's reply"), answer.ending

    def test_no_path_has_an_answer(self) -> None:
        with Scripted([path("", "Nobody knows.")] * 3) as model:
            answer = agent(model, 3).answer(VOTED_QUESTION)
        assert (answer.text, answer.sentence, answer.ending) == ("", "Nobody knows.", "the reasoning came to no answer")

    def test_over_a_retriever_all_paths_read_the_same(self) -> None:
        table = Table({VOTED_QUESTION: ["city", "lake"]})
        with Scripted([path("Lake Michigan")] * 3) as model:
            answer = ChainOfThought(model=model, retriever=table, passages=PASSAGES, paths=3, temperature=0.7).answer(
                VOTED_QUESTION
            )
        assert table.asked == [VOTED_QUESTION]
        assert all("Milwaukee lies in Wisconsin" in prompt.user for prompt in model.prompts)
        assert answer.ranking.ids == ["city", "lake"]

    def test_no_paths_are_refused(self) -> None:
        with pytest.raises(BadInputError, match="paths is 0: it must be 1 or more"):
            agent(Scripted([]), 0).answer(VOTED_QUESTION)


class TestVote:
    def test_ties_go_to_the_answer_given_first(self) -> None:
        assert vote_among("A", "B", "B", "A", "C") == Vote(ReadAnswer("A", "Path 1."), 2)
        assert vote_among("C", "B", "A", "A", "B") == Vote(ReadAnswer("B", "Path 2."), 2)

    def test_empty_answers_do_not_vote(self) -> None:
        assert vote_among("", "", "", "A") == Vote(ReadAnswer("A", "Path 4."), 1)
        assert vote_among("", "") == Vote(ReadAnswer("", "Path 1."), 0)
        assert vote_among() == Vote(ReadAnswer(), 0)

    def test_spellings_of_one_answer_vote_together(self) -> None:
        assert vote_among("Danube", "the Rhine", "Rhine.", "RHINE").votes == 3
        assert vote_key("The Salzach!") == vote_key("salzach")
        assert vote_key("The The") == vote_key("the the") != ""
        assert vote_key("A") == "a", "an article alone may be an answer"

    @given(st.lists(st.sampled_from(["A", "the A", "B", "b.", "", "C"]), max_size=9))
    def test_the_winner_has_the_most_votes_of_all(self, answers: list[str]) -> None:
        winner = vote_among(*answers)
        keys = [vote_key(answer) for answer in answers if answer]
        assert winner.votes == max((keys.count(key) for key in keys), default=0)
        if keys:
            best = [key for key in keys if keys.count(key) == winner.votes]
            assert vote_key(winner.path.text) == best[0]
