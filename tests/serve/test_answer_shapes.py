"""An answer as JSON and as the text of a chat's reply: citations for each hop, and what is not in the documents."""

import json
from dataclasses import replace
from typing import Any

import pytest

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.serve.answer_shapes import answer_json
from triplebeam.serve.http.openai_reply import Reply, reply_of_answer, reply_of_search
from triplebeam.serve.shapes import place_json
from triplebeam.triple import Triple

TEXT = "Laughter in Hell was directed by Edward Cahn."
PLACE = {"metadata": {"path": "docs/films.md"}, "section": "Early films"}
PASSAGES = {"film": Passage("film", TEXT, "Laughter in Hell", "films", 3, **PLACE)}  # type: ignore[arg-type]
FACT = Triple("Laughter in Hell", "directed by", "Edward Cahn")
SPAN = Span(passage_id="film", start=0, end=44, text="Laughter in Hell was directed by Edward Cahn")
RANKING = Ranking.from_scores({"film": 0.5})
ANSWER = Answer(
    question="Who directed it?",
    text="Edward Cahn",
    sentence="Edward Cahn directed it.",
    others=("Ed Cahn",),
    ranking=RANKING,
    evidence=(Evidence(triple=FACT, span=SPAN), Evidence(triple=Triple("a", "b", "c"))),
    steps=(Step(number=1, query="director", ranking=RANKING, facts=(Evidence(triple=FACT),), problems=("cut",)),),
    usage=Usage(calls=2, tokens_in=30, tokens_out=4),
    ending="answerable",
)


def test_everything_is_written() -> None:
    written = json.loads(json.dumps(answer_json(ANSWER, PASSAGES, price=0.01)))
    assert written["answer"] == "Edward Cahn"
    assert (written["outcome"], written["others"], written["missing"]) == ("answered", ["Ed Cahn"], [])
    assert written["supported"] is False
    assert written["verdict"].startswith("Not every fact was found in a passage")
    (passage,) = written["passages"]
    snippet = passage.pop("snippet")
    assert passage == {
        "id": "film",
        "title": "Laughter in Hell",
        "section": "Early films",
        "document_id": "films",
        "path": "docs/films.md",
        "position": 3,
        "score": 0.5,
        "text": TEXT,
    }
    assert snippet["text"] == TEXT
    marked = [TEXT[start:end] for start, end in snippet["highlights"]]
    assert marked == ["Laughter", "Hell", "directed", "Edward Cahn"]
    assert written["steps"][0]["facts"] == [
        {"fact": " ".join(FACT), "triple": list(FACT), "passage_id": None, "quotation": None, "from_memory": False}
    ]
    assert written["steps"][0]["passages"] == ["film"]
    assert written["steps"][0]["problems"] == ["cut"]
    assert written["usage"]["tokens_in"] == 30
    assert written["price"] == 0.01


@pytest.mark.parametrize(
    ("text", "facts_said", "supported"),
    [("Cahn", "", True), ("Cahn", "Edward Cahn", True), ("Ford", "Edward Cahn", False), ("", "", False)],
)
def test_support_is_for_the_answer_that_is_given(text: str, facts_said: str, supported: bool) -> None:
    answer = replace(ANSWER, text=text, loop_text=facts_said, evidence=ANSWER.evidence[:1])
    assert answer.supported is supported


def test_evidence_has_a_note_where_there_is_one() -> None:
    noted = Evidence(triple=FACT, span=SPAN, note="#1 = Edward Cahn: Who?")
    known = Evidence(triple=FACT, from_memory=True)
    answer = replace(ANSWER, evidence=(*ANSWER.evidence, noted, known))
    written = json.loads(json.dumps(answer_json(answer, PASSAGES)))
    assert ["note" in fact for fact in written["evidence"]] == [False, False, True, False]


def test_a_guess_and_no_answer_are_outcomes_of_their_own() -> None:
    missing = ("No document says who directed it.",)
    guess = answer_json(replace(ANSWER, outcome="guess", missing=missing), PASSAGES)
    assert (guess["outcome"], guess["answer"], guess["missing"]) == ("guess", "Edward Cahn", [*missing])
    none = answer_json(replace(ANSWER, text="", missing=missing), PASSAGES)
    assert (none["outcome"], none["answer"], none["verdict"]) == ("not_in_documents", "", "Not in your documents.")


CHAT_PASSAGES = {"cahn": Passage("cahn", "Cahn made Hell. He died in Hollywood.", "Edward Cahn", section="Life")}


def cite(triple: Triple, text: str) -> Evidence:
    start = CHAT_PASSAGES["cahn"].text.index(text)
    return Evidence(triple=triple, span=Span(passage_id="cahn", start=start, end=start + len(text), text=text))


FACTS = (
    cite(Triple("Cahn", "made", "Hell"), "Cahn made Hell."),
    cite(Triple("Cahn", "died in", "Hollywood"), "He died in Hollywood."),
)
SOURCES = '[1] Edward Cahn › Life: "Cahn made Hell."\n[2] Edward Cahn › Life: "He died in Hollywood."'
CHAT_ANSWER = Answer(question="Where?", text="Hollywood", sentence="He died in Hollywood.", evidence=FACTS)
MISSING = "No document says where he was born."


def reply(answer: Answer) -> Reply:
    return reply_of_answer(answer, CHAT_PASSAGES, answer_json(answer, CHAT_PASSAGES))


def test_each_hop_is_cited_also_two_of_one_passage() -> None:
    made = reply(replace(CHAT_ANSWER, evidence=(*FACTS, FACTS[0])))
    assert made.text == f"He died in Hollywood. [1][2]\n\n{SOURCES}"
    first, second = made.annotations
    assert (first["index"], first["title"], first["section"]) == (1, "Edward Cahn", "Life")
    assert second["quote"] == "He died in Hollywood."


def test_other_answers_and_the_models_own_knowledge_are_named() -> None:
    known = Evidence(triple=Triple("Hollywood", "is in", "California"), from_memory=True)
    made = reply(replace(CHAT_ANSWER, others=("Los Angeles", "LA"), evidence=(*FACTS, known)))
    assert made.text.split("\n\n")[2:] == [
        "Other answers that fit: Los Angeles; LA.",
        "(Part of it is the model's own knowledge; the rest is quoted from your documents.)",
        "The model's own knowledge, not in your documents: Hollywood is in California.",
    ]


def test_what_the_documents_do_not_say_is_said_once() -> None:
    made = reply(replace(CHAT_ANSWER, text="Rome", sentence="It may be Rome.", outcome="guess", missing=(MISSING,)))
    assert made.text == (
        "This is a guess: your documents do not say it. Best guess: Rome.\n\n"
        f"It may be Rome.\n{MISSING}\n\nWhat was found:\n\n{SOURCES}"
    )
    made = reply(replace(CHAT_ANSWER, text="", sentence=MISSING, missing=(MISSING,), evidence=()))
    assert made.text == f"Not in your documents.\n\n{MISSING}"
    text = reply(replace(CHAT_ANSWER, evidence=())).text
    assert text.startswith("He died in Hollywood.\n\n(No fact was quoted for it")


def search_for(question: str, *passages: Passage, **more: Any) -> str:
    shown: Any = [place_json(each) for each in passages]
    return reply_of_search({"question": question, "method": "hybrid", "passages": shown, **more}).text


@pytest.mark.parametrize("first", ["Edward Cahn", "EDWARD CAHN", "# Edward Cahn", "**Edward Cahn**"])
def test_a_title_that_the_text_begins_with_is_not_repeated(first: str) -> None:
    page = Passage("page", f"{first}\n\nHe made Hell.", "Edward Cahn")
    assert search_for("Who made Hell?", CHAT_PASSAGES["cahn"], page).split("\n\n", 1) == [
        "[1] Edward Cahn\nCahn made Hell. He died in Hollywood.",
        f"[2] {first}\n\nHe made Hell.",
    ]


def test_a_search_that_matches_no_word_begins_with_saying_so() -> None:
    assert search_for("asdf", CHAT_PASSAGES["cahn"], remark="No word of it.").startswith("No word of it.\n\n[1]")
