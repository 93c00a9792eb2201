"""Tuning: a share that is surely better is kept, one that may be chance is not."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from small_world import world_builder, world_documents
from triplebeam.assemble import Context, IndexReader, evaluation
from triplebeam.assemble.evaluation import SHARES, measure_shares
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.app import app
from triplebeam.settings import Settings

OWN = (5 / 6 - 0.5) / 0.4
QUESTIONS = [Question(id=f"q{number}", question="Who directed it?", gold=("film",)) for number in range(40)]


@pytest.fixture
def recall(monkeypatch: pytest.MonkeyPatch) -> dict[float, float]:
    """Made-up recall of every question, by share."""
    made_up: dict[float, float] = defaultdict(lambda: 0.5)
    monkeypatch.setattr(evaluation, "_recall", lambda index, share, asked: _noisy(made_up[share], len(asked)))
    return made_up


def _noisy(mean: float, count: int) -> np.ndarray:
    return mean + 0.1 * np.resize([1, -1, -1, 1], count)


def test_a_share_that_is_better_on_both_halves_is_chosen(world: Snapshot, recall: dict[float, float]) -> None:
    recall[0.25] = 0.8
    found = measure_shares(IndexReader(Context(world, Settings())), QUESTIONS)
    assert found.own == pytest.approx(OWN)
    assert found.chosen == 0.25
    assert found.difference.mean == pytest.approx(0.3)


def test_chance_changes_nothing(world: Snapshot, recall: dict[float, float]) -> None:
    index = IndexReader(Context(world, Settings()))
    assert measure_shares(index, QUESTIONS).chosen is None
    recall[0.25] = 0.8
    assert measure_shares(index, QUESTIONS[:3]).chosen is None, "three questions are too few"


def test_questions_without_gold_are_refused(world: Snapshot) -> None:
    with pytest.raises(BadInputError, match="0 questions have gold passages: tuning needs two or more"):
        measure_shares(IndexReader(Context(world, Settings())), [Question(id="q", question="Who?")])


def test_every_share_is_measured(world: Snapshot, words: Embedder) -> None:
    asked = [
        Question(id="one", question="Who directed Laughter in Hell?", gold=("film", "director")),
        Question(id="two", question="On which lake is Milwaukee?", gold=("city",)),
    ]
    found = measure_shares(IndexReader(Context(world, Settings(), words)), asked)
    assert list(found.recall) == pytest.approx(sorted([*SHARES, OWN]))
    assert all(0 < recall <= 1 for recall in found.recall.values())


def test_the_command(tmp_path: Path, recall: dict[float, float]) -> None:
    folder, questions = tmp_path / "my.index", tmp_path / "q.jsonl"
    world_builder(folder).build(world_documents())
    rows: list[Mapping[str, object]] = [{"id": str(n), "question": f"Who {n}?", "gold": ["film"]} for n in range(40)]
    questions.write_text("\n".join(map(json.dumps, rows)))
    recall[0.0] = 0.9

    def run(*arguments: str) -> str:
        return CliRunner().invoke(app, ["tune", str(folder), *arguments], catch_exceptions=False).stdout

    assert "graph walks have weight 0.00 from now on (+40.0 points" in run(str(questions))
    assert Snapshot.open(folder).manifest.share == 0
    assert "graph walks have weight 0.83, as the index measures it" in run("--reset")
    assert Snapshot.open(folder).manifest.share == pytest.approx(OWN)
    with pytest.raises(BadInputError, match="give a file of questions, or --reset"):
        run()
