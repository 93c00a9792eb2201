"""What the doors are tried on: the small world, behind whichever door."""

import pytest

from triplebeam.assemble import Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot


@pytest.fixture
def index(world: Snapshot, words: Embedder) -> Index:
    return open_index(world.folder, embedder=words)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
