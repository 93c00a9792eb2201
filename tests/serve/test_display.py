"""What a person sees of passages, of an agent's steps and answer, and of progress, with honest units."""

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
from triplebeam.serve.cli.output import Output, progress_lines, shown_progress
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


def draw_plain(text: str, **options: bool) -> str:
    return draw(lambda console: draw_text(console, text, **options), width=200)


def step_lines(step: Step) -> list[str]:
    return draw(lambda console: draw_step(console, step, PASSAGES)).splitlines()


def draw_one(answer: Answer) -> str:
    return draw(lambda console: draw_answer(console, answer, PASSAGES, k=1))


def test_a_paragraph_is_filled_and_code_keeps_its_lines() -> None:
    wrapped = "A paragraph that somebody wrapped at some width,\nwhich has nothing to do with that of the terminal."
    first, second = draw_plain(f"{wrapped[:48]} {wrapped[:48]}\n{wrapped[49:]}").splitlines()
    assert first.startswith("    A paragraph that")
    assert second.startswith("    ")
    assert len(first) <= 100
    assert [len(line.strip()) for line in draw_plain("河" * 100).splitlines()] == [48, 48, 4]  # two columns each
    code = "for part in core report; do\n    make $part\ndone"
    assert draw_plain(f"Build it:\n\n{code}", spaced=True) == (
        "    Build it:\n\n    for part in core report; do\n        make $part\n    done\n"
    )


def test_what_matches_is_bold() -> None:
    file = StringIO()
    draw_text(Console(file=file, force_terminal=True, color_system="standard"), "The river Oder", [(4, 9)])
    assert "\x1b[1mriver\x1b[0m" in file.getvalue()


@pytest.mark.parametrize("console", ["console", "notes"])
def test_commands_to_the_terminal_in_a_text_are_shown_and_not_obeyed(console: str) -> None:
    screen: Console = getattr(Output(), console)
    screen.file = StringIO()
    hostile = "a\x1b[2J\x1b]0;title\x07\x9b31m\u202eb\tc\nd"
    screen.print(hostile, Text(hostile), f"[bold]{escape(hostile)}[/bold]", Table(hostile), Panel(hostile))
    draw_text(screen, hostile)
    assert not set(screen.file.getvalue()) & set("\x1b\x07\x9b\u202e")
    assert "a\ufffd[2J" in screen.file.getvalue()


def test_the_name_of_a_picture_in_a_text_stays_a_name() -> None:
    screen = Output().console
    screen.file = StringIO()
    screen.print("[bold]press :key:[/bold]")
    assert screen.file.getvalue() == "press :key:\n"


def test_styles_of_our_own_are_commands_still() -> None:
    file = StringIO()
    type(Output().console)(file=file, force_terminal=True, color_system="standard").print("[bold]a\x1bb[/bold]")
    assert file.getvalue() == "\x1b[1ma\ufffdb\x1b[0m\n"


def test_every_line_of_a_thought_is_under_the_first() -> None:
    thought = "name: #1 = Cahn\n(Hell; [film] director; name: #1 = Cahn)"
    assert step_lines(Step(number=2, query="Who [bold]?", thought=thought))[:3] == [
        "Step 2  Who [bold]?",
        "    thought  name: #1 = Cahn",
        "             (Hell; [film] director; name: #1 = Cahn)",
    ]


def test_only_a_search_finds_something() -> None:
    assert "    found    Laughter [in] Hell" in step_lines(Step(number=1, query="Who?", ranking=RANKING))
    assert not any("found" in line for line in step_lines(Step(number=1, query="Who?")))


def test_a_fact_has_its_quotation_where_it_is_and_its_note() -> None:
    noted = replace(FACT, note="#1 [x] = Edward Cahn: Who?")
    text = draw_one(replace(ANSWER, evidence=(noted, Evidence(triple=FACT.triple))))
    assert "     “Laughter in Hell”\n     [1] Laughter [in] Hell\n     for #1 [x] = Edward Cahn: Who?\n" in text
    assert text.count("     for ") == 1
    assert text.count("     no passage was found that says it\n") == 1


def test_what_the_model_knows_is_marked_in_steps_and_answers() -> None:
    known = Evidence(triple=Triple("Hollywood", "is in", "California"), from_memory=True)
    lines = step_lines(Step(number=1, query="Who?", facts=(FACT, known)))
    assert "    read     Laughter in Hell ─ directed by → Edward Cahn  (Laughter [in] Hell)" in lines
    assert lines[2].endswith("California  (the model's own knowledge: no document says it)")
    text = draw_one(replace(ANSWER, evidence=(FACT, known)))
    assert "     the model's own knowledge: no document says it\n" in text
    assert "Part of it is the model's own knowledge" in text


def test_other_answers_a_guess_and_what_is_not_in_the_documents() -> None:
    text = draw_one(replace(ANSWER, others=("E. Cahn [jr.]", "Ed Cahn")))
    assert text.startswith("\nEdward Cahn\nOther answers that fit: E. Cahn [jr.]; Ed Cahn\n✔ Every fact is quoted")
    missing = "No document says where he was born."
    guess = draw_one(replace(ANSWER, text="Rome", outcome="guess", missing=(missing,)))
    assert guess.startswith("\nA guess: Rome\nThis is a guess: your documents do not say it.\n\nWhat was found\n")
    assert f"\nWhat is missing\n  {missing}\n" in guess
    none = draw_one(replace(ANSWER, text="", sentence=missing, missing=(missing,), evidence=()))
    assert none.startswith("\nNot in your documents.\n\nWhat is missing\n")
    assert none.count(missing) == 1


#: Reports of a stage, each with its second, and those after which a line is written.
LOGS: dict[str, tuple[list[tuple[float, str, int, int]], dict[float, str]]] = {
    "short work is not worth a line": ([(0, "extract", 0, 10), (0.5, "extract", 5, 10), (1.9, "extract", 10, 10)], {}),
    "a line after two seconds, then every ten, and one at the end": (
        [*((second, "extract", second, 40) for second in range(41)), (41, "extract", 40, 40)],
        {
            2: "extracting triples: 2/40 passages, 5%",
            12: "extracting triples: 12/40 passages, 30%, 0:28 left",
            22: "extracting triples: 22/40 passages, 55%, 0:18 left",
            32: "extracting triples: 32/40 passages, 80%, 0:08 left",
            40: "extracting triples: 40 passages in 0:40",
        },
    ),
    "the time left is estimated from the stage itself": (
        [(0, "extract", 0, 10), (600, "extract", 10, 10), (601, "embed", 0, 900), (1201, "embed", 225, 900),
         (4201, "embed", 450, 900)],
        {600: "extracting triples: 10 passages in 10:00", 1201: "encoding texts: 225/900 texts, 25%",
         4201: "encoding texts: 450/900 texts, 50%, 1:40:00 left"},
    ),
    "what comes before the first result says nothing about the pace": (
        [(0, "extract", 0, 2000), (40, "extract", 8, 2000), (51, "extract", 96, 2000)],
        {40: "extracting triples: 8/2,000 passages, 0%", 51: "extracting triples: 96/2,000 passages, 5%, 3:58 left"},
    ),
    "parts of different kinds have no pace": (
        [(second, "publish", second, 100) for second in (0, 5, 15)],
        {5: "writing the index: 5/100 parts, 5%", 15: "writing the index: 15/100 parts, 15%"},
    ),
    "work that was there before says nothing about the pace": (
        [(0, "encoding tokens", 900, 1000), (30, "encoding tokens", 925, 1000), (60, "encoding tokens", 950, 1000)],
        {30: "encoding tokens: 925/1,000 passages, 92%",
         60: "encoding tokens: 950/1,000 passages, 95%, 1:00 left"},
    ),
    "reading has no share before its end is known": (
        [(0, "read", 1, 0), (5, "read", 300, 0), (9, "read", 363, 363)],
        {5: "reading documents: 300 documents", 9: "reading documents: 363 documents in 0:09"},
    ),
    "a second download is a stage of its own": (
        [(0, "download", 0, 90_000_000), (3, "download", 90_000_000, 90_000_000), (100, "download", 0, 50_000_000),
         (105, "download", 12_500_000, 50_000_000), (110, "download", 25_000_000, 50_000_000)],
        {3: "downloading: 90 MB in 0:03", 100: "downloading: 0/50 MB, 0%",
         110: "downloading: 25/50 MB, 50%, 0:10 left"},
    ),
    "nothing to do is not told": ([(60, "embed", 0, 0)], {}),
    "a stage of another name counts questions": (
        [(0, "gear:bm25", 0, 5), (1, "gear:bm25", 1, 5), (5, "gear:bm25", 3, 5)],
        {5: "gear:bm25: 3/5 questions, 60%, 0:04 left"},
    ),
}  # fmt: skip


def write_log(reports: list[tuple[float, str, int, int]]) -> dict[float, str]:
    """The lines by the seconds of their reports, with a clock that is set by hand."""
    lines: list[str] = []
    seconds, written = 0.0, {}
    progress = progress_lines(lines.append, lambda: seconds)
    for seconds, stage, done, total in reports:
        progress(stage, done, total)
        if lines:
            written[seconds] = lines.pop()
            assert lines == []
    return written


@pytest.mark.parametrize("name", LOGS)
def test_when_a_log_tells_what(name: str) -> None:
    reports, expected = LOGS[name]
    assert write_log(reports) == expected


def test_the_pace_is_that_of_the_last_minute() -> None:
    slow = [(second, "extract", second, 1160) for second in range(101)]
    fast = [(second, "extract", 100 + 10 * (second - 100), 1160) for second in (*range(101, 161), 162)]
    assert write_log([*slow, *fast])[162] == "extracting triples: 720/1,160 passages, 62%, 0:44 left"


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_sees_the_same_figures(
    quiet: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with shown_progress(quiet) as progress:
        progress("embed", 0, 1000)
        progress("embed", 500, 1000)
    assert ("500/1,000 texts, 50%" in capsys.readouterr().err) is not quiet
