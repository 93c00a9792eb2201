"""Indexing that is stopped or killed goes on; full, damaged and foreign disks are one sentence, or it just works."""

import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from journeys.command_line import Quick, Run, environment, run_here, triplebeam
from patience import SECONDS
from serve.asking.served_world import wait_until
from small_disk import small_disk

DOCUMENTS, TRIPLES_EACH = 60, 40
#: Passages, triples, and the names in them: a station a document, and its trains.
NAMES = DOCUMENTS + len({number * day for number in range(DOCUMENTS) for day in range(TRIPLES_EACH)})
TEXTS = DOCUMENTS + DOCUMENTS * TRIPLES_EACH + NAMES


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    """Documents with given triples, enough of them for encoding to take a few seconds."""
    rows, triples = [], []
    for number in range(DOCUMENTS):
        rows.append({"id": f"d{number}", "text": f"Station {number} lies on a long railway line in the north."})
        facts = [
            [f"station {number}", f"is passed on day {day} by", f"train {number * day}"] for day in range(TRIPLES_EACH)
        ]
        triples.append({"passage_id": f"d{number}", "triples": facts})
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "triples.jsonl").write_text("\n".join(map(json.dumps, triples)), encoding="utf-8")
    return ["index", "my.index", "corpus.jsonl", "--triples", "triples.jsonl"]


def vectors_kept(folder: Path) -> int:
    try:
        store = sqlite3.connect(f"file:{folder}/encoded.sqlite?mode=ro", uri=True, timeout=SECONDS)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(store.execute("SELECT count(DISTINCT key) FROM encoded").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0
    finally:
        store.close()


def stop_half_way(arguments: list[str], folder: Path, home: Path, sign: signal.Signals) -> tuple[int, str]:
    """Run until more vectors are kept than before, then send a signal."""
    before = vectors_kept(folder / "my.index")
    process = subprocess.Popen(
        triplebeam(*arguments), cwd=folder, env=environment(home), stderr=subprocess.PIPE, encoding="utf-8"
    )
    wait_until(lambda: process.poll() is not None or vectors_kept(folder / "my.index") > before)
    process.send_signal(sign)
    _, stderr = process.communicate(timeout=SECONDS)
    return process.returncode, stderr


@pytest.mark.slow
def test_stopped_and_killed_it_goes_on(tmp_path: Path, home: Path, sources: list[str]) -> None:
    run = run_here(tmp_path, home)
    code, stderr = stop_half_way(sources, tmp_path, home, signal.SIGINT)
    assert code == 130
    assert "What was done so far is kept" in stderr
    assert "Traceback" not in stderr
    code, _ = stop_half_way(sources, tmp_path, home, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert "did not finish: run the same" in run("status", "my.index", code=2).stderr

    kept = vectors_kept(tmp_path / "my.index")
    assert 0 < kept < TEXTS
    done = run(*sources)
    encoded = re.search(r"([\d,]+) texts encoded", done.stderr)
    assert encoded
    assert int(encoded[1].replace(",", "")) == TEXTS - kept
    counts = json.loads(run("status", "my.index", "--json").stdout)["counts"]
    assert (counts["documents"], counts["passages"]) == (DOCUMENTS, DOCUMENTS)
    assert counts["triples"] == DOCUMENTS * TRIPLES_EACH
    assert counts["passages_without_extraction"] == 0
    assert "up to date" in run(*sources).stderr


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
