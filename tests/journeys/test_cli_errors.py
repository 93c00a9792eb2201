"""What can go wrong on the command line: one line that says what to do, and exit code 2."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

from embed.tiny_model import random_weights
from journeys.command_line import Quick, Run, environment, triplebeam
from patience import SECONDS
from triplebeam.index.folder.manifest import generation_folder, read_manifest
from triplebeam.serve import cli
from triplebeam.serve.cli.app import COMMANDS, app, load_command


def expect_refusal(outcome: tuple[int, str, str]) -> str:
    code, stdout, message = outcome
    assert (code, stdout) == (2, "")
    assert "\n" not in message.strip()
    return message


#: What is typed after `triplebeam`, and words of what is said to it.
REFUSED = {
    "search no.index why?": "there is no index at no.index: make one with `triplebeam index",
    "status no.index": "there is no index at no.index: make one with `triplebeam index",
    "index new.index gone/ --embedder MODEL": "'gone'",
    "index new.index empty --embedder MODEL --extractor none": "nothing could be read",
    "index rivers.jsonl rivers.jsonl --embedder MODEL --extractor none": "there can be no index at rivers.jsonl",
    "index rivers.jsonl/my.index rivers.jsonl --embedder MODEL --extractor none": "no index at rivers.jsonl/my.index",
    "index small.index rivers.jsonl --triples triples.jsonl --extractor none": "--extractor and --triples",
    "index small.index rivers.jsonl --extractor loacl --embedder MODEL": "did you mean 'local'?",
    "index small.index rivers.jsonl --triples broken.jsonl --embedder MODEL": "broken.jsonl, line 1",
}


def test_what_cannot_be_done_is_one_line(quick: Quick, small_index: Path, tiny_model: str) -> None:
    Path("empty").mkdir()
    Path("broken.jsonl").write_text('{"passage_id": "elbe"}\n', encoding="utf-8")
    for typed, message in REFUSED.items():
        assert message in expect_refusal(quick(*typed.replace("MODEL", tiny_model).split())), typed
    assert not Path("new.index").exists()


def test_an_index_whose_name_lacks_its_ending_or_has_another(quick: Quick, small_index: Path) -> None:
    named = small_index.rename(small_index.with_name("named.index"))
    for typed in ("named", "named.indx"):
        assert f"did you mean {named}?" in expect_refusal(quick("search", named.with_name(typed), "why?"))


def test_the_embedder_of_an_index_is_its_default_when_more_is_added(quick: Quick, small_index: Path) -> None:
    Path("more.jsonl").write_text('{"id": "ob", "text": "the river ob"}', encoding="utf-8")
    assert quick("index", small_index, "more.jsonl", "--extractor", "none")[0] == 0


def test_an_embedders_folder_is_found_from_elsewhere(
    quick: Quick, tiny_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_model, "model")
    Path("a.jsonl").write_text('{"text": "the river ob"}', encoding="utf-8")
    assert quick("index", "a.index", "a.jsonl", "--embedder", "./model", "--extractor", "none")[0] == 0
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert quick("search", "../a.index", "river", "--json")[0] == 0


def test_another_embedder_than_the_indexs(quick: Quick, small_index: Path, tiny_model: str) -> None:
    other = Path("other-model")
    shutil.copytree(tiny_model, other)
    save_file({name: 2 * weights for name, weights in random_weights().items()}, other / "model.safetensors")
    for command in (["search", small_index, "river"], ["index", small_index, "rivers.jsonl", "--extractor", "none"]):
        assert f"use `--embedder {tiny_model}`" in expect_refusal(quick(*command, "--embedder", other))


def test_no_weights_and_nothing_may_be_fetched(
    quick: Quick, small_index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRIPLEBEAM_HOME", str(tmp_path / "no models"))
    for command in (["index", "new.index", "rivers.jsonl"], ["demo"], ["doctor", "--install"]):
        message = expect_refusal(quick(*command, "--offline"))
        assert "downloads are turned off" in message
        assert "triplebeam doctor --install" in message


@pytest.mark.parametrize("damage", ["cut", "gone", "manifest"])
def test_a_damaged_index_says_how_to_repair_it_and_can_be(
    quick: Quick, small_index: Path, tiny_model: str, damage: str
) -> None:
    before = quick("search", small_index, "river", "--json")
    generation = generation_folder(small_index, read_manifest(small_index).generation)
    if damage == "cut":
        (generation / "passage_texts.utf8").write_bytes(b"the")
    elif damage == "gone":
        (generation / "triple_vectors.npy").unlink()
    else:
        (small_index / "manifest.json").write_text('{"format": 1', encoding="utf-8")
    for command in (["search", small_index, "river"], ["status", small_index]):
        assert "run `triplebeam index` on the same sources again" in expect_refusal(quick(*command))
    code, _, _ = quick("index", small_index, "rivers.jsonl", "--triples", "triples.jsonl", "--embedder", tiny_model)
    assert code == 0
    assert quick("search", small_index, "river", "--json") == before


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (['{"id": "q", "question": "river?", "gold": ["amazon"]}'], "'amazon'"),
        (["{broken"], "line 1 is not JSON"),
        ([], "holds no questions"),
        (['{"id": "q", "question": "river?", "gold": ["nile"]}'] * 2, "is already used in line 1"),
    ],
)
def test_questions_that_cannot_be_asked(quick: Quick, small_index: Path, rows: list[str], words: str) -> None:
    Path("questions.jsonl").write_text("\n".join(rows), encoding="utf-8")
    assert words in expect_refusal(quick("bench", small_index, "questions.jsonl"))


def test_a_typo_in_a_bench_costs_no_question(quick: Quick, small_index: Path) -> None:
    Path("questions.jsonl").write_text('{"id": "q", "question": "river?", "gold": ["nile"]}', encoding="utf-8")
    message = expect_refusal(quick("bench", small_index, "questions.jsonl", "-m", "bm25", "-m", "densse"))
    assert "did you mean 'dense'?" in message


def test_main_writes_one_line_and_leaves_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["triplebeam", "status", "no.index"])
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


def test_debug_shows_the_traceback(run: Run) -> None:
    plain, debug = run("status", "no.index", code=2), run("status", "no.index", "--debug", code=1)
    assert plain.stderr.count("\n") == 1
    assert "Traceback" in debug.stderr
    assert "IndexMissingError" in debug.stderr
    assert "IndexMissingError" in run("--debug", "status", "no.index", "--debug", code=1).stderr
    assert "--debug" in run("--help").stdout
    assert "no index at no.index" in run("search", "no.index", "--", "--debug", code=2).stderr


@pytest.mark.parametrize(
    ("words", "option", "taken"),
    [
        (["--method", "--debug", "river"], "--method", "--debug"),
        (["--debug", "--method", "--where", "river"], "--method", "--where"),
        (["river", "-k", "--json"], "-k", "--json"),
    ],
)
def test_an_option_without_its_value_is_what_is_wrong(words: list[str], option: str, taken: str) -> None:
    result = CliRunner().invoke(app, ["search", "no.index", *words])
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert f"Option '{option}' needs a value, and '{taken}' is another option" in said
    assert " search [OPTIONS] " in said


def test_a_reader_that_has_gone_is_no_error(small_index: Path, tmp_path: Path, home: Path) -> None:
    """As in `triplebeam search … | head`."""
    for arguments in (["status"], ["status", "--json"], ["search", "-k", "3", "--method", "bm25", "river"]):
        name, *options = arguments
        process = subprocess.Popen(
            triplebeam(name, small_index, *options),
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
print("numpy.f2py.crackfortran" in sys.modules, "unittest" in sys.modules)
print(numpy.f2py.get_include(), numpy.testing.assert_allclose(1, 1))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    first, second = done.stdout.splitlines()
    assert first == "False False"
    assert second.endswith("None")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("plan", "index INDEX SOURCE… --extractor llm --dry-run"),
        ("triples", "show INDEX --triples"),
        ("train", "research train"),
    ],
)
def test_a_name_that_is_no_command_has_a_hint(quick: Quick, name: str, instead: str) -> None:
    assert quick(name, "docs/", "--sample", "5") == (2, "", f"there is no command {name}: use `triplebeam {instead}`.")


def test_a_new_index_of_nothing_leaves_nothing(quick: Quick, tmp_path: Path, tiny_model: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "blank.txt").write_text(" ")
    (tmp_path / "here").mkdir()
    for name in ("new.index", "here"):
        code, _, said = quick("index", name, "docs", "--extractor", "none", "--embedder", tiny_model)
        assert (code, "there is no text in it" in said) == (2, True)
    assert not (tmp_path / "new.index").exists()
    assert list((tmp_path / "here").iterdir()) == []
