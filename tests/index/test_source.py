"""A folder and a view of it are sources."""

import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.testing.contracts import SourceContract
from triplebeam.where import parse


class TestFolder(SourceContract):
    where = 'document in ("film", "actor", "city")'

    @pytest.fixture
    def source(self, world: Snapshot) -> Snapshot:
        return world

    @pytest.fixture
    def embedder(self, words: Embedder) -> Embedder:
        return words


class TestView(TestFolder):
    @pytest.fixture
    def source(self, world: Snapshot) -> Snapshot:
        return world.filter(parse('document != "other"'))
