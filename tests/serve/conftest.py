"""What the doors are tried on: the small world, behind whichever door."""

import pytest

from triplebeam.assemble import Collection, open_collection
from triplebeam.embed.embedder import Embedder
from triplebeam.index.opened import Index


@pytest.fixture
def index(world: Index, words: Embedder) -> Collection:
    return open_collection(world.folder, embedder=words)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
