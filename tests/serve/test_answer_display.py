"""What a person sees of an agent's steps and of its answer."""

import io
from dataclasses import replace

from rich.console import Console

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.serve.cli.display import draw_answer, draw_step
from triplebeam.triple import Triple

PASSAGES = {"film": Passage("film", "Laughter in Hell was directed by Edward Cahn.", "Laughter [in] Hell")}
RANKING = Ranking.from_scores({"film": 0.5})


def drawn(step: Step) -> list[str]:
    console = Console(file=io.StringIO(), width=160, highlight=False)
    draw_step(console, step, PASSAGES)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_every_line_of_a_thought_is_under_the_first() -> None:
    lines = drawn(
        Step(number=2, query="Who [bold]?", thought="name: #1 = Cahn\n(Hell; [film] director; name: #1 = Cahn)")
    )
    assert lines[:3] == [
        "Step 2  Who [bold]?",
        "    thought  name: #1 = Cahn",
        "             (Hell; [film] director; name: #1 = Cahn)",
    ]


def test_only_a_search_finds_something() -> None:
    assert "    found    Laughter [in] Hell" in drawn(Step(number=1, query="Who?", ranking=RANKING))
    assert not any("found" in line for line in drawn(Step(number=1, query="Who?")))


SPAN = Span(passage_id="film", start=0, end=16, text="Laughter in Hell")
FACT = Evidence(triple=Triple("Laughter in Hell", "directed by", "Edward Cahn"), span=SPAN)
ANSWER = Answer(question="Who?", text="Edward Cahn", ranking=RANKING, evidence=(FACT,))


def shown(answer: Answer) -> str:
    console = Console(file=io.StringIO(), width=160, highlight=False)
    draw_answer(console, answer, PASSAGES, k=1)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_fact_has_its_quotation_where_it_is_and_its_note() -> None:
    noted = replace(FACT, note="#1 [x] = Edward Cahn: Who?")
    text = shown(replace(ANSWER, evidence=(noted, Evidence(triple=FACT.triple))))
    assert "     “Laughter in Hell”\n     [1] Laughter [in] Hell\n     for #1 [x] = Edward Cahn: Who?\n" in text
    assert text.count("     for ") == 1
    assert text.count("     no passage was found that says it\n") == 1


def test_what_the_model_knows_is_marked_in_steps_and_answers() -> None:
    known = Evidence(triple=Triple("Hollywood", "is in", "California"), from_memory=True)
    lines = drawn(Step(number=1, query="Who?", facts=(FACT, known)))
    assert "    read     Laughter in Hell ─ directed by → Edward Cahn  (Laughter [in] Hell)" in lines
    assert lines[2].endswith("California  (the model's own knowledge: no document says it)")
    text = shown(replace(ANSWER, evidence=(FACT, known)))
    assert "     the model's own knowledge: no document says it\n" in text
    assert "Part of it is the model's own knowledge" in text


def test_other_answers_are_named() -> None:
    text = shown(replace(ANSWER, others=("E. Cahn [jr.]", "Ed Cahn")))
    assert text.startswith("\nEdward Cahn\nOther answers that fit: E. Cahn [jr.]; Ed Cahn\n✔ Every fact is quoted")


def test_a_guess_is_marked_and_what_is_missing_is_said() -> None:
    missing = "No document says where he was born."
    text = shown(replace(ANSWER, text="Rome", outcome="guess", missing=(missing,)))
    assert text.startswith("\nA guess: Rome\nThis is a guess: your documents do not say it.\n\nWhat was found\n")
    assert f"\nWhat is missing\n  {missing}\n" in text


def test_not_in_the_documents_is_a_result_of_its_own() -> None:
    missing = "No document says where he was born."
    text = shown(replace(ANSWER, text="", sentence=missing, missing=(missing,), evidence=()))
    assert text.startswith("\nNot in your documents.\n\nWhat is missing\n")
    assert text.count(missing) == 1
