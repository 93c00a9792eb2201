"""Apps over the small world."""

from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from serve.asking.served_world import MakeApp, app_over
from triplebeam.index.folder.snapshot import Snapshot


@pytest.fixture
def make(world: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeApp:
    for name in ("TRIPLEBEAM_MODEL", "TRIPLEBEAM_EMBEDDER", "TRIPLEBEAM_READING_MODEL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return partial(app_over, world.folder, tmp_path)


@pytest.fixture
def client(make: MakeApp) -> TestClient:
    """Without a language model."""
    return TestClient(make(), base_url="http://127.0.0.1")
