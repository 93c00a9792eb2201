"""Full, damaged and foreign disks at the command line: one sentence and exit code 2, or it just works."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from journeys.command_line import Quick, Run
from small_disk import small_disk


@pytest.mark.parametrize("command", ["index", "sync", "remove", "purge", "repair"])
def test_a_full_disk_is_one_sentence(tmp_path: Path, quick: Quick, tiny_model: str, command: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("elbe", "oder"):
        (docs / f"{name}.txt").write_text(f"The river {name} flows north.")
    options = ["--extractor", "none", "--embedder", tiny_model]
    with small_disk(tmp_path / "disk") as disk:
        index = disk.folder / "my.index"
        assert quick("index", index, docs, *options)[0] == 0
        found = quick("search", index, "river", "--method", "bm25", "--json")
        if command == "repair":
            next(index.glob("generations/*/passage_texts.utf8")).write_text("damaged")
        (docs / "nile.txt").write_text("The river Nile is long.")
        arguments = {
            "index": ["index", index, docs, *options],
            "sync": ["sync", index, docs, *options],
            "remove": ["remove", index, "docs/elbe.txt"],
            "purge": ["repair", index, "--purge"],
            "repair": ["repair", index],
        }[command]
        disk.fill(0)
        code, stdout, stderr = quick(*arguments)
        assert (code, stdout) == (2, ""), stderr
        assert f"{index} cannot be written to (" in stderr
        assert "free some space on its disk, then do the same again" in stderr
        if command != "repair":
            assert quick("search", index, "river", "--method", "bm25", "--json") == found
        disk.free()
        assert quick(*arguments)[0] == 0


def test_a_full_disk_ends_no_process(tmp_path: Path, run: Run, tiny_model: str) -> None:
    """In a process of its own, since a bus error would end this one."""
    (tmp_path / "river.txt").write_text("The river Elbe flows north.")
    with small_disk(tmp_path / "disk") as disk:
        disk.fill(120)
        done = run(
            "index", disk.folder / "my.index", "river.txt", "--embedder", tiny_model, "--extractor", "none", code=2
        )
        assert (
            done.stderr.strip()
            .splitlines()[-1]
            .startswith(f"triplebeam: {disk.folder / 'my.index'} cannot be written to")
        )
        assert "Traceback" not in done.stderr


def begin_store(index: Path, with_header: bool) -> None:
    """Leave what a kill, or a disk that is full at once, leaves of a store: an empty file, or its first page."""
    index.mkdir()
    (index / "write.lock").touch()
    (index / "store.sqlite").touch()
    if with_header:
        with closing(sqlite3.connect(index / "store.sqlite")) as db:
            db.execute("PRAGMA journal_mode = WAL")
        assert (index / "store.sqlite").stat().st_size


@pytest.mark.parametrize("with_header", [False, True])
@pytest.mark.parametrize("command", ["index", "sync"])
def test_a_store_that_was_only_begun_is_continued(
    tmp_path: Path, quick: Quick, tiny_model: str, command: str, with_header: bool
) -> None:
    begin_store(tmp_path / "my.index", with_header)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "elbe.txt").write_text("The river flows north.")
    for asked in ("status", "search"):
        code, _, said = quick(asked, "my.index", *(["river"] if asked == "search" else []))
        assert (code, "run the same `triplebeam index" in said) == (2, True), said
    code, _, said = quick(command, "my.index", "docs", "--embedder", tiny_model, "--extractor", "none")
    assert code == 0, said
    assert "1 document, 1 passage" in said


def test_an_index_begun_on_a_full_disk_is_continued(tmp_path: Path, quick: Quick, tiny_model: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "elbe.txt").write_text("The river flows north.")
    with small_disk(tmp_path / "disk") as disk:
        refused = 0
        for left in range(0, 120, 16):
            index = disk.folder / "my.index"
            command = ("index", index, "docs", "--embedder", tiny_model, "--extractor", "none")
            disk.fill(left)
            code, _, said = quick(*command)
            refused += code == 2
            assert code == 0 or "free some space" in said
            disk.free()
            code, _, said = quick(*command)
            assert code == 0, (left, said)
            shutil.rmtree(index)
    assert refused > 3


def test_status_checks_everything_on_request(small_index: Path, quick: Quick) -> None:
    assert quick("status", small_index, "--deep")[0] == 0
    path = next(small_index.glob("generations/*/triple_vectors.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert quick("status", small_index)[0] == 0
    code, _, stderr = quick("status", small_index, "--deep")
    assert code == 2
    assert "are corrupted (triple_vectors.npy): run `triplebeam index`" in stderr
    assert quick("repair", small_index)[0] == 0
    assert quick("status", small_index, "--deep")[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_other_accounts_may_open_an_index_as_far_as_the_user_s_mask_allows(
    tmp_path: Path, quick: Quick, tiny_model: str
) -> None:
    (tmp_path / "river.txt").write_text("The river Elbe flows north.")
    before = os.umask(0o022)
    try:
        assert quick("index", "my.index", "river.txt", "--extractor", "none", "--embedder", tiny_model)[0] == 0
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "my.index").rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o755}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o644}
