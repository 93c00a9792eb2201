"""Apps over the small world."""

from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from serve.asking.served_world import MakeApp, app_over
from triplebeam.index.folder.snapshot import Snapshot


@pytest.fixture
def make(world: Snapshot, tmp_path: Path) -> MakeApp:
    return partial(app_over, world.folder, tmp_path)


@pytest.fixture
def client(make: MakeApp) -> TestClient:
    """Without a language model."""
    return TestClient(make(), base_url="http://127.0.0.1")
