"""Indexing that is stopped or killed half-way goes on where it was."""

import json
import re
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from journeys.command_line import environment, run_here, triplebeam
from patience import SECONDS
from serve.asking.served_world import wait_until

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
