from io import StringIO

import pytest
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from triplebeam.serve.cli.display import draw_text
from triplebeam.serve.cli.output import Output


def drawn(text: str, **options: bool) -> str:
    console = Console(file=StringIO(), width=200)
    draw_text(console, text, **options)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


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
