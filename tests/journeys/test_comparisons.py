"""Comparing methods as a user does: a verdict that may be "no", a file of experiments, and a stop in the middle."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from journeys.command_line import Run, environment, run_here, triplebeam
from patience import SECONDS
from serve.asking.served_world import wait_until
from triplebeam.testing import toy
from triplebeam.text.sentences import sentence_spans

pytestmark = pytest.mark.slow

PASSAGES = toy.passages()
EASY = 24


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy corpus with its questions of several hops, and some of one hop, each about a passage."""
    folder = tmp_path_factory.mktemp("comparisons")
    rows: list[dict[str, object]] = [{"id": p.id, "title": p.title, "text": p.text} for p in PASSAGES]
    hard: list[dict[str, object]] = [{"id": q.id, "question": q.question, "gold": q.gold} for q in toy.questions()]
    easy: list[dict[str, object]] = []
    for passage in PASSAGES[:EASY]:
        start, end = next(iter(sentence_spans(passage.text)))
        easy.append({"id": passage.id, "question": f"{passage.title}: {passage.text[start:end]}", "gold": [passage.id]})
    for name, content in {"corpus": rows, "hard": hard, "easy": easy}.items():
        (folder / f"{name}.jsonl").write_text(lines(content), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path, home: Path) -> Run:
    run = run_here(folder, home)
    run("index", "my.index", "corpus.jsonl")
    return run


def test_no_graph_is_needed_where_one_passage_answers(run: Run) -> None:
    done = run("bench", "my.index", "easy.jsonl")
    assert "No, you do not need a graph here: use bm25." in done.stdout
    figures = json.loads(run("bench", "my.index", "easy.jsonl", "--json").stdout)
    assert figures["methods"]["bm25"]["R@5"] == 1.0
    assert {"scaled_hybrid", "blend"} <= figures["methods"].keys()
    assert figures["recommendation"]["need_a_graph"] == "no"
    refused = run("bench", "my.index", "easy.jsonl", "-m", "bm25", "-m", "run:theirs.trec", code=2)
    assert "triplebeam research experiment" in refused.stderr


def test_too_low_a_recall_fails_a_build(run: Run) -> None:
    passed = run("bench", "my.index", "easy.jsonl", "--min-recall", "1", "--json")
    assert json.loads(passed.stdout)["methods"].keys() == {"blend"}
    failed = run("bench", "my.index", "hard.jsonl", "--min-recall", "0.9", "-k", "2", "-m", "bm25", code=1)
    assert "R@2 of bm25 must be at least 0.9, got 0." in failed.stderr


def test_an_experiment_over_two_sets_of_questions(run: Run, folder: Path) -> None:
    (folder / "both.toml").write_text(
        'title = "Both"\nindex = "my.index"\nquestions = "{dataset}.jsonl"\nmethods = ["bm25", "hipporag2"]\n'
        "[datasets.hard]\n[datasets.easy]\n",
        encoding="utf-8",
    )
    done = run("research", "experiment", "both.toml", "--json", "--results", "figures.json")
    figures = json.loads(done.stdout)["datasets"]
    rows = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert {row["method"]: row["R@5"] for row in rows if row["dataset"] == "easy"}["bm25"] == 100.0
    results = json.loads((folder / "both-results" / "easy" / "results.json").read_text(encoding="utf-8"))
    assert results["advice"].startswith("Do I need a graph? No, you do not need a graph here: use bm25.")
    assert len(results["results"]["bm25"]) == EASY
    assert figures["easy"]["bm25"]["R@5"] > figures["hard"]["bm25"]["R@5"]
    assert figures["hard"]["hipporag2"]["R@10"] > figures["hard"]["bm25"]["R@10"]
    for name in ("hard/report.html", "hard/report.md", "hard/qrels.txt", "hard/runs/hipporag2.trec", "summary.md"):
        assert (folder / "both-results" / name).stat().st_size
    run("research", "experiment", "both.toml", "--dataset", "eazy", code=2)


def test_a_comparison_that_is_stopped_goes_on_and_computes_nothing_twice(run: Run, folder: Path, home: Path) -> None:
    method, kept = "hybrid+naive_ge[scorer=exact]", folder / "stopped"
    command = triplebeam("bench", "my.index", "easy.jsonl", "-m", method, "--json")
    variables = {**environment(home), "TRIPLEBEAM_RESULTS": str(kept)}
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: process.poll() is not None or any(path.stat().st_size for path in kept.glob("*.jsonl")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    (path,) = kept.glob("*.jsonl")
    before = path.read_text(encoding="utf-8").splitlines()
    assert 0 < len(before) < EASY
    subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True, timeout=5 * SECONDS)
    after = path.read_text(encoding="utf-8").splitlines()
    assert after[: len(before)] == before
    assert len({json.loads(line)["question"] for line in after}) == len(after) == EASY
