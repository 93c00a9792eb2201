"""A server over a small world, with an embedder and an extractor that need no weights."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from journeys.conftest import quick, rivers, small_index, tiny_model  # noqa: F401 - fixtures
from serve.asking.served_world import library_over
from serve.http.small_server import Make
from small_world import TableExtractor
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys


@pytest.fixture
def data(world: Snapshot, tmp_path: Path) -> Path:
    """A data folder with a copy of the index ``world``."""
    shutil.copytree(world.folder, tmp_path / "data" / "world.index")
    return tmp_path / "data"


@pytest.fixture
def make(data: Path, tmp_path: Path) -> Make:
    """Makes apps over the data folder."""

    def made(*folders: Path, keys: Keys | None = None, **options: Any) -> TestClient:
        parts = {"model": options.pop("model", None), "extractor": options.pop("extractor", TableExtractor({}))}
        library = library_over(*folders or [data], home=tmp_path / "home", **parts)
        app = make_app(library, keys=keys or Keys(library.keys_file), **options)
        return TestClient(app, raise_server_exceptions=False)

    return made


@pytest.fixture
def client(make: Make) -> Iterator[TestClient]:
    """A client of a server that runs."""
    with make() as client:
        yield client
