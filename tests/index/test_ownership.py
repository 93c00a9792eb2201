"""Ownership: topics by hand, the share of passages by hand, the gate, and where they are shown and kept."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from small_world import TRIPLES, TableExtractor, world_builder, world_documents
from triplebeam.index.build.writing import set_share
from triplebeam.index.content.entities import Topics
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import Ownership
from triplebeam.passage import Document
from triplebeam.serve.cli.app import app
from triplebeam.triple import Triple


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


@pytest.mark.parametrize(("exclusive", "share"), [(0.3, 0), (0.5, 0), (0.7, 0.5), (0.9, 1), (1, 1)])
def test_the_gate(exclusive: float, share: float) -> None:
    assert Ownership(exclusive=exclusive).share == pytest.approx(share)


def test_without_triples_nothing_is_owned() -> None:
    assert topics(passages=3, entities=0).measure_ownership() == Ownership(exclusive=0)
    assert topics(passages=3, entities=0).list_owned(3).tolist() == []


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
