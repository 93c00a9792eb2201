"""Fixtures that the tests of several packages share: a small world, the real models and the datasets."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

from opensearch_cluster.background import BackgroundCluster, wanted_early
from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from trials import FULL, examples
from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret.weights import TrainedOn, TrainingSettings, Weights
from triplebeam.settings import Settings
from triplebeam.support import prepare
from triplebeam.support.claim import Claim

# What a shell starts in the background has Ctrl-C switched off, and so would have every process the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The same examples each time, however long they take; TRIPLEBEAM_RANDOM=1 draws new ones.
settings.register_profile(
    "patient",
    max_examples=examples(100),
    deadline=None,
    derandomize=os.environ.get("TRIPLEBEAM_RANDOM") != "1",
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")

_CLUSTER = pytest.StashKey[BackgroundCluster]()


def pytest_configure(config: pytest.Config) -> None:
    """Start the cluster that some tests search, so that it is there when they come."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker and wanted_early(config.option.file_or_dir) and not config.option.markexpr:
        config.stash[_CLUSTER] = BackgroundCluster()


class FileScheduling(LoadGroupScheduling):
    """Gives all tests of a group, else of a file, to one worker: what a module shares is made once."""

    def _split_scope(self, nodeid: str) -> str:
        return super()._split_scope(nodeid).partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadGroupScheduling | None:
    return FileScheduling(config, log) if config.option.dist == "loadgroup" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that workers end together."""
    slow = {item.path for item in items if any(map(item.get_closest_marker, ("slow", "data")))}
    items.sort(key=lambda item: item.path not in slow)


def pytest_unconfigure(config: pytest.Config) -> None:
    if cluster := config.stash.get(_CLUSTER, None):
        cluster.stop()


@pytest.fixture(scope="session", autouse=True)
def _no_flush() -> Iterator[None]:
    """Leave files to the system, 70 for each index built, except in `make trials`; power cuts hit other processes."""
    with pytest.MonkeyPatch.context() as patch:
        if not FULL:
            patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def _reader_of_claims(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Facts are checked without a model, except in tests that are slow or need the datasets."""
    if any(map(request.node.get_closest_marker, ("slow", "data"))):
        prepare(home, offline=False)
    else:
        monkeypatch.setattr("triplebeam.support.find.states", _states)
    monkeypatch.setattr("triplebeam.support.prepare", lambda *_, **__: None)  # tests' homes have no weights


def _states(claim: Claim, _: float = 0.0) -> bool:
    """Return whether the words of the relation are there, and the subject comes first."""
    said, relation = claim.words.casefold(), claim.fact[: claim.fact.index("{")].rpartition("]")[2].casefold()
    in_order = said.find("[") < said.find("{") and " not " not in said
    return in_order and all(word[:4] in said for word in relation.split() if word not in ("was", "is", "the", "a"))


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
def demo_index(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the demo's index. It takes seconds to build: tests that read it are in the group "demo"."""
    from triplebeam import demo

    folder = tmp_path_factory.mktemp("demo") / "demo.index"
    demo.build(folder, Settings(home=home, offline=True, model=None))
    return folder


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the evaluation datasets."""
    folder = os.environ.get("TRIPLEBEAM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the evaluation datasets are not here: set TRIPLEBEAM_DATA to their folder")
    return Path(folder)


@pytest.fixture
def weights() -> Weights:
    """Return what training GNN-Ret on the small world could have learned."""
    return Weights(
        method="gnn_ret",
        alpha=(0.25, 0.75),
        trained_on=TrainedOn(questions="q.jsonl", question_count=2, passage_count=6, embedder="words"),
        settings=TrainingSettings(relevant=3, message="mean", edges=("keyword",)),
        loss=0.1,
        steps=3,
        ending="the gradient is small",
    )
