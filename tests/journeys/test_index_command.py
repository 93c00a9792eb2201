"""`triplebeam index` while it works: what it says first, file by file, and in the end."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from journeys.command_line import Quick
from triplebeam.serve import cli
from triplebeam.serve.cli.app import app
from triplebeam.serve.cli.build_report import not_parsed
from triplebeam.serve.cli.options import complete_ask_method, complete_extractor, complete_index, complete_search_method


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Files of several kinds: three that are read, one that is empty, two that are skipped."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "elbe.md").write_text("# Elbe\n\nThe river flows north.\n", encoding="utf-8")
    (folder / "oder.html").write_text("<p>The Oder flows north.</p>", encoding="utf-8")
    (folder / "nile.txt").write_bytes("Der Fluß fließt nach Norden.".encode("cp1252"))
    (folder / "empty.txt").touch()
    (folder / "map.png").write_bytes(b"pixels")
    (folder / "old.doc").write_bytes(b"words")
    return folder


@pytest.fixture
def index(quick: Quick, tiny_model: str, docs: Path) -> Quick:
    """Runs `triplebeam index my.index docs` without an extractor, and with options."""
    return lambda *options: quick("index", "my.index", docs, "--embedder", tiny_model, *options)


def test_what_is_skipped_is_said_before_the_work(index: Quick) -> None:
    code, stdout, stderr = index("--extractor", "none")
    assert (code, stdout) == (0, "")
    lines = stderr.splitlines()
    assert lines[:3] == [
        "Reading 4 files; skipping 2 files of other kinds:",
        "  1 .doc file: save it as .docx, .pptx or .xlsx",
        "  1 .png file: images have no text",
    ]
    assert lines[-2].startswith("skipped: ")
    assert lines[-2].endswith("empty.txt: the file is empty")
    assert lines[-1].startswith("my.index: 3 documents, 3 passages")


def test_quiet_says_what_went_wrong_and_the_result(index: Quick, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"no PDF")
    code, _, stderr = index("--extractor", "none", "--quiet")
    *lines, last = stderr.splitlines()
    assert (code, [line.split(":")[0] for line in lines]) == (1, ["not indexed", "my.index"])
    assert last == "Exit code 1, because of problems listed above: 1 not indexed."


def test_verbose_names_each_file(index: Quick, docs: Path) -> None:
    _, _, stderr = index("--extractor", "none", "--verbose")
    assert f"read: {docs}/oder.html (21 characters)" in stderr
    assert f"skipped: {docs}/map.png" in stderr
    assert f"skipped: {docs}/empty.txt: the file is empty" in stderr


def test_an_encoding_can_be_named(index: Quick, quick: Quick) -> None:
    index("--extractor", "none", "--encoding", "cp1252")
    _, found, _ = quick("search", "my.index", "Fluß", "--method", "bm25", "--json")
    assert "fließt" in str(json.loads(found))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--quiet", "--verbose"), "contradict each other"),
        (("--replace-triples",), "name an --extractor"),
        (("--retry-failed",), "leave one of them out"),
        (("--encoding", "latin-99"), "there is no encoding 'latin-99'"),
        (("--budget", "1"), "the others cost nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused(index: Quick, options: tuple[str, ...], reason: str) -> None:
    code, _, message = index(*options)
    assert (code, reason in message) == (2, True)


def test_given_triples_stay_and_status_says_who_is_next(
    quick: Quick, fresh_index: Path, tiny_model: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = json.loads(quick("status", fresh_index, "--json")[1])["triples_by_extractor"]
    assert quick("index", fresh_index, "rivers.jsonl", "--embedder", tiny_model)[0] == 0
    assert caplog.messages == ["The given triples of 2 passages stay; extracting 1 passage without any with local."]
    after = json.loads(quick("status", fresh_index, "--json")[1])
    assert before.items() <= after["triples_by_extractor"].items()
    assert after["extractor"].startswith("local:")
    assert f"{after['extractor']}, for new passages" in quick("status", fresh_index)[1]


def test_languages_that_were_not_parsed() -> None:
    assert not_parsed({"de": 1200, "xx": 1}) == [
        "1,200 passages in German were not parsed for facts: use --extractor llm.",
        "1 passage in the language 'xx' was not parsed for facts: use --extractor llm.",
    ]


def test_a_misspelt_variable_is_noticed_and_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRIPLEBEAM_MODLE", "small")
    monkeypatch.setattr(sys, "argv", ["triplebeam", "--version"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert not left.value.code
    assert capsys.readouterr().err == (
        "triplebeam: the environment variable TRIPLEBEAM_MODLE is ignored: there is no such setting (did you mean"
        " 'TRIPLEBEAM_MODEL'?).\n"
    )


def test_names_are_completed(small_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_index.parent)
    assert "--show-completion" in CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    assert complete_index("sm") == ["small.index"]
    assert complete_index("./sm") == ["./small.index"]
    assert complete_index(f"{small_index.parent}/sm") == [str(small_index)]
    assert complete_extractor("llm") == ["llm", "llm-two-step"]
    assert "bm25" in complete_search_method("b")
    assert "gear" in complete_ask_method("ge")
