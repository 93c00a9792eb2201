"""What a person sees of passages, of an agent's steps and of its answer."""

from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.serve.cli.display import draw_answer, draw_step, draw_text
from triplebeam.serve.cli.output import Output
from triplebeam.triple import Triple

PASSAGES = {"film": Passage("film", "Laughter in Hell was directed by Edward Cahn.", "Laughter [in] Hell")}
RANKING = Ranking.from_scores({"film": 0.5})
SPAN = Span(passage_id="film", start=0, end=16, text="Laughter in Hell")
FACT = Evidence(triple=Triple("Laughter in Hell", "directed by", "Edward Cahn"), span=SPAN)
ANSWER = Answer(question="Who?", text="Edward Cahn", ranking=RANKING, evidence=(FACT,))


def draw(show: Callable[[Console], None], width: int = 160) -> str:
    file = StringIO()
    show(Console(file=file, width=width, highlight=False))
    return file.getvalue()


def drawn(text: str, **options: bool) -> str:
    return draw(lambda console: draw_text(console, text, **options), width=200)


def step_lines(step: Step) -> list[str]:
    return draw(lambda console: draw_step(console, step, PASSAGES)).splitlines()


def shown(answer: Answer) -> str:
    return draw(lambda console: draw_answer(console, answer, PASSAGES, k=1))


def test_a_paragraph_is_filled() -> None:
    wrapped = "A paragraph that somebody wrapped at some width,\nwhich has nothing to do with that of the terminal."
    first, second = drawn(f"{wrapped[:48]} {wrapped[:48]}\n{wrapped[49:]}").splitlines()
    assert first.startswith("    A paragraph that")
    assert second.startswith("    ")
    assert len(first) <= 100


def test_code_keeps_its_lines_and_its_indentation() -> None:
    code = "for part in core report; do\n    make $part\ndone"
    assert drawn(f"Build it:\n\n{code}", spaced=True) == (
        "    Build it:\n\n    for part in core report; do\n        make $part\n    done\n"
    )


def test_a_text_without_spaces_is_wrapped_all_the_same() -> None:
    assert [len(line.strip()) for line in drawn("河" * 100).splitlines()] == [48, 48, 4]  # two columns each


def test_what_matches_is_bold() -> None:
    console = Console(file=StringIO(), width=80, force_terminal=True, color_system="standard")
    draw_text(console, "The river Oder", [(4, 9)])
    assert isinstance(console.file, StringIO)
    assert "\x1b[1mriver\x1b[0m" in console.file.getvalue()


@pytest.mark.parametrize("console", ["console", "notes"])
def test_commands_to_the_terminal_in_a_text_are_shown_and_not_obeyed(console: str) -> None:
    screen: Console = getattr(Output(), console)
    screen.file = StringIO()
    hostile = "a\x1b[2J\x1b]0;title\x07\x9b31m\u202eb\tc\nd"
    screen.print(hostile, Text(hostile), f"[bold]{escape(hostile)}[/bold]", Table(hostile), Panel(hostile))
    draw_text(screen, hostile)
    assert not set(screen.file.getvalue()) & set("\x1b\x07\x9b\u202e")
    assert "a\ufffd[2J" in screen.file.getvalue()


def test_styles_of_our_own_are_commands_still() -> None:
    screen = type(Output().console)(file=StringIO(), force_terminal=True, color_system="standard")
    screen.print("[bold]a\x1bb[/bold]")
    assert isinstance(screen.file, StringIO)
    assert screen.file.getvalue() == "\x1b[1ma\ufffdb\x1b[0m\n"


def test_every_line_of_a_thought_is_under_the_first() -> None:
    lines = step_lines(
        Step(number=2, query="Who [bold]?", thought="name: #1 = Cahn\n(Hell; [film] director; name: #1 = Cahn)")
    )
    assert lines[:3] == [
        "Step 2  Who [bold]?",
        "    thought  name: #1 = Cahn",
        "             (Hell; [film] director; name: #1 = Cahn)",
    ]


def test_only_a_search_finds_something() -> None:
    assert "    found    Laughter [in] Hell" in step_lines(Step(number=1, query="Who?", ranking=RANKING))
    assert not any("found" in line for line in step_lines(Step(number=1, query="Who?")))


def test_a_fact_has_its_quotation_where_it_is_and_its_note() -> None:
    noted = replace(FACT, note="#1 [x] = Edward Cahn: Who?")
    text = shown(replace(ANSWER, evidence=(noted, Evidence(triple=FACT.triple))))
    assert "     “Laughter in Hell”\n     [1] Laughter [in] Hell\n     for #1 [x] = Edward Cahn: Who?\n" in text
    assert text.count("     for ") == 1
    assert text.count("     no passage was found that says it\n") == 1


def test_what_the_model_knows_is_marked_in_steps_and_answers() -> None:
    known = Evidence(triple=Triple("Hollywood", "is in", "California"), from_memory=True)
    lines = step_lines(Step(number=1, query="Who?", facts=(FACT, known)))
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
