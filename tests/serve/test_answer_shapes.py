"""An answer to JSON."""

import json
from dataclasses import replace

import pytest

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.serve.answer_shapes import answer_json
from triplebeam.triple import Triple

PASSAGES = {
    "film": Passage(
        "film",
        "Laughter in Hell was directed by Edward Cahn.",
        "Laughter in Hell",
        "films",
        3,
        metadata={"path": "docs/films.md"},
        section="Early films",
    )
}
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
    steps=(
        Step(
            number=1,
            query="director",
            ranking=RANKING,
            facts=(Evidence(triple=FACT),),
            thought="enough",
            problems=("cut",),
            seconds=0.25,
        ),
    ),
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
        "text": PASSAGES["film"].text,
    }
    assert snippet["text"] == PASSAGES["film"].text
    assert [snippet["text"][start:end] for start, end in snippet["highlights"]] == [
        "Laughter",
        "Hell",
        "directed",
        "Edward Cahn",
    ]
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


def test_a_price_that_is_not_known_is_left_out() -> None:
    assert "price" not in answer_json(ANSWER, PASSAGES)


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
