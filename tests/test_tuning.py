"""Tuning: a share that is surely better is kept, one that may be chance is not. Ownership: topics by hand, the share of
passages by hand, the gate, and where they are shown and kept.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from small_world import TRIPLES, TableExtractor, world_builder, world_documents
from triplebeam.assemble import Context, IndexReader, evaluation
from triplebeam.assemble.evaluation import SHARES, measure_shares
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.index.build.writing import set_share
from triplebeam.index.content.entities import Topics
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import Ownership
from triplebeam.passage import Document
from triplebeam.serve.cli.app import app
from triplebeam.settings import Settings
from triplebeam.triple import Triple

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
    index = IndexReader(Context(world, Settings()))
    assert measure_shares(index, QUESTIONS).chosen is None, "chance changes nothing"
    recall[0.25] = 0.8
    assert measure_shares(index, QUESTIONS[:3]).chosen is None, "three questions are too few"
    found = measure_shares(index, QUESTIONS)
    assert (found.own, found.chosen, found.difference.mean) == pytest.approx((OWN, 0.25, 0.3))
    with pytest.raises(BadInputError, match="0 questions have gold passages: tuning needs two or more"):
        measure_shares(index, [Question(id="q", question="Who?")])


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


def show_status(folder: Path, *options: str) -> str:
    shown = CliRunner().invoke(app, ["status", str(folder), *options], catch_exceptions=False).stdout
    return " ".join(shown.split())


def topics(*triples: tuple[int, int, int], passages: int, entities: int) -> Topics:
    """Triples as passage, subject, object."""
    rows = np.array(triples, np.int64).reshape(-1, 3)
    return Topics(rows[:, 1:], rows[:, 0], passages, entities)


def test_the_topic_is_the_most_frequent_subject_and_the_first_between_equals() -> None:
    found = topics((0, 4, 1), (0, 4, 2), (0, 1, 2), (1, 3, 0), (1, 2, 0), passages=3, entities=5)
    assert found.of_passages.tolist() == [4, 2, -1]
    assert found.passage_counts.tolist() == [0, 0, 1, 0, 1]
    assert found.list_owned(1).tolist() == [[4, 0], [2, 1]]


def test_the_share_of_passages_by_hand() -> None:
    """Four passages are about 0, one about 1, one about 2; the last has no triples. So 2 of 7 have their own topics."""
    found = topics(
        (0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 0, 3), (4, 1, 0), (4, 1, 2), (5, 2, 1), (5, 2, 3), passages=7, entities=4
    ).measure_ownership()  # fmt: skip
    assert found.exclusive == pytest.approx(2 / 7)
    nothing = topics(passages=3, entities=0)
    assert (nothing.measure_ownership(), nothing.list_owned(3).tolist()) == (Ownership(exclusive=0), [])


@pytest.mark.parametrize(("exclusive", "share"), [(0.3, 0), (0.5, 0), (0.7, 0.5), (0.9, 1), (1, 1)])
def test_the_gate(exclusive: float, share: float) -> None:
    assert Ownership(exclusive=exclusive).share == pytest.approx(share)


def test_it_is_stored_and_shown(world: Snapshot) -> None:
    """Five of six passages have facts, each about a topic of its own."""
    assert world.manifest.ownership == Ownership(exclusive=5 / 6) == world.entities.topics.measure_ownership()
    topics = "83% of passages have a topic of their own; they start at 50%, full weight is from 90%"
    assert f"graph walks on with weight 0.83 of 1 ({topics}); hops over titles on" in show_status(world.folder)


def test_status_says_what_is_on_where_no_walk_is_made(tmp_path: Path) -> None:
    def status(table: dict[str, list[Triple]]) -> str:
        folder = tmp_path / f"{len(table)}.index"
        world_builder(folder, extractor=TableExtractor(table)).build(world_documents())
        return show_status(folder)

    one = status({"film": TRIPLES["film"]})
    topics = "17% of passages have a topic of their own; they start at 50%, full weight is from 90%"
    assert f"graph walks off ({topics}); hops over titles on" in one
    assert "graph walks off, and so are hops over titles: there are no triples" in status({})


def test_a_tuned_share_outlives_indexing_until_it_is_reset(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    builder = world_builder(folder)
    builder.build(world_documents())
    set_share(folder, 0.25)
    builder.build([*world_documents(), Document(id="new", text="A new passage.", is_passage=True)])
    assert Snapshot.open(folder).manifest.share == 0.25
    assert "set by tune" in show_status(folder)
    assert json.loads(show_status(folder, "--json"))["tuned_share"] == 0.25
    set_share(folder, None)
    assert Snapshot.open(folder).manifest.share == pytest.approx((5 / 7 - 0.5) / 0.4)
