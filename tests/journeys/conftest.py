"""A model small enough for every run, a toy corpus on disk, and the command line as a user runs it."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from embed.tiny_model import write_model
from journeys.command_line import Quick, Run, invoke, runner


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


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


def index_rivers(folder: Path, embedder: str) -> Path:
    """Three passages about rivers, and their index, with a graph of two triples."""
    names = ("elbe", "oder", "nile")
    rows = [{"id": id_, "title": id_.title(), "text": f"the river {id_} flows north"} for id_ in names]
    triples = [{"passage_id": id_, "triples": [[id_.title(), "flows", "north"]]} for id_ in ("elbe", "nile")]
    (folder / "rivers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "triples.jsonl").write_text("\n".join(map(json.dumps, triples)), encoding="utf-8")
    options = ("--triples", "triples.jsonl", "--embedder", embedder)
    with contextlib.chdir(folder):
        code, stdout, stderr = invoke("index", "small.index", "rivers.jsonl", *options)
    assert (code, stdout) == (0, ""), stderr
    return folder / "small.index"


@pytest.fixture(scope="session")
def rivers(tmp_path_factory: pytest.TempPathFactory, tiny_model: str) -> Path:
    return index_rivers(tmp_path_factory.mktemp("rivers"), tiny_model).parent


@pytest.fixture
def small_index(tmp_path: Path, quick: Quick, rivers: Path) -> Path:
    """A copy, which is quicker; the index still knows its sources by where they were."""
    shutil.copytree(rivers, tmp_path, dirs_exist_ok=True)
    return tmp_path / "small.index"


@pytest.fixture
def fresh_index(tmp_path: Path, quick: Quick, tiny_model: str) -> Path:
    """One whose sources can be indexed again."""
    return index_rivers(tmp_path, tiny_model)
