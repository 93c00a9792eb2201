"""What a person sees of an agent's steps and of its answer."""

import io

from rich.console import Console

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.serve.cli.answer_display import draw_answer, draw_step
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


def test_a_note_is_shown_with_its_fact() -> None:
    span = Span(passage_id="film", start=0, end=16, text="Laughter in Hell")
    fact = Evidence(
        triple=Triple("Laughter in Hell", "directed by", "Edward Cahn"), span=span, note="#1 [x] = Edward Cahn: Who?"
    )
    console = Console(file=io.StringIO(), width=160, highlight=False)
    answer = Answer(question="Who?", text="Edward Cahn", ranking=RANKING, evidence=(fact, Evidence(triple=fact.triple)))
    draw_answer(console, answer, PASSAGES, k=1)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert '      [1] "Laughter in Hell"\n      for #1 [x] = Edward Cahn: Who?\n' in shown
    assert shown.count("      for ") == 1
