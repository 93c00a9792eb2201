"""What an experiment would cost, before anything is spent."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from triplebeam.assemble.table import list_agents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Price
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.settings import Settings
from triplebeam_research.commands.experiment import show_plans
from triplebeam_research.experiments.dry_run import Planned, plan
from triplebeam_research.experiments.evaluator import ExperimentEvaluator
from triplebeam_research.experiments.experiment import Experiment


class Planning:
    """An experiment over the small world."""

    def __init__(self, world: Snapshot, words: Embedder, folder: Path) -> None:
        row = {"gold": ["film"], "answers": ["Cahn"]}
        rows = [json.dumps(row | {"id": f"{n}", "question": f"Who made film {n}?"}) for n in range(10)]
        (folder / "questions.jsonl").write_text("\n".join(rows), encoding="utf-8")
        self.paths = {"index": str(world.folder), "questions": str(folder / "questions.jsonl")}
        self.settings = Settings(home=folder / "home", model="m", prices={"m": Price(1.0, 2.0)})
        self.words = words

    def __call__(self, *methods: str, seeds: tuple[int, ...] = (0,), **more: object) -> list[Planned]:
        asked = Experiment.model_validate({"title": "t", "methods": methods, **self.paths, **more})
        evaluator = ExperimentEvaluator(settings=self.settings, seeds=seeds, embedder=self.words, parallel=8)
        return plan(evaluator, asked, asked.corpora()[0])


@pytest.fixture
def planned(world: Snapshot, words: Embedder, tmp_path: Path) -> Planning:
    return Planning(world, words, tmp_path)


def test_calls_of_agents_lie_between_their_shortest_and_longest_loops(planned: Planning) -> None:
    names = ("bm25", "read:bm25", "agent:bm25", "gear:bm25", "ircot:bm25", "grounded_reasoning")
    rows = planned(*names)
    per_question = {row.method: (row.least.calls / 10, row.most.calls / 10) for row in rows}
    assert per_question["bm25"] == (0, 0)
    assert per_question["read:bm25"] == (1, 1)
    assert per_question["agent:bm25"][0] == 3, "two calls a step, and the answer"
    assert per_question["gear:bm25"][1] == 16, "SyncGE's reading, the gist, a verdict, a query; the answer"
    assert per_question["ircot:bm25"] == (2, 5)
    least, most = per_question["grounded_reasoning"]
    assert 4 <= least <= most <= 8


def test_seeds_judges_and_prices_count(planned: Planning) -> None:
    [once] = planned("closed_book")
    [thrice] = planned("closed_book", seeds=(0, 1, 2))
    [judged] = planned("closed_book", judge=True)
    assert (once.most.calls, thrice.most.calls, judged.most.calls) == (10, 30, 20)
    assert once.dollars
    assert once.dollars[0] == pytest.approx((once.least.tokens_in + 2 * once.least.tokens_out) / 1e6)
    assert planned("bm25")[0].dollars is None
    with pytest.raises(BadInputError, match="there is no method 'bm52'"):
        planned("closed_book", "bm52")
    assert not list(planned.settings.home.glob("**/*.jsonl")), "nothing is kept"
    assert not (planned.settings.home / "completions.sqlite").exists()


def test_every_agent_can_be_planned(planned: Planning) -> None:
    rows = planned(*list_agents())
    assert [row.method for row in rows] == list(list_agents())
    assert all(0 < row.least.calls <= row.most.calls for row in rows)


def test_it_is_shown(planned: Planning, capsys: pytest.CaptureFixture[str]) -> None:
    rows = planned("ircot[max_steps=8]:bm25", "bm25")
    show_plans({"small": rows}, "m", as_json=False)
    shown = capsys.readouterr().out
    assert "20 to 90" in shown
    assert "In all 20 to 90 calls of m, $0." in " ".join(shown.split())
    show_plans({"small": rows}, "m", as_json=True)
    read = json.loads(capsys.readouterr().out)
    assert read["datasets"]["small"][0]["most"] == asdict(rows[0].most)
    show_plans({"small": rows[1:]}, None, as_json=False)
    assert "No model is called." in capsys.readouterr().out
