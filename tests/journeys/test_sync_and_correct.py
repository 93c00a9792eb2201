"""`triplebeam sync` and `correct`: an index kept up to date with a folder, and with a file of corrections."""

import json
from pathlib import Path

import pytest

from journeys.command_line import Quick, killed_before_publishing
from triplebeam.index.build.writing import open_for_write


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("elbe", "oder"):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name.title()}\n\nThe river {name} flows north.")
    return tmp_path / "docs"


def sync_notes(quick: Quick, *arguments: object) -> dict[str, object]:
    code, stdout, stderr = quick("sync", *arguments, "--extractor", "none", "--json")
    assert code == 0, stderr
    found: dict[str, object] = json.loads(stdout)
    return found


def test_a_folder_is_followed_from_wherever_it_is(
    quick: Quick, docs: Path, tiny_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sync_notes(quick, "my.index", "docs", "--embedder", tiny_model)
    nothing: dict[str, object] = {name: [] for name in ("changed", "renamed", "removed", "skipped", "unreadable")}
    added = {"added": ["docs/elbe.md", "docs/oder.md"], "documents": 2, "passages": 2}
    assert first == {**nothing, **added, "dry_run": False, "published": True}
    monkeypatch.chdir(docs)
    (docs / "elbe.md").unlink()
    (docs / "oder.md").rename(docs / "odra.md")
    index = docs.parent / "my.index"
    planned = sync_notes(quick, index, ".", "--dry-run")
    assert planned["dry_run"] is True
    done = sync_notes(quick, "../my.index", ".")
    for report in (planned, done):
        assert report["removed"] == ["docs/elbe.md"]
        assert report["renamed"] == [{"from": "docs/oder.md", "to": "docs/odra.md"}]
    code, _, stderr = quick("remove", index, "odra.md")
    assert code == 0, "a document is found by its path from here"
    assert "1 removed" in stderr


def test_what_was_done_is_printed(quick: Quick, docs: Path, tiny_model: str, caplog: pytest.LogCaptureFixture) -> None:
    code, stdout, stderr = quick("sync", "my.index", docs, "--extractor", "none", "--embedder", tiny_model)
    assert (code, stdout) == (0, "")
    assert f"add {docs.as_posix()}/elbe.md" in stderr
    assert "my.index: 2 documents, 2 passages." in stderr
    (docs / "bad.pdf").write_bytes(b"%PDF-1.4 and no more")
    code, _, stderr = quick("sync", "my.index", docs, "--extractor", "none")
    assert code == 1
    assert (caplog.text.count("not indexed: "), stderr.count("not indexed: ")) == (1, 0), "the log goes to stderr, too"
    caplog.clear()
    code, _, stderr = quick("sync", "my.index", docs, "--dry-run")
    assert (code, caplog.text.count("not indexed: "), stderr.count("not indexed: ")) == (1, 0, 1)


def test_a_dry_run_waits_for_nobody_and_says_what_is_not_published(quick: Quick, docs: Path, tiny_model: str) -> None:
    sync_notes(quick, "my.index", docs, "--embedder", tiny_model)
    with open_for_write(Path("my.index")):
        assert sync_notes(quick, "my.index", docs, "--dry-run")["unpublished"] is False
    (docs / "elbe.md").unlink()
    with killed_before_publishing():
        quick("sync", "my.index", docs, "--extractor", "none")
    assert sync_notes(quick, "my.index", docs, "--dry-run")["unpublished"] is True
    assert "interrupted before it published its changes" in quick("sync", "my.index", docs, "--dry-run")[2]
    assert sync_notes(quick, "my.index", docs)["published"] is True
    assert "is up to date" in quick("sync", "my.index", docs, "--dry-run")[2]


def test_watching_notices_changes(quick: Quick, docs: Path, tiny_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits are counted, and each does what somebody does meanwhile."""
    waits = iter([lambda: (docs / "nile.md").write_text("# Nile\n\nNorth too."), *[lambda: None] * 2])

    def wait(seconds: float) -> None:
        assert seconds == 0.5
        try:
            next(waits)()
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("time.sleep", wait)
    arguments = ("--extractor", "none", "--embedder", tiny_model, "--watch", "--interval", "0.5", "--json")
    code, stdout, _ = quick("sync", "my.index", "docs", *arguments)
    assert code == 130, "Ctrl-C ends it"
    added = [json.loads(line)["added"] for line in stdout.splitlines()]
    assert added == [["docs/elbe.md", "docs/oder.md"], ["docs/nile.md"]]


def test_what_an_interrupted_run_left_is_published_and_said_so(quick: Quick, docs: Path, tiny_model: str) -> None:
    assert quick("sync", "my.index", docs, "--extractor", "none", "--embedder", tiny_model)[0] == 0
    (docs.parent / "my.index" / "manifest.json").unlink()  # as if it had been killed just before
    code, _, stderr = quick("sync", "my.index", docs, "--extractor", "none", "--embedder", tiny_model)
    assert (code, "published again" in stderr) == (0, True)
    _, _, stderr = quick("sync", "my.index", docs, "--extractor", "none")
    assert "my.index is up to date: nothing has changed.\n" in stderr


def test_links_out_of_the_folder_need_an_option(quick: Quick, docs: Path, tmp_path: Path, tiny_model: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.txt").write_text("Kumquatius is a secret.")
    (docs / "zlink").symlink_to(tmp_path / "elsewhere")
    arguments = ("my.index", "docs", "--extractor", "none", "--embedder", tiny_model)
    said = quick("index", *arguments)[2]
    skipped = [line for line in said.splitlines() if line.startswith("skipped: ")]
    assert [line.endswith("(in Python follow_links=True)") for line in skipped] == [True], said
    assert "zlink: it links outside the folder" in skipped[0]

    def find() -> str:
        return quick("search", "my.index", "Kumquatius", "--method", "bm25", "--json")[1]

    assert "secret" not in find()
    for command in ("index", "sync"):
        assert "skipped: " not in quick(command, *arguments, "--follow-links")[2]
        assert "zlink/secret.txt" in find()
    assert "remove docs/zlink/secret.txt" in quick("sync", *arguments)[2]
    assert "secret" not in find()


LINES = (
    '# rivers\n{"drop": ["Elbe", "flows", "*"]}\n{"add": ["Oder", "flows", "north"], "document": "oder"}\n'
    '{"merge": ["nile"], "into": "River Nile"}\n{"drop": ["Rhine", "*", "*"]}\n'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "corrections.jsonl"
    path.write_text(LINES)
    return path


def triples(quick: Quick, index: Path) -> list[str]:
    return [line.strip() for line in quick("show", index, "--triples")[1].splitlines() if "|" in line]


def test_corrections_are_tried_made_shown_and_taken_back(
    quick: Quick, small_index: Path, file: Path, tiny_model: str
) -> None:
    before = triples(quick, small_index)
    code, stdout, said = quick("correct", small_index, file, "--dry-run")
    assert (code, stdout) == (0, "")
    assert 'line 2: 1 triple: {"drop": ["Elbe", "flows", "*"]}' in said
    assert 'line 5: matches nothing: {"drop": ["Rhine", "*", "*"]}' in said
    assert "4 corrections; 1 triple would be dropped, 1 would be added, 1 would be renamed." in said
    assert triples(quick, small_index) == before
    assert quick("correct", small_index) == (0, "", f"{small_index} has no corrections.\n")

    code, _, said = quick("correct", small_index, file, "--embedder", tiny_model)
    assert code == 0
    assert "4 corrections; 1 triple dropped, 1 added, 1 renamed." in said
    assert triples(quick, small_index) == ["River Nile | flows | north", "Oder | flows | north"]
    assert quick("correct", small_index)[1] == LINES
    status = quick("status", small_index)[1]
    assert "4 lines (triples: 1 dropped, 1 added, 1 renamed); matching nothing now: line 5" in status
    counts = json.loads(quick("status", small_index, "--json")[1])["corrections"]
    lines, changed = {"drop": 2, "add": 1, "merge": 1}, {"drop": 1, "add": 1, "merge": 1}
    assert counts == {"lines": lines, "triples": changed, "unmatched": [5]}
    shown = json.loads(quick("correct", small_index, "--json")[1])
    assert shown["unmatched"] == [5]
    first = {"line": 2, "kind": "drop", "triples": 1, "correction": {"drop": ["Elbe", "flows", "*"]}}
    assert shown["lines"][0] == first

    assert quick("correct", small_index, "--remove", "--embedder", tiny_model)[0] == 0
    assert triples(quick, small_index) == before


def test_what_is_wrong_is_said_and_nothing_is_changed(quick: Quick, small_index: Path, file: Path) -> None:
    file.write_text('{"drop": ["Elbe", "flows", "*"]}\n{"drop": ["Elbe"]}\n')
    code, stdout, said = quick("correct", small_index, file)
    assert (code, stdout) == (2, "")
    assert said == f'{file}, line 2: this line needs "drop" with a subject, a predicate and an object.'
    assert len(triples(quick, small_index)) == 2
    file.write_text("# none\n")
    assert f"`triplebeam correct {small_index} --remove`" in quick("correct", small_index, file)[2]
    file.write_text('{"add": ["Oder", "is", "long"], "document": "odre"}\n')
    said = quick("correct", small_index, file, "--dry-run")[2]
    assert "line 1: there is no document 'odre' in the index (did you mean 'oder'?); the triple is added once" in said
    assert "1 correction; 0 triples would be dropped" in said
    assert "give only one of them" in quick("correct", small_index, file, "--remove")[2]
    assert "there is no index at nowhere" in quick("correct", "nowhere", "--remove", "--dry-run")[2]
