"""A server over a small world, with an embedder and an extractor that need no weights."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from journeys.conftest import quick, small_index, tiny_model  # noqa: F401 - fixtures
from serve.http.small_server import Make
from small_world import TableExtractor, WordEmbedder
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.serve.limits import Limits
from triplebeam.settings import Settings


@pytest.fixture
def data(world: Snapshot, tmp_path: Path) -> Path:
    """A data folder with a copy of the index ``world``."""
    shutil.copytree(world.folder, tmp_path / "data" / "world.index")
    return tmp_path / "data"


@pytest.fixture
def make(data: Path, tmp_path: Path) -> Make:
    """Makes apps over the data folder."""

    def made(
        *folders: Path,
        keys: Keys | None = None,
        limits: Limits | None = None,
        model: LanguageModel | None = None,
        extractor: TableExtractor | None = None,
        **options: object,
    ) -> TestClient:
        library = Library(
            folders or [data],
            Settings(home=tmp_path / "home", offline=True, model=None),
            embedder=WordEmbedder(),
            model=model,
            extractor=extractor or TableExtractor({}),
        )
        app = make_app(library, keys=keys or Keys(library.keys_file), limits=limits, **options)  # type: ignore[arg-type]
        return TestClient(app, raise_server_exceptions=False)

    return made


@pytest.fixture
def client(make: Make) -> Iterator[TestClient]:
    """A client of a server that runs."""
    with make() as client:
        yield client
