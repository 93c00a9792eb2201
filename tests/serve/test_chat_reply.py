"""The text of a chat's reply: citations for each hop, and what is not in the documents said as such."""

from dataclasses import replace
from typing import Any

import pytest

from triplebeam.answer import Answer, Evidence, Span
from triplebeam.passage import Passage
from triplebeam.serve.answer_shapes import answer_json
from triplebeam.serve.http.openai_reply import Reply, reply_of_answer, reply_of_search
from triplebeam.serve.shapes import place_json
from triplebeam.triple import Triple

PASSAGES = {"cahn": Passage("cahn", "Cahn made Hell. He died in Hollywood.", "Edward Cahn", section="Life")}


def quoted(triple: Triple, text: str) -> Evidence:
    start = PASSAGES["cahn"].text.index(text)
    return Evidence(triple=triple, span=Span(passage_id="cahn", start=start, end=start + len(text), text=text))


FACTS = (
    quoted(Triple("Cahn", "made", "Hell"), "Cahn made Hell."),
    quoted(Triple("Cahn", "died in", "Hollywood"), "He died in Hollywood."),
)
SOURCES = '[1] Edward Cahn › Life: "Cahn made Hell."\n[2] Edward Cahn › Life: "He died in Hollywood."'
ANSWER = Answer(question="Where?", text="Hollywood", sentence="He died in Hollywood.", evidence=FACTS)
MISSING = "No document says where he was born."


def reply(answer: Answer) -> Reply:
    return reply_of_answer(answer, PASSAGES, answer_json(answer, PASSAGES))


def test_each_hop_is_cited_also_two_of_one_passage() -> None:
    made = reply(replace(ANSWER, evidence=(*FACTS, FACTS[0])))
    assert made.text == f"He died in Hollywood. [1][2]\n\n{SOURCES}"
    first, second = made.annotations
    assert (first["index"], first["title"], first["section"]) == (1, "Edward Cahn", "Life")
    assert second["quote"] == "He died in Hollywood."


def test_other_answers_and_the_models_own_knowledge_are_named() -> None:
    known = Evidence(triple=Triple("Hollywood", "is in", "California"), from_memory=True)
    made = reply(replace(ANSWER, others=("Los Angeles", "LA"), evidence=(*FACTS, known)))
    assert made.text.split("\n\n")[2:] == [
        "Other answers that fit: Los Angeles; LA.",
        "(Part of it is the model's own knowledge; the rest is quoted from your documents.)",
        "The model's own knowledge, not in your documents: Hollywood is in California.",
    ]


def test_a_guess_is_said_to_be_one() -> None:
    made = reply(replace(ANSWER, text="Rome", sentence="It may be Rome.", outcome="guess", missing=(MISSING,)))
    assert made.text == (
        "This is a guess: your documents do not say it. Best guess: Rome.\n\n"
        f"It may be Rome.\n{MISSING}\n\nWhat was found:\n\n{SOURCES}"
    )


def test_what_is_not_in_the_documents_is_said_once() -> None:
    made = reply(replace(ANSWER, text="", sentence=MISSING, missing=(MISSING,), evidence=()))
    assert made.text == f"Not in your documents.\n\n{MISSING}"


def test_an_answer_without_support_says_so() -> None:
    assert reply(replace(ANSWER, evidence=())).text.startswith("He died in Hollywood.\n\n(No fact was quoted for it")


def searched(question: str, *passages: Passage, **more: Any) -> str:
    shown: Any = [place_json(each) for each in passages]
    return reply_of_search({"question": question, "method": "hybrid", "passages": shown, **more}).text


@pytest.mark.parametrize("first", ["Edward Cahn", "EDWARD CAHN", "# Edward Cahn", "**Edward Cahn**"])
def test_a_title_that_the_text_begins_with_is_not_repeated(first: str) -> None:
    page = Passage("page", f"{first}\n\nHe made Hell.", "Edward Cahn")
    assert searched("Who made Hell?", PASSAGES["cahn"], page).split("\n\n", 1) == [
        "[1] Edward Cahn\nCahn made Hell. He died in Hollywood.",
        f"[2] {first}\n\nHe made Hell.",
    ]


def test_a_search_that_matches_no_word_begins_with_saying_so() -> None:
    assert searched("asdf", PASSAGES["cahn"], remark="No word of it.").startswith("No word of it.\n\n[1]")
