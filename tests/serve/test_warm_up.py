"""A server loads its weights before anybody searches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from patience import SECONDS
from small_world import WordEmbedder
from triplebeam.embed.embedder import Kind
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.serve import start_warm_up
from triplebeam.serve.library import Library
from triplebeam.settings import Settings


class Counting(WordEmbedder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.asked.extend(texts)
        return super().embed(texts, kind)


@pytest.mark.parametrize(("name", "warmed"), [(None, True), ("openai:text-embedding-3-small", False)])
def test_the_embedder_is_used_once_unless_it_costs_money(
    world: Snapshot, tmp_path: Path, name: str | None, warmed: bool
) -> None:
    embedder = Counting()
    library = Library([world.folder], Settings(home=tmp_path, model=None, embedder=name), embedder=embedder)
    start_warm_up(library).join(SECONDS)
    assert bool(embedder.asked) == warmed


@pytest.mark.parametrize("folder", ["empty", "damaged.index"])
def test_what_cannot_be_searched_is_left_to_the_first_search(tmp_path: Path, folder: str) -> None:
    (tmp_path / "data" / folder).mkdir(parents=True)
    thread = start_warm_up(Library([tmp_path / "data"], Settings(home=tmp_path, model=None)))
    thread.join(SECONDS)
    assert not thread.is_alive()
