"""Full, damaged and foreign disks at the command line: one sentence and exit code 2, or it just works."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from journeys.command_line import Quick, Run
from small_disk import small_disk


def test_a_full_disk_is_one_sentence(tmp_path: Path, quick: Quick, tiny_model: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "elbe.txt").write_text("The river Elbe flows north.")
    with small_disk(tmp_path / "disk") as disk:
        index = disk.folder / "my.index"
        command = ["index", index, docs, "--extractor", "none", "--embedder", tiny_model]
        assert quick(*command)[0] == 0
        found = quick("search", index, "river", "--method", "bm25", "--json")
        (docs / "nile.txt").write_text("The river Nile is long.")
        disk.fill(0)
        code, stdout, stderr = quick(*command)
        assert (code, stdout) == (2, ""), stderr
        assert f"{index} cannot be written to (" in stderr
        assert "free some space on its disk, then do the same again" in stderr
        assert quick("search", index, "river", "--method", "bm25", "--json") == found
        disk.free()
        assert quick(*command)[0] == 0


def test_a_full_disk_ends_no_process(tmp_path: Path, run: Run, tiny_model: str) -> None:
    """In a process of its own, since a bus error would end this one."""
    (tmp_path / "river.txt").write_text("The river Elbe flows north.")
    with small_disk(tmp_path / "disk") as disk:
        disk.fill(120)
        index = disk.folder / "my.index"
        done = run("index", index, "river.txt", "--embedder", tiny_model, "--extractor", "none", code=2)
        assert done.stderr.strip().splitlines()[-1].startswith(f"triplebeam: {index} cannot be written to")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("with_header", [False, True])
def test_a_store_that_was_only_begun_is_continued(
    tmp_path: Path, quick: Quick, tiny_model: str, with_header: bool
) -> None:
    """A kill, or a disk that is full at once, leaves an empty file of a store, or its first page."""
    (tmp_path / "my.index").mkdir()
    store = tmp_path / "my.index" / "store.sqlite"
    store.touch()
    if with_header:
        with closing(sqlite3.connect(store)) as db:
            db.execute("PRAGMA journal_mode = WAL")
        assert store.stat().st_size
    (tmp_path / "elbe.txt").write_text("The river flows north.")
    for asked in (["status", "my.index"], ["search", "my.index", "river"]):
        code, _, said = quick(*asked)
        assert (code, "run the same `triplebeam index" in said) == (2, True), said
    code, _, said = quick("index", "my.index", "elbe.txt", "--embedder", tiny_model, "--extractor", "none")
    assert code == 0, said
    assert "1 document, 1 passage" in said


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
