"""What several rooms' tests share: a small world, and the real models and datasets where they are wanted."""

import os
import signal
from pathlib import Path

import platformdirs
import pytest

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.index.build import IndexBuilder
from triplebeam.index.snapshot import Snapshot

# What a shell starts in the background has Ctrl-C switched off, and so would have every process the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def words() -> Embedder:
    return WordEmbedder()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """Six passages, nine triples."""
    folder = tmp_path_factory.mktemp("world") / "world.index"
    IndexBuilder(folder=folder, embedder=words, extractor=TableExtractor(TRIPLES)).build(world_documents())
    return Snapshot.open(folder)


@pytest.fixture(scope="session")
def home() -> Path:
    """Where model weights are, and are put when they are missing."""
    return Path(os.environ.get("TRIPLEBEAM_HOME") or platformdirs.user_cache_path("triplebeam"))


@pytest.fixture(scope="session")
def minilm(home: Path) -> Embedder:
    from triplebeam.embed import load_embedder

    return load_embedder("minilm", home)


@pytest.fixture(scope="session")
def data() -> Path:
    """The evaluation datasets."""
    folder = os.environ.get("TRIPLEBEAM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the evaluation datasets are not here: set TRIPLEBEAM_DATA to their folder")
    return Path(folder)
