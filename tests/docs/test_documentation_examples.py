"""What the documentation shows is so: its Python runs, its commands exist and print what stands below them."""

import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer import Context
from typer.main import get_command
from typer.testing import CliRunner

from docs.documentation import Block, blocks, commands, pages, prints, runs, session
from docs.obliging_endpoint import answer
from generate.loopback_endpoint import serve
from triplebeam.assemble import Method
from triplebeam.serve.cli import output
from triplebeam.serve.cli.app import app

#: Blocks that are neither run nor parsed. A new one needs a reason beside it, and a higher number here.
NOT_RUN = 2
#: Wide enough that no sentence of a command is broken, narrow enough that passages are.
COLUMNS = "200"
RUNNING = tuple(page for page in pages() if any(runs(block) for block in blocks(page)))


def test_blocks_that_are_not_run_say_why_and_are_few() -> None:
    left_out = [block for page in pages() for block in blocks(page) if block.reason]
    assert len(left_out) <= NOT_RUN, [f"{block}: {block.reason}" for block in left_out]


@pytest.mark.parametrize("page", [page for page in pages() if any(True for b in blocks(page) for _ in commands(b))])
def test_every_command_is_one_the_program_has(page: str) -> None:
    for block in blocks(page):
        for words in commands(block):
            _check_command(words, block)


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("one\ntwo\nthree\n", ["one", "…"], True),
        ("one\ntwo\nthree\n", ["one", "three"], False),
        ("score 0.31 (a)\n", ["score … (a)"], True),
        ("two\none\n", ["…", "one", "…", "two", "…"], False),
        ("something\n", [], False),
    ],
)
def test_what_is_shown_is_held_against_what_is_printed(printed: str, shown: list[str], same: bool) -> None:
    assert prints(printed, shown) is same


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("page", RUNNING)
def test_the_page_runs(
    page: str, demo_index: Path, tmp_path: Path, with_model: None, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(demo_index, tmp_path / "demo.index")
    _write(tmp_path / "docs/old.md", "# Pluto\n\nPluto was a planet until 2006.\n")
    _write(tmp_path / "docs/neptune.md", "# Neptune\n\nUrbain Le Verrier predicted Neptune.\n")
    # A page with files makes its index itself, and so does the README.
    if page != "README.md" and not any(block.title for block in blocks(page)):
        shutil.copytree(demo_index, tmp_path / "my.index")
    namespace: dict[str, object] = {"__name__": "documentation"}
    for block in filter(runs, blocks(page)):
        if block.title:
            _write(tmp_path / block.title, block.text)
        elif block.language == "python":
            exec(compile(block.text, str(block), "exec"), namespace)
        else:
            _run_session(block)
    if page == "README.md":
        printed = capsys.readouterr().out
        assert "Urbain Le Verrier predicted Neptune." in printed, "a result carries its text"


@pytest.fixture
def with_model(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder to work in, the weights, and a model that says what the demo's recordings say."""
    for name in [name for name in os.environ if name.startswith(("TRIPLEBEAM_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    # Lines of progress come by the clock, and pages do not show them.
    monkeypatch.setattr(output, "_SECONDS_TO_FIRST_LINE", math.inf)
    monkeypatch.chdir(tmp_path)
    with serve() as endpoint:
        endpoint.answer = answer
        settings = {
            "TRIPLEBEAM_HOME": str(home),
            "TRIPLEBEAM_COMPLETIONS": str(tmp_path / "completions.sqlite"),
            "TRIPLEBEAM_MODEL": "obliging",
            "TRIPLEBEAM_BASE_URL": endpoint.base_url,
            "TRIPLEBEAM_API_KEY": "none",
            "COLUMNS": COLUMNS,
            "NO_COLOR": "1",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield


def _check_command(words: list[str], block: Block) -> None:
    """Parse it, without running it, and look up the methods it names."""
    command, path = get_command(app), "triplebeam"
    while words and hasattr(command, "commands"):
        name, command, words = command.resolve_command(Context(command), words)
        path = f"{path} {name}"
    assert not hasattr(command, "commands"), f"{block}: {path} has no command {words[:1]}"
    values = command.make_context(path, list(words)).params
    methods = values.get("method") or ()
    for method in [methods] if isinstance(methods, str) else methods:
        Method.parse(method)


def _run_session(block: Block) -> None:
    for words, shown in session(block):
        assert words[0] == "triplebeam", f"{block}: only triplebeam is run, not {words[0]}"
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, f"{block}: {result.output}\n{result.exception}"
        assert prints(result.output, shown), f"{block} prints:\n{result.output}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
