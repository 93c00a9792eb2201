from io import StringIO

from rich.console import Console

from triplebeam.serve.cli.display import draw_text


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
