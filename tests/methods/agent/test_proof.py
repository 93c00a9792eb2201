"""Answers that show their proof on any kind of document: dates, speakers, parts, premises; weak models; verdicts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from scripted_facts import agent
from scripted_facts import verdict as judge
from scripted_loops import BAD, Table, final, reply
from triplebeam.answer import Answer, AnswerPart, Evidence, Span
from triplebeam.explain.verdict import remarks, verdict
from triplebeam.generate.language_model import Completion
from triplebeam.methods.shared.reading import choose_within
from triplebeam.passage import Passage
from triplebeam.support.claim import split_statement
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

CHAT = Passage("chat", "Mira: I went to the pottery class.\nTom: I bought a kiln.", "Chat of 2024-05-03")
NEWS = Passage("news", "The mill was sold.", "Mill", metadata={"source": "The Age", "published_at": "2023-10-22"})
OLD = Passage("old", "The mill was not for sale.", "Mill", metadata={"published_at": "2021-01-02"}, section="Trade")
PASSAGES: Mapping[str, Passage] = {each.id: each for each in (CHAT, NEWS, OLD)}


def note_facts(*rows: tuple[str, int, str]) -> Completion:
    """Facts as sentences, each with the number of its passage and a quotation."""
    return reply(facts=[{"fact": fact, "triple": [], "passage": at, "quotation": words} for fact, at, words in rows])


WENT = ("Mira went to the pottery class.", 1, "I went to the pottery class.")
BOUGHT = ("Tom bought a kiln.", 1, "I bought a kiln.")
SOLD = ("The mill was sold.", 2, "The mill was sold.")
KEPT = ("The mill was not for sale.", 3, "The mill was not for sale.")


def ask(
    *replies: Completion, finds: Mapping[str, list[str]] | None = None, **parameters: Any
) -> tuple[Answer, Scripted]:
    with Scripted([*replies]) as model:
        table = Table(finds or {"q": ["chat", "news", "old"]})
        weak = {"fall_back": True, **parameters}
        return agent(model, table, Table(defaultdict(list)), passages=PASSAGES, **weak).answer("q"), model


def test_passages_and_facts_are_shown_with_section_source_date_and_speaker() -> None:
    _, model = ask(note_facts(WENT, SOLD, KEPT), judge("x", used=[1]), final("x"))
    reading, reasoning, answering = (prompt.user for prompt in model.prompts)
    for shown in (reading, answering):
        assert "[2] Mill\n(source: The Age; published_at: 2023-10-22)\nThe mill was sold." in shown
    assert "[3] Mill\n(Trade; published_at: 2021-01-02)\n" in reading
    assert "1. Mira went to the pottery class. (Chat of 2024-05-03; said by Mira)" in reasoning
    assert "3. The mill was not for sale. (Mill; Trade; published_at: 2021-01-02)" in reasoning


def test_each_part_of_an_answer_needs_a_fact() -> None:
    both = judge("the pottery class; a kiln", used=[1, 2])
    answer, _ = ask(note_facts(WENT, BOUGHT), both, final("the pottery class; a kiln"))
    assert answer.parts == (AnswerPart("the pottery class", (1,), True), AnswerPart("a kiln", (2,), True))
    assert (answer.supported, remarks(answer)) == (True, [])
    assert [(fact.date, fact.speaker) for fact in answer.evidence] == [("2024-05-03", "Mira"), ("2024-05-03", "Tom")]
    half, _ = ask(note_facts(WENT), judge("the pottery class; a kiln", used=[1]), final("the pottery class; a kiln"))
    assert not half.supported
    assert remarks(half) == ["No fact states this part: a kiln."]


def test_a_false_premise_is_an_outcome_of_its_own() -> None:
    said = "The mill was not for sale."
    answer, _ = ask(
        note_facts(KEPT), judge(used=[1], premise=said), reply(sentence=said, found=False, answer="", premise=said)
    )
    assert (answer.outcome, answer.premise, answer.text, answer.supported) == ("false_premise", said, "", True)
    assert answer.ending == "the facts contradict what the question takes for granted"


def test_a_premise_beside_an_answer_or_with_names_of_its_own_is_not_believed() -> None:
    """Small models fill in every field."""
    said = "The mill was not for sale."
    answer, _ = ask(
        note_facts(SOLD),
        judge("sold", used=[1], premise=said),
        reply(sentence="It is sold.", found=True, answer="sold", premise=said),
    )
    assert (answer.outcome, answer.premise, answer.text) == ("answered", "", "sold")
    named = "Ilse Brandt kept the mill."
    answer, _ = ask(
        note_facts(KEPT), judge(used=[1], premise=named), reply(sentence="", found=False, answer="", premise=named)
    )
    assert (answer.outcome, answer.supported) == ("false_premise", False)


def test_contradicting_facts_are_shown_with_their_dates() -> None:
    answer, _ = ask(note_facts(SOLD, KEPT), judge("sold", used=[1], contradicting=[2]), final("sold"))
    assert answer.supported
    assert answer.as_of == "2023-10-22"
    assert remarks(answer) == [
        "As of 2023-10-22; other passages contradict it.",
        "Contradicted by: The mill was not for sale. (2021-01-02)",
    ]


def test_a_fact_that_no_words_support_is_quoted_again() -> None:
    noted = note_facts(("Tom bought a kiln at the fair.", 1, "words that no passage has anywhere"))
    quoted = {
        "[Tom] bought a kiln": True,
        "[Mira] bought a kiln": False,
        "I went to the pottery class.": False,
        "words that no passage has": False,
    }
    for words, supported in quoted.items():
        again = reply(facts=[{"number": "1.", "passage": 1, "fact": words}, {"number": 7}, "nonsense"])
        answer, model = ask(noted, judge("a kiln", used=[1]), again, fall_back=False, answer_from="facts")
        assert model.prompts[2].user.endswith("Facts:\n1. Tom bought a kiln at the fair. (passage 1)")
        assert (answer.text, answer.supported, answer.usage.calls) == ("a kiln", supported, 3)
        assert answer.evidence[0].text == (words.rstrip(".") if supported else "Tom bought a kiln at the fair.")


def test_a_list_goes_on_while_a_step_brings_new_items() -> None:
    finds = {"q": ["chat"], "r": ["news"], "s": ["old"]}
    first, second = (judge("the pottery class", used=[1], more=True, query=query) for query in "rs")
    sold = note_facts(("The mill was sold.", 1, SOLD[2]))
    answer, _ = ask(note_facts(WENT), first, sold, second, final("the pottery class"), finds=finds)
    assert (len(answer.steps), answer.may_be_incomplete) == (2, True)
    assert remarks(answer) == ["The list may be incomplete: your documents may name more."]


INVENTED = [(f"Ann founded town {n}.", 1, "words that no passage has anywhere") for n in range(3)]


def test_a_weak_model_reads_the_search_once_instead() -> None:
    answer, model = ask(note_facts(*INVENTED), judge("town 1", used=[2]), final("a kiln"))
    assert answer.text == "a kiln"
    assert answer.ranking.ids == ["chat", "news", "old"]
    assert answer.ending.endswith("so the answer is read from the search for the question alone")
    assert "Facts that were noted" not in model.prompts[-1].user
    kept, _ = ask(note_facts(*INVENTED), judge("town 1", used=[2]), final("a kiln"), fall_back=False)
    assert "search for the question alone" not in kept.ending


def test_words_of_the_passage_that_do_not_state_a_fact_are_no_sign_of_a_weak_model() -> None:
    doubted = [(f"A kiln was bought for town {n}.", 1, "I bought a kiln.") for n in range(3)]
    answer, model = ask(note_facts(BOUGHT, *doubted), judge("town 1", used=[1, 3]), final("town 1"))
    assert "said by Tom" in model.prompts[1].user
    assert (answer.text, answer.supported, len(answer.evidence)) == ("town 1", False, 2)
    other = [(fact, at, "I went to the pottery class.") for fact, at, _ in doubted[:2]]
    answer, _ = ask(note_facts(*other), judge("town 1", used=[2]), final("a kiln"))
    assert "no fact that the model noted is in the passages, so the answer is read" in answer.ending


def test_a_model_that_neither_answers_nor_asks_reads_the_search_once() -> None:
    answer, _ = ask(note_facts(WENT), judge(missing="What else?"), final("a kiln"))
    assert "neither an answer nor another query, so the answer is read" in answer.ending
    assert (answer.text, answer.evidence) == ("a kiln", ())


def prove(question: str, text: str, *facts: str, loop_text: str = "") -> Answer:
    """An answer from facts that are quoted as they are."""
    spans = [Span(passage_id="p", start=0, end=len(fact), text=fact) for fact in facts]
    evidence = tuple(Evidence(triple=split_statement(each.text), span=each, statement=each.text) for each in spans)
    return Answer(question=question, text=text, evidence=evidence, loop_text=loop_text)


UNSAFE = "it does not support any form of encryption and does not use authentication by default"
NO_ENCRYPTION = "The server does not support any form of encryption."
PORTRAYAL = "Was Mira's portrayal inconsistent after the report published on October 6, 2023, or the next article?"


@pytest.mark.parametrize(
    ("question", "text", "facts", "is_supported"),
    [
        ("Who is accused?", "Sam Holm-Lund", ["The prosecution painted Holm-Lund as a thief."], True),
        ("Who is accused?", "Sam Lund", ["The prosecution painted Per Lund as a thief."], False),
        ("Which protocol?", "h2c (HTTP/2)", ["h2c is only accepted from trusted peers."], True),
        ("Why?", UNSAFE, [NO_ENCRYPTION, "It does not use authentication by default."], True),
        ("Why?", UNSAFE, [NO_ENCRYPTION], False),
        ("Where?", "the United States", ["Milwaukee is in United States."], True),
        ("Where?", "Canada", ["Milwaukee is in United States."], False),
        ("Did Mira call Tom before the concert?", "Yes", ["Mira called Tom on Monday before the concert."], True),
        ("Did the focus of his professional work change?", "Yes", ["Mira called Tom on Monday."], False),
        (PORTRAYAL, "No", ["Mira was praised in court."], True),
        ("Is the account consistent or inconsistent with the last?", "consistent", ["The last account holds."], True),
    ],
)
def test_what_facts_support(question: str, text: str, facts: list[str], is_supported: bool) -> None:
    assert prove(question, text, *facts).supported is is_supported


def test_two_answers_of_the_same_words_agree() -> None:
    facts = "The file lies in a folder that has a rogue page."
    assert prove("q", "a folder with a rogue page", facts, loop_text="rogue page in a folder that has it").agreed
    assert not prove("q", "a rogue page", facts, loop_text="a folder").agreed


def test_an_unusable_verdict_after_facts_falls_back() -> None:
    answer, _ = ask(note_facts(WENT), BAD, BAD, final("a kiln"))
    assert "a reply of the model could not be used" in answer.ending
    assert (answer.text, answer.evidence) == ("a kiln", ())


def test_a_step_reads_what_fits_and_nothing_twice() -> None:
    long = {str(n): Passage(str(n), f"{n} words {n} " * 50 * (n + 1)) for n in range(4)}
    long["same"] = Passage("same", long["0"].text)
    assert choose_within(["0", "same", "1", "2", "3"], long, 500, 1) == ["0", "1"]
    assert choose_within(["0", "same"], long, None, 1) == ["0", "same"]


def test_a_sentence_without_a_triple_is_split_into_one() -> None:
    assert split_statement("Mira went to the pottery class.") == Triple("Mira", "went to the", "pottery class")
    assert str(split_statement("Rain.")) == "Rain. is so"
    options = split_statement("The parameter `a_b` (--a-from) sets the client addresses.")
    assert options == Triple("The parameter", "`a_b` (--a-from) sets the", "client addresses")


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
