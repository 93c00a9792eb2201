"""What the doors are tried on: the small world, behind whichever door."""

import pytest

from triplebeam.assemble import Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot


@pytest.fixture(autouse=True)
def _no_other_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRIPLEBEAM_MODEL", "TRIPLEBEAM_EMBEDDER", "TRIPLEBEAM_READING_MODEL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def index(world: Snapshot, words: Embedder) -> Index:
    return open_index(world.folder, embedder=words)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
