"""How sure a model is: token probabilities, and agreement where there are none."""

import json
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import Completion, TokenLogProbability, Usage
from triplebeam.methods.ge_reasoning.sub_answer import SubAnswers, Thresholds, agreement, find_smallest_probability
from triplebeam.testing.scripted import Scripted

PROBABILITY, AGREEMENT = Thresholds(0.5, 0.5), Thresholds(0.8, 0.6)


def tokens(*pairs: tuple[str, float]) -> tuple[TokenLogProbability, ...]:
    return tuple(TokenLogProbability(token, math.log(probability)) for token, probability in pairs)


class TestSmallestProbability:
    SAID_TWICE = (('{"sentence": "By ', 0.1), ("Edward", 0.7), (" Cahn", 0.4), ('.", "answer": "', 0.2))
    SAID_TWICE += (("Edward", 0.99), (" Cahn", 0.98), ('"}', 0.3))

    @pytest.mark.parametrize(
        ("said", "answer", "smallest"),
        [
            pytest.param(SAID_TWICE, "Edward Cahn", 0.4, id="where the answer is first written"),
            pytest.param(
                (("In 1963", 0.1), (", on ", 0.9), ("19", 0.6), (".", 0.2)), "19", 0.6, id="no part of a word"
            ),
            pytest.param(((' "Ca', 0.3), ("hn", 0.9), ('"', 0.1)), "Cahn", 0.3, id="a token that reaches over it"),
            pytest.param((('{"answer": "', 0.1), ("Toruń", 0.8), ('"}', 0.1)), "Toruń", 0.8, id="letters"),
            pytest.param((('{"answer": "', 0.1), ("Toru\\u0144", 0.8), ('"}', 0.1)), "Toruń", 0.8, id="escapes"),
            pytest.param((("{answer: ", 0.2), ("Cahn", 0.9)), "Edward Cahn", 0.2, id="not found: all tokens"),
            pytest.param((('{"answer": ""}', 1.0),), " ", 0.0, id="no answer is never sure"),
        ],
    )
    def test_it_is_taken_from_the_tokens_of_the_answer(
        self, said: tuple[tuple[str, float], ...], answer: str, smallest: float
    ) -> None:
        assert find_smallest_probability(tokens(*said), answer) == pytest.approx(smallest)

    @given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6))
    def test_it_is_the_smallest_of_the_answers_own(self, probabilities: list[float]) -> None:
        words = [f"w{number}" for number in range(len(probabilities))]
        said = tokens(
            ("before ", 0.001), *zip((f" {word}" for word in words), probabilities, strict=True), (".", 0.001)
        )
        assert find_smallest_probability(said, " ".join(words)) == pytest.approx(min(probabilities))


@pytest.mark.parametrize(
    ("answers", "best", "share"),
    [
        (["Cahn", "cahn.", "Ford"], 0, 2 / 3),
        (["Ford", "the Rank Organisation", "Rank Organisation"], 1, 2 / 3),
        (["a", "b"], 0, 0.5),
        (["", "", "Cahn"], 0, 0.0),
        (["Cahn", "", "Cahn", ""], 0, 0.5),
        (["", "Cahn", "Cahn", ""], 0, 0.0),
    ],
)
def test_shares_of_agreement(answers: list[str], best: int, share: float) -> None:
    assert agreement(answers) == (best, pytest.approx(share))


def say(answer: str | None, used: object = ()) -> str:
    return json.dumps({"sentence": f"It is {answer}.", "answer": answer, "used": used})


class TestSubAnswers:
    def ask(self, model: Scripted) -> Any:
        answers = SubAnswers(model=model, by_probability=PROBABILITY, by_agreement=AGREEMENT, samples=5)
        return answers.answer("q", [], "(none)", "who?", 0)

    def test_one_call_where_there_are_log_probabilities(self) -> None:
        text = say("Cahn")
        pieces = tokens(*((piece, 0.7 if piece == "Cahn" else 1.0) for piece in re.findall(r"\w+|\W+", text)))
        with Scripted([Completion(text=text, log_probabilities=pieces)]) as model:
            answer, confidence = self.ask(model)
        assert (answer.answer, str(confidence)) == ("Cahn", "smallest token probability 0.70")
        assert confidence.thresholds is PROBABILITY
        assert [prompt.log_probabilities for prompt in model.prompts] == [True]
        assert [prompt.temperature for prompt in model.prompts] == [0.6]

    def test_several_samples_where_there_are_none(self) -> None:
        with Scripted([say("Ford"), say("Cahn", [2]), say("the Cahn"), say(None), say("CAHN")]) as model:
            answer, confidence = self.ask(model)
        assert (answer.answer, answer.used) == ("Cahn", (2,))
        assert str(confidence) == "agreement of 5 samples 0.60"
        assert confidence.thresholds is AGREEMENT
        assert [prompt.sample for prompt in model.prompts] == [0, 1, 2, 3, 4]

    def test_a_reply_that_cannot_be_used_agrees_with_nothing(self) -> None:
        bad = Completion(text="Cahn", usage=Usage(calls=1))
        with account() as spent, Scripted([bad, bad, say("Cahn"), bad, bad, bad, bad, bad, bad]) as model:
            answer, confidence = self.ask(model)
        assert (answer.answer, confidence.value, len(spent.problems)) == ("", 0.0, 4)

    @pytest.mark.parametrize(
        ("used", "numbers"), [([1, 3], (1, 3)), (["2"], (2,)), ("facts 1 and 2", (1, 2)), (None, ()), ("none", ())]
    )
    def test_numbers_of_facts_in_any_form(self, used: object, numbers: tuple[int, ...]) -> None:
        with Scripted([say("Cahn", used)] * 5) as model:
            assert self.ask(model)[0].used == numbers

    @pytest.mark.parametrize("written", ["The answer is: Cahn", "Answer: Cahn", " Cahn\n"])
    def test_an_answer_without_its_preface(self, written: str) -> None:
        with Scripted([say(written)] * 5) as model:
            assert self.ask(model)[0].answer == "Cahn"
