"""`triplebeam research`: training, a search with what was learned, and an experiment without a corpus."""

import json
from pathlib import Path

import pytest

from generate.loopback_endpoint import serve
from journeys.command_line import Quick

ROWS = [
    {"id": "1", "question": "the river elbe flows", "gold": ["elbe", "nile"]},
    {"id": "2", "question": "the river nile", "gold": ["nile"]},
    {
        "id": "3",
        "question": "north",
        "gold": ["elbe"],
        "decomposition": [{"question": "which river?", "answer": "elbe"}, {"question": "#1 flows"}],
    },
]


@pytest.fixture
def questions(small_index: Path) -> str:
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    Path("steps.jsonl").write_text(json.dumps(ROWS[2]), encoding="utf-8")
    return "questions.jsonl"


def test_learn_then_search(quick: Quick, small_index: Path, questions: str) -> None:
    code, told, _ = quick(
        "research", "train", "gnn_ret", small_index, questions, "--out", "w.json", "--limit", 2, "--layers", 2
    )
    assert code == 0
    assert "gnn_ret over dense: alpha 0." in told
    assert "from 2 questions" in told
    assert '--method "dense+gnn_ret[weights=w.json]"' in told
    learned = json.loads(Path("w.json").read_text(encoding="utf-8"))
    assert (len(learned["alpha"]), learned["trained_on"]["question_count"]) == (2, 2)
    assert quick("search", small_index, "river", "--method", "gnn_ret[weights=w.json]", "--explain")[0] == 0


def test_the_recurrent_form_as_json_and_written_over(quick: Quick, small_index: Path, questions: str) -> None:
    _, told, _ = quick("research", "train", "rgnn_ret", small_index, "steps.jsonl", "--out", "w.json", "--json")
    shown = json.loads(told)
    assert (shown["method"], shown["file"]) == ("rgnn_ret", "w.json")
    assert 0 <= shown["beta"] <= 1
    assert (shown["settings"]["targets"], shown["settings"]["competitors"]) == ("current_and_later", 10)
    more = ("--labels", "all", "--competitors", 7)
    told = quick("research", "train", "rgnn_ret", small_index, "steps.jsonl", "--out", "y.json", *more, "--json")[1]
    settings = json.loads(told)["settings"]
    assert (settings["targets"], settings["competitors"]) == ("all", 7)
    _, told, _ = quick("research", "train", "rgnn_ret", small_index, "steps.jsonl", "--out", "w.json", "--force")
    assert "from 1 question;" in told
    assert '--method "rgnn_ret:dense+gnn_ret[weights=w.json]"' in told


def test_folds_measure_and_write_nothing(quick: Quick, small_index: Path, questions: str) -> None:
    _, told, _ = quick("research", "train", "gnn_ret", small_index, questions, "--folds", 3, "--base", "scaled_hybrid")
    assert "Recall on 3 questions" in told
    assert [line.split()[0] for line in told.splitlines()[2:5]] == ["scaled_hybrid", "untrained", "trained"]
    assert told.count("fold ") == 3
    _, told, _ = quick("research", "train", "gnn_ret", small_index, questions, "--folds", 3, "--json")
    shown = json.loads(told)
    assert set(shown) == {"recall", "folds"}
    assert shown["recall"]["trained"]["R@5"] == 1.0
    assert not list(Path().glob("w*.json"))


#: What is typed after `triplebeam research train`, and words of what is said to it.
REFUSED = {
    "gnn_rt DATA --out w.json": "METHOD=gnn_rt (did you mean 'gnn_ret'?): choose one of gnn_ret, rgnn_ret",
    "gnn_ret DATA --out w.json --edges none": "--edges=none: choose one of both, structural, keyword",
    "gnn_ret DATA --out w.json --gradient exakt": "did you mean 'exact'?",
    "gnn_ret DATA --out w.json --message max": "choose one of min, mean",
    "gnn_ret DATA --out w.json --base hybrid": "a score for every passage",
    "rgnn_ret DATA --out w.json --labels later": "choose one of all, current, current_and_later",
    "gnn_ret DATA --out w.json --labels current": "gnn_ret has one step",
    "gnn_ret DATA": "name a file with --out, or measure with --folds",
    "gnn_ret DATA --out questions.jsonl": "questions.jsonl exists: name another file, or overwrite it with",
    "gnn_ret DATA --out . --force": ". is a folder: name a file for the weights",
    "gnn_ret DATA --out no/w.json": "there is no folder no",
    "rgnn_ret DATA --out w.json": "question '1' of questions.jsonl has no decomposition",
}


def test_what_is_impossible_is_reported(quick: Quick, questions: str) -> None:
    for typed, words in REFUSED.items():
        code, _, message = quick("research", "train", *typed.replace("DATA", f"small.index {questions}").split())
        assert (code, words in message) == (2, True), message
    assert not Path("w.json").exists()


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
