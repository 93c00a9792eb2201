"""What can go wrong on the command line: one line that says what to do, and exit code 2."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

from embed.tiny_model import random_weights
from journeys.command_line import Quick, environment, triplebeam
from patience import SECONDS
from triplebeam.errors import IndexMissingError
from triplebeam.serve import cli
from triplebeam.serve.cli.app import COMMANDS, app, load_command


def expect_refusal(outcome: tuple[int, str, str]) -> str:
    code, stdout, message = outcome
    assert (code, stdout) == (2, "")
    (said,) = [line for line in message.splitlines() if not line.startswith(("Reading ", "skipped: "))]
    return said


#: What is typed after `triplebeam`, and words of what is said to it.
REFUSED = {
    "plan docs/": "there is no command plan: use `triplebeam index INDEX SOURCE… --extractor llm --dry-run`.",
    "triples small.index": "there is no command triples: use `triplebeam show INDEX --triples`.",
    "train gnn_ret": "there is no command train: use `triplebeam research train`.",
    "search no.index why?": "there is no index at no.index: make one with `triplebeam index",
    "search small why?": "did you mean small.index?",
    "search small.indx why?": "did you mean small.index?",
    "search small.index why? --embedder ./other": "use `--embedder",
    "bench small.index nile.jsonl -m bm25 -m densse": "did you mean 'dense'?",
    "bench small.index amazon.jsonl": "'amazon'",
    "index new.index": "there is no SOURCE: name the index, then files or folders, as in `triplebeam index",
    "remove small.index elbee": "there is no document 'elbee' in the index (did you mean 'elbe'?)",
    "remove small.index nile rhine": "there is no document 'rhine' in the index, which has 3, such as 'elbe'.",
    "remove no.index nile": "there is no index at no.index",
    "show small.index elb --triples": "there is no document 'elb' in the index (did you mean 'elbe'?)",
    "show small.index --about Niles --triples": "no triple has the entity 'Niles' (did you mean 'Nile'?)",
    "show small.index elb#l": "there is no passage or document 'elb#l'",
    "show small.index elbee": "did you mean 'elbe'",
    "sync my.index dosc": "there is no file or folder 'dosc'",
    "status no.index": "there is no index at no.index: make one with `triplebeam index",
    "index new.index gone/ --embedder MODEL": "'gone'",
    "index new.index empty --embedder MODEL --extractor none": "nothing could be read",
    "index new.index blank.txt --embedder MODEL --extractor none": "there is no text in it",
    "index here blank.txt --embedder MODEL --extractor none": "there is no text in it",
    "index rivers.jsonl rivers.jsonl --embedder MODEL --extractor none": "there can be no index at rivers.jsonl",
    "index rivers.jsonl/my.index rivers.jsonl --embedder MODEL --extractor none": "no index at rivers.jsonl/my.index",
    "index small.index rivers.jsonl --triples triples.jsonl --extractor none": "--extractor and --triples",
    "index small.index rivers.jsonl --extractor loacl --embedder MODEL": "did you mean 'local'?",
    "index small.index rivers.jsonl --triples broken.jsonl --embedder MODEL": "broken.jsonl, line 1",
}


def test_what_cannot_be_done_is_one_line(quick: Quick, fresh_index: Path, tiny_model: str) -> None:
    for name in ("empty", "here"):
        Path(name).mkdir()
    shutil.copytree(tiny_model, "other")
    save_file({name: 2 * weights for name, weights in random_weights().items()}, "other/model.safetensors")
    Path("blank.txt").write_text(" ", encoding="utf-8")
    Path("broken.jsonl").write_text('{"passage_id": "elbe"}\n', encoding="utf-8")
    for gold in ("nile", "amazon"):
        Path(f"{gold}.jsonl").write_text(f'{{"id": "q", "question": "river?", "gold": ["{gold}"]}}', encoding="utf-8")
    for typed, message in REFUSED.items():
        assert message in expect_refusal(quick(*typed.replace("MODEL", tiny_model).split())), typed
    assert "3 documents" in quick("status", fresh_index)[1], "nothing was removed"
    assert not Path("new.index").exists()
    assert list(Path("here").iterdir()) == []


def test_the_embedder_of_an_index_is_its_default_and_found_from_elsewhere(
    quick: Quick, tiny_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_model, "model")
    for name, options in (("a", ("--embedder", "./model")), ("more", ())):
        Path(f"{name}.jsonl").write_text(f'{{"id": "{name}", "text": "the river {name}"}}', encoding="utf-8")
        assert quick("index", "a.index", f"{name}.jsonl", "--extractor", "none", *options)[0] == 0
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert quick("search", "../a.index", "river", "--json")[0] == 0


def test_no_weights_and_nothing_may_be_fetched(
    quick: Quick, small_index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRIPLEBEAM_HOME", str(tmp_path / "no models"))
    for command in (["index", "new.index", "rivers.jsonl"], ["demo"], ["doctor", "--install"]):
        message = expect_refusal(quick(*command, "--offline"))
        assert "downloads are turned off" in message
        assert "triplebeam doctor --install" in message


@pytest.mark.parametrize("damaged", ["generations/*/passage_texts.utf8", "manifest.json"])
def test_a_damaged_index_says_how_to_repair_it_and_can_be(
    quick: Quick, fresh_index: Path, tiny_model: str, damaged: str
) -> None:
    before = quick("search", fresh_index, "river", "--json")
    next(fresh_index.glob(damaged)).write_text('{"format": 1', encoding="utf-8")
    for command in (["search", fresh_index, "river"], ["status", fresh_index]):
        assert "run `triplebeam index` on the same sources again" in expect_refusal(quick(*command))
    code, _, _ = quick("index", fresh_index, "rivers.jsonl", "--triples", "triples.jsonl", "--embedder", tiny_model)
    assert code == 0
    assert quick("search", fresh_index, "river", "--json") == before


@pytest.mark.parametrize("typed", ["status no.index", "search no.index -- --debug"])
def test_main_writes_one_line_and_leaves_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["triplebeam", *typed.split()])
    with pytest.raises(SystemExit) as left:
        cli.main()
    captured = capsys.readouterr()
    assert (left.value.code, captured.out) == (2, "")
    assert captured.err.startswith("triplebeam: there is no index at no.index")
    assert captured.err.count("\n") == 1


def test_ctrl_c_while_settings_are_loaded_leaves_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_warn_of_variables", interrupt)
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 130


@pytest.mark.parametrize("typed", ["status no.index --debug", "--debug status no.index --debug"])
def test_debug_shows_the_traceback(quick: Quick, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr(sys, "argv", ["triplebeam", *typed.split()])
    with pytest.raises(IndexMissingError):
        cli.main()
    assert "--debug" in quick("--help")[1]


def test_an_option_without_its_value_is_what_is_wrong() -> None:
    for words, option, taken in (
        ("--method --debug river", "--method", "--debug"),
        ("--debug --method --where river", "--method", "--where"),
        ("river -k --json", "-k", "--json"),
    ):
        result = CliRunner().invoke(app, ["search", "no.index", *words.split()])
        said = " ".join(result.output.split())
        assert (result.exit_code, " search [OPTIONS] " in said) == (2, True)
        assert f"Option '{option}' needs a value, and '{taken}' is another option" in said


def test_a_reader_that_has_gone_is_no_error(small_index: Path, tmp_path: Path, home: Path) -> None:
    """As in `triplebeam search … | head`."""
    for options in ([], ["--json"]):
        process = subprocess.Popen(
            triplebeam("status", small_index, *options),
            cwd=tmp_path,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(SECONDS)) == (b"", 0)
        process.stderr.close()


def test_every_command_has_an_example(quick: Quick) -> None:
    assert len(COMMANDS) == 16
    for command in [[name] for name in COMMANDS if name != "keys"] + [["keys", "create"]]:
        code, stdout, _ = quick(*command, "--help")
        assert code == 0
        assert "Example" in stdout
        assert f"triplebeam {' '.join(command)}" in stdout
        assert "<bool>" not in stdout
    assert "<bool>" not in quick("--help")[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_has_the_first_paragraph_of_a_command_s_help(name: str) -> None:
    assert " ".join(load_command(name).help.split("\n\n")[0].split()) == COMMANDS[name]


def test_help_imports_no_command(tmp_path: Path, home: Path) -> None:
    code = "import sys, triplebeam.serve.cli as cli\ntry: cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        cwd=tmp_path, env=environment(home), capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    loaded = {module.removeprefix("triplebeam.serve.cli.") for module in done.stderr.split()}
    assert all(name in done.stdout for name in COMMANDS)
    assert not loaded & {*COMMANDS, "options", "numpy", "rich"}


def test_a_command_loads_no_part_of_numpy_that_nothing_uses() -> None:
    """SciPy looks them up while it is imported; whoever uses one has it."""
    code = """
import sys
from triplebeam.serve.cli.app import load_command
load_command("search")
import scipy.sparse, numpy
print(*(name in sys.modules for name in ("numpy.f2py.crackfortran", "unittest", "numpy.ma.core")))
print(numpy.f2py.get_include(), numpy.unique([2, 1, 2]), numpy.testing.assert_allclose(1, 1))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    first, second = done.stdout.splitlines()
    assert first == "False False False"
    assert second.endswith("[1 2] None")
