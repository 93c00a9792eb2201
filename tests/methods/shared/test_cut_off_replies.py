"""Replies that end at their limit, as those of small models often do: what agents still make of them."""

import json

import pytest

from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.methods.gear.reason import LLMReader
from triplebeam.methods.shared.question_answering import AlwaysAnswerer
from triplebeam.methods.shared.replies import request_replies, request_reply
from triplebeam.passage import Passage
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

PASSAGES = {"a": Passage(id="a", title="Uranus", text="William Herschel discovered Uranus.")}
FACT = '["William Herschel", "discovered", "Uranus"]'
REASONING = "The passage says that the passage says that the passage says"


def cut(text: str) -> Completion:
    return Completion(text=text, usage=Usage(calls=1), finish_reason="length")


@pytest.mark.parametrize("end", ["", ",", ', ["William', ', ["William Herschel", "discovered"', f", {FACT}"])
def test_facts_before_the_cut_are_read_and_the_cut_is_noted(end: str) -> None:
    with Scripted([cut(f'{{"facts": [{FACT}, {FACT}{end}')]) as model, account() as spent:
        facts = LLMReader(model=model, passages=PASSAGES).read("Who discovered Uranus?", ["a"])
    assert {fact.triple for fact in facts} == {Triple("William Herschel", "discovered", "Uranus")}
    assert "was cut off at its limit of tokens" in spent.problems[0]


@pytest.mark.parametrize("text", ["", '{"facts"', '{"facts": ', "Let me think"])
def test_nothing_is_made_of_a_reply_that_says_nothing_before_the_cut(text: str) -> None:
    with Scripted([cut(text)]) as model, account() as spent:
        reader = LLMReader(model=model, passages=PASSAGES)
        assert list(reader.read("Who discovered Uranus?", ["a"])) == []
    assert spent.problems


def test_a_field_that_was_cut_is_no_answer() -> None:
    from triplebeam.methods.shared.question_answering import _AlwaysReply

    prompt = Prompt(system="", user="")
    with Scripted([cut('{"reasoning": "short", "answer": "Willi')] * 2) as model, account():
        assert request_reply(model, prompt, _AlwaysReply) is None, "half a name is not an answer"
        assert request_replies(model, [prompt], _AlwaysReply) == [None]


def test_a_reader_whose_reasoning_does_not_end_is_asked_for_the_answer_alone() -> None:
    replies = [cut(json.dumps({"reasoning": REASONING})[:-2]), '{"answer": "William Herschel"}']
    with Scripted(replies) as model, account() as spent:
        read = AlwaysAnswerer(model=model, passages=PASSAGES).answer("Who discovered Uranus?", ["a"])
    assert (read.text, read.counts) == ("William Herschel", True)
    assert PASSAGES["a"].text in model.prompts[1].user
    assert "without the reasoning" in model.prompts[1].user
    assert len(spent.problems) == 1


def test_without_passages_the_reader_is_not_shown_an_empty_list_of_them() -> None:
    with Scripted(['{"reasoning": ".", "answer": "Herschel"}'] * 2) as model:
        answerer = AlwaysAnswerer(model=model, passages=PASSAGES)
        answerer.answer("Who discovered Uranus?", [])
        answerer.answer("Who discovered Uranus?", ["a"])
    alone, with_passages = (prompt.user for prompt in model.prompts)
    assert alone == "Question: Who discovered Uranus?"
    assert with_passages.startswith("Passages:\n[1] Uranus\n")
    assert with_passages.endswith("\n\nQuestion: Who discovered Uranus?")
