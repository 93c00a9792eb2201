"""A model small enough for every run, a toy corpus on disk, and the command line as a user runs it."""

import json
from pathlib import Path

import pytest

from embed.tiny_model import write_model
from journeys.command_line import Quick, Run, invoke, runner


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a BERT with random weights: an embedder without a download."""
    return str(write_model(tmp_path_factory.mktemp("tiny-model")))


@pytest.fixture
def run(tmp_path: Path, home: Path) -> Run:
    return runner(tmp_path, home)


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Quick:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIPLEBEAM_EMBEDDER", raising=False)
    monkeypatch.setenv("TRIPLEBEAM_RESULTS", str(tmp_path / "results"))
    return invoke


@pytest.fixture
def small_index(tmp_path: Path, quick: Quick, tiny_model: str) -> Path:
    """Three passages about rivers, encoded by the tiny model, with a graph of two triples."""
    rows = [
        {"id": id_, "title": id_.title(), "text": f"the river {id_} flows north"} for id_ in ("elbe", "oder", "nile")
    ]
    triples = [{"passage_id": id_, "triples": [[id_.title(), "flows", "north"]]} for id_ in ("elbe", "nile")]
    (tmp_path / "rivers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "triples.jsonl").write_text("\n".join(map(json.dumps, triples)), encoding="utf-8")
    code, stdout, stderr = quick(
        "index", "small.index", "rivers.jsonl", "--triples", "triples.jsonl", "--embedder", tiny_model
    )
    assert (code, stdout) == (0, ""), stderr
    return tmp_path / "small.index"
