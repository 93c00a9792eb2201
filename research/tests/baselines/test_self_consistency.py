"""Self-consistency: several paths, one vote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_loops import PASSAGES, Table, path
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.chain_of_thought import ChainOfThought, Vote, vote, vote_key

QUESTION = "On which lake lies Milwaukee?"


def agent(model: LanguageModel, paths: int = 5) -> ChainOfThought:
    return ChainOfThought(model=Accounted(model), paths=paths, temperature=0.7)


def voted(*answers: str) -> Vote:
    return vote([ReadAnswer(answer, f"Path {number}.") for number, answer in enumerate(answers, 1)])


class TestPaths:
    def test_five_samples_of_one_prompt_and_the_majority(self) -> None:
        replies = [path("Superior", "a"), path("Lake Michigan", "b"), path("Huron"), path("lake Michigan."), path("")]
        with Scripted(replies) as model:
            answer = agent(model).answer(QUESTION)
        assert (answer.text, answer.sentence) == ("Lake Michigan", "b"), "as the first of its paths has it"
        assert answer.ending == "2 of 5 paths came to this answer"
        assert answer.usage.calls == 5
        assert [(prompt.sample, prompt.temperature, prompt.seed) for prompt in model.prompts] == [
            (number, 0.7, 0) for number in range(5)
        ]
        assert len({(prompt.system, prompt.user) for prompt in model.prompts}) == 1

    def test_a_path_that_cannot_be_used_is_reported_and_has_no_vote(self) -> None:
        with Scripted([path("A"), "no", path("B"), path("B"), path("A"), "no"]) as model:
            answer = agent(model).answer(QUESTION)
        assert (answer.text, answer.usage.calls) == ("A", 6), "two votes each: the first given wins"
        assert answer.ending.startswith("2 of 5 paths came to this answer; The model's reply"), answer.ending

    def test_no_path_has_an_answer(self) -> None:
        with Scripted([path("", "Nobody knows.")] * 3) as model:
            answer = agent(model, 3).answer(QUESTION)
        assert (answer.text, answer.sentence, answer.ending) == ("", "Nobody knows.", "the reasoning came to no answer")

    def test_over_a_retriever_all_paths_read_the_same(self) -> None:
        table = Table({QUESTION: ["city", "lake"]})
        with Scripted([path("Lake Michigan")] * 3) as model:
            answer = ChainOfThought(model=model, retriever=table, passages=PASSAGES, paths=3, temperature=0.7).answer(
                QUESTION
            )
        assert table.asked == [QUESTION]
        assert all("Milwaukee lies in Wisconsin" in prompt.user for prompt in model.prompts)
        assert answer.ranking.ids == ["city", "lake"]

    def test_no_paths_are_refused(self) -> None:
        with pytest.raises(BadInputError, match="paths is 0: it must be 1 or more"):
            agent(Scripted([]), 0).answer(QUESTION)


class TestVote:
    def test_ties_go_to_the_answer_given_first(self) -> None:
        assert voted("A", "B", "B", "A", "C") == Vote(ReadAnswer("A", "Path 1."), 2)
        assert voted("C", "B", "A", "A", "B") == Vote(ReadAnswer("B", "Path 2."), 2)

    def test_empty_answers_do_not_vote(self) -> None:
        assert voted("", "", "", "A") == Vote(ReadAnswer("A", "Path 4."), 1)
        assert voted("", "") == Vote(ReadAnswer("", "Path 1."), 0)
        assert voted() == Vote(ReadAnswer(), 0)

    def test_spellings_of_one_answer_vote_together(self) -> None:
        assert voted("Danube", "the Rhine", "Rhine.", "RHINE").votes == 3
        assert vote_key("The Salzach!") == vote_key("salzach")
        assert vote_key("The The") == vote_key("the the") != ""
        assert vote_key("A") == "a", "an article alone may be an answer"

    @given(st.lists(st.sampled_from(["A", "the A", "B", "b.", "", "C"]), max_size=9))
    def test_the_winner_has_the_most_votes_of_all(self, answers: list[str]) -> None:
        winner = voted(*answers)
        keys = [vote_key(answer) for answer in answers if answer]
        assert winner.votes == max((keys.count(key) for key in keys), default=0)
        if keys:
            best = [key for key in keys if keys.count(key) == winner.votes]
            assert vote_key(winner.path.text) == best[0]
