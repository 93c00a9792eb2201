"""The model alone."""

import json
import re

import pytest

from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.simple import ClosedBook, FixedRanking

QUESTION = "Who directed Laughter in Hell?"


def reply(text: str, *, found: bool = True) -> str:
    return json.dumps({"found": found, "answer": text, "sentence": "As far as I know."})


def test_the_question_alone_is_asked() -> None:
    with Scripted([reply(" Edward Cahn ")]) as model:
        answer = ClosedBook(model=Accounted(model)).answer(QUESTION)
    assert (answer.text, answer.sentence) == ("Edward Cahn", "As far as I know.")
    assert (answer.steps, len(answer.ranking), answer.usage.calls) == ((), 0, 1)
    assert answer.ending == "no passages were asked for"
    [prompt] = model.prompts
    assert (prompt.template, prompt.user) == ("closed_book", f"Question: {QUESTION}")
    assert "at most six words" in prompt.system


@pytest.mark.parametrize("said", ["", "I do not know"])
def test_not_to_know_is_no_answer(said: str) -> None:
    with Scripted([reply(said, found=False)]) as model:
        assert ClosedBook(model=model).answer(QUESTION).text == ""


def test_a_reply_that_cannot_be_used_is_reported() -> None:
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
