"""Questions without a corpus, as Bamboogle's: an experiment over any index, whose passages nobody reads."""

import json
from pathlib import Path

import pytest

from generate.loopback_endpoint import serve
from journeys.command_line import Quick

METHODS = ["chain_of_thought", "self_ask[retrieval=no]", "ge_reasoning[retrieval=no]"]
#: Every prompt finds what it asks for in here.
REPLY = {
    "reasoning": "The Nile is the longest.",
    "follow_up": "",
    "found": True,
    "answer": "Nile",
    "sentence": "It is the Nile.",
    "used": [],
    "triplets": [["longest river", "is", "river: #1"]],
    "target": ["#1"],
    "question": "Which river is the longest?",
}


def test_it_has_answers_and_no_recall(
    quick: Quick, small_index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [{"id": "1", "question": "Longest river?", "answers": ["Nile"], "gold": [], "hops": 2}]
    rows.append({**rows[0], "id": "2", "question": "Shortest river?", "answers": ["Reprua"]})
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    Path("closed.toml").write_text(
        f'title = "Closed"\nindex = "small.index"\nquestions = "questions.jsonl"\nmethods = {json.dumps(METHODS)}\n'
        "seeds = [0, 1]\n",
        encoding="utf-8",
    )
    code, stdout, stderr = quick("research", "experiment", "closed.toml", "--dry-run", "--json")
    assert code == 0, stderr  # no model is configured yet
    (planned,) = json.loads(stdout)["datasets"].values()
    assert [(row["method"], row["questions"], row["seeds"]) for row in planned] == [(name, 2, 2) for name in METHODS]
    assert not (tmp_path / "closed-results").exists()
    with serve() as endpoint:
        endpoint.says(json.dumps(REPLY))
        monkeypatch.setenv("TRIPLEBEAM_MODEL", "some-model")
        monkeypatch.setenv("TRIPLEBEAM_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("TRIPLEBEAM_COMPLETIONS", str(tmp_path / "completions.sqlite"))
        code, stdout, stderr = quick("research", "experiment", "closed.toml", "--json")
    assert code == 0, stderr
    (figures,) = json.loads(stdout)["datasets"].values()
    assert len(figures) == 2 * len(METHODS)
    for name, of in figures.items():
        assert (of["EM"], of.get("R@5"), of["ms_p50"] > 0) == (0.5, None, True), name
    assert (tmp_path / "closed-results" / "report.html").stat().st_size
