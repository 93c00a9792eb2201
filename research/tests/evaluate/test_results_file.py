"""Figures put into a file: one row for each method, replaced when it is measured again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_evaluation import made_up_evaluation

from triplebeam.errors import BadInputError
from triplebeam.evaluate.run import Evaluation, QuestionResult
from triplebeam_research.experiments.results_file import add_results

GIVEN = "109,144 by given:triples.gpt-3.5-turbo-1106.jsonl.gz:1f2e3d4c5b6a"


def evaluated(triples: str = GIVEN, methods: int = 6) -> Evaluation:
    made = made_up_evaluation(24)
    facts = {"embedder": "small", "triples": triples, "model": "a model"}
    return replace(made, facts=facts, runs=made.runs[:methods])


def rows(path: Path) -> list[dict[str, object]]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_row_names_what_was_measured_and_on_what(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    add_results(path, Path("musique.local.index"), "", evaluated())
    found = {row["method"]: row for row in rows(path)}
    assert list(found) == sorted(found)
    assert found["bm25"]["dataset"] == "musique"
    assert (found["bm25"]["triples"], found["bm25"]["questions"]) == ("gpt-3.5-turbo-1106", 24)
    assert 0 < float(str(found["bm25"]["R@5"])) < 100
    assert found["gear"]["model"] == "a model"
    assert "model" not in found["bm25"], "it calls none"
    assert {"measured", "code", "encodings", "R@15"} <= found["hybrid"].keys()
    assert "encodings" not in found["bm25"]
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(found) + 2, "a line each, so that changes are seen"


def test_a_row_of_another_graph_of_passages_is_another_row(tmp_path: Path) -> None:
    path, made = tmp_path / "results.json", evaluated(methods=1)
    for bound in ("50", "0"):
        for method in ("bm25", "gnn_ret", "rgnn_ret:gnn_ret[beta=0.9]", "kgp:dense"):
            runs = [replace(made.runs[0], method=method)]
            add_results(
                path, Path("x.index"), "", replace(made, facts={**made.facts, "keyword_passages": bound}, runs=runs)
            )
    found = [(row["method"], row.get("keyword_passages")) for row in rows(path)]
    assert sorted(found, key=str) == [
        *[("bm25", None), ("gnn_ret", 0), ("gnn_ret", None), ("kgp:dense", 0), ("kgp:dense", None)],
        *[("rgnn_ret:gnn_ret[beta=0.9]", 0), ("rgnn_ret:gnn_ret[beta=0.9]", None)],
    ]


def test_measured_again_a_row_is_replaced_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    add_results(path, Path("x.index"), "musique", evaluated())
    add_results(path, Path("x.index"), "musique", evaluated(triples="7 by local:2026, 3 by llm:gpt:v1"))
    assert len(rows(path)) == 12
    assert {row["triples"] for row in rows(path)} == {"gpt-3.5-turbo-1106", "llm+local"}
    before = rows(path)
    add_results(path, Path("x.index"), "musique", evaluated(methods=1))
    assert rows(path) == before


def test_another_systems_run_is_left_out(tmp_path: Path) -> None:
    bare = evaluated(methods=1)
    untimed = [
        QuestionResult(question_id=each.question_id, passage_ids=each.passage_ids) for each in bare.runs[0].results
    ]
    add_results(tmp_path / "r.json", Path("x.index"), "", replace(bare, runs=[replace(bare.runs[0], results=untimed)]))
    assert rows(tmp_path / "r.json") == []


@pytest.mark.parametrize("content", ["no json", '{"a": 1}', "[1]", '[{"method": "bm25"}]'])
def test_a_file_of_something_else_is_not_written_over(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=r"mine.json is not a file of results"):
        add_results(path, Path("x.index"), "", evaluated())
    assert path.read_text() == content
