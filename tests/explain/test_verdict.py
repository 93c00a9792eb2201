"""How far an answer can be relied on, in a sentence."""

from dataclasses import replace

import pytest

from triplebeam.answer import Answer, Evidence, Span
from triplebeam.explain.verdict import verdict
from triplebeam.triple import Triple

TRIPLE = Triple("Hollywood", "is in", "California")
QUOTED = Evidence(triple=TRIPLE, span=Span(passage_id="a", start=0, end=9, text="Hollywood"))
UNQUOTED = Evidence(triple=TRIPLE)
KNOWN = Evidence(triple=TRIPLE, from_memory=True)
ANSWER = Answer(question="Where?", text="California", evidence=(QUOTED,))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ANSWER, "Every fact is quoted from your documents."),
        (replace(ANSWER, text=""), "Not in your documents."),
        (replace(ANSWER, text="", failure="The model's reply is empty: ask again."), "The model's reply is empty"),
        (replace(ANSWER, outcome="guess"), "This is a guess: your documents do not say it."),
        (replace(ANSWER, evidence=()), "No fact was quoted for it"),
        (replace(ANSWER, text="Texas"), "The facts found do not state this answer"),
        (replace(ANSWER, loop_text="Nevada"), "The facts found do not state this answer"),
        (replace(ANSWER, evidence=(QUOTED, UNQUOTED, KNOWN)), "Not every fact was found in a passage"),
        (replace(ANSWER, evidence=(QUOTED, KNOWN)), "Part of it is the model's own knowledge; the rest is quoted"),
    ],
)
def test_the_sentence_for_an_answer(answer: Answer, said: str) -> None:
    assert verdict(answer).startswith(said)
