"""Extraction and encoding on a cluster: the same index as on one machine, also when a worker is killed halfway."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from small_world import WordEmbedder
from triplebeam.assemble import cluster as cluster_module
from triplebeam.assemble.cluster import Stage, Worker, connect_ray, encode_on_cluster, encoding_stage, run_stage
from triplebeam.assemble.indexing import index_builder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import TriplebeamError
from triplebeam.extract.extractor import Extraction
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.content import encoding
from triplebeam.index.location import Folder
from triplebeam.passage import Document, Passage
from triplebeam.settings import read_settings
from triplebeam.triple import Triple

HALF = 24
DOCUMENTS = [
    Document(id=f"{n:02}", title=f"River {n}", text=f"River {n} flows through city {n % 7}.", is_passage=True)
    for n in range(2 * HALF)
]
#: Ray's own code uses what it deprecates.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two workers on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster_module._LIMITS_OF_RAY.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # workers import this file
        # A node waits 15 seconds for its agents. To compile what they import takes them half a minute at a load of 16.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("bytecode")))
        agents = "import ray.dashboard.agent, ray._private.runtime_env.agent.main"
        subprocess.run([sys.executable, "-c", agents], check=False, capture_output=True)
        ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
        local = {"num_cpus": 2, "include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
        try:
            connect_ray(ray.init, "local", **local)
        except TriplebeamError as busy:
            pytest.skip(str(busy))
        yield
        ray.shutdown()


def facts(text: str) -> list[Triple]:
    river, _, city = text.rstrip(".").partition(" flows through ")
    return [Triple(river, "flows through", city)]


def number(text: str) -> int:
    return int(text.split()[1])


def journaling_stage(journal: Path) -> Stage:
    """Keeps a journal of who began what. From half of the rivers on, it waits until a worker was killed."""

    def work(text: str) -> bytes:
        with (journal / str(os.getpid())).open("a") as file:
            file.write(text + "\n")
        while number(text) >= HALF and not journal.with_suffix(".killed").exists():
            time.sleep(0.01)
        return json.dumps(facts(text)).encode()

    return work


def at_work_on_the_second_half(journal: Path) -> int:
    """A worker that waits."""
    while True:
        for file in journal.iterdir():
            if number((file.read_text().splitlines() or ["River 0"])[-1]) >= HALF:
                return int(file.name)
        time.sleep(0.01)


class Here:
    """Extracts in this process."""

    name = "rivers:1"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        return (Extraction(passage_id=each.id, triples=tuple(facts(each.text))) for each in passages)


class OnCluster(Here):
    """Extracts on the cluster, and kills a worker in the middle of its work."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        listed = list(passages)
        results = run_stage(partial(journaling_stage, self.journal), (each.text for each in listed))
        for place, (passage, result) in enumerate(zip(listed, results, strict=True)):
            if place == HALF // 2:
                os.kill(at_work_on_the_second_half(self.journal), signal.SIGKILL)
                self.journal.with_suffix(".killed").touch()
            yield Extraction(passage_id=passage.id, triples=tuple(Triple(*each) for each in json.loads(result)))


def dying_embedder(mark: Path) -> Embedder:
    """The first worker that encodes a second window with it is killed."""

    class Dying(WordEmbedder):
        windows = 0

        def embed(self, texts, kind="passage"):  # type: ignore[no-untyped-def]
            self.windows += 1
            if self.windows == 2 and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().embed(texts, kind)

    return Dying()


@pytest.mark.usefixtures("cluster")
def test_workers_are_killed_and_everything_is_there_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_MIN_WINDOW", 16)
    journal, mark = tmp_path / "journal", tmp_path / "an encoder was killed"
    journal.mkdir()
    on_cluster = IndexBuilder(
        folder=tmp_path / "cluster.index",
        embedder=WordEmbedder(),
        extractor=OnCluster(journal),
        encode_windows=partial(encode_on_cluster, partial(dying_embedder, mark)),
    )
    report = on_cluster.build(DOCUMENTS)
    done = Counter(line for file in journal.iterdir() for line in file.read_text().splitlines())
    assert set(done) == {document.text for document in DOCUMENTS}
    assert max(done.values()) > 1, "what the killed worker had begun was begun again"
    assert mark.exists()
    local = IndexBuilder(folder=tmp_path / "local.index", embedder=WordEmbedder(), extractor=Here()).build(DOCUMENTS)
    assert report.manifest
    assert local.manifest
    assert report.manifest.counts == local.manifest.counts
    assert report.manifest.checksums == local.manifest.checksums, "bit for bit: everything is there, and once"


@pytest.mark.usefixtures("cluster")
def test_the_setting_parses_and_encodes_on_the_cluster(home: Path, tmp_path: Path) -> None:
    manifests = []
    for compute in ("fp32", "fp32@ray"):
        settings = read_settings(home=home, embedder="minilm", compute=compute)
        manifests.append(index_builder(Folder(tmp_path / compute), settings).build(DOCUMENTS).manifest)
    here, there = manifests
    assert here
    assert there
    assert here.counts["triples"] > 0
    assert here.checksums == there.checksums


SLOW = "The current node timed out during startup. This could happen because …"


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ([], ""),
        ([SLOW], ""),
        ([SLOW] * 2, ""),
        ([SLOW] * 3, r"did not start .* in 3 tries.*RAY_ADDRESS"),
        (["something else"], "^something else$"),
    ],
)
def test_a_node_that_was_too_slow_is_started_again(errors: list[str], said: str) -> None:
    calls: list[str] = []

    def init(address: str, **_: object) -> None:
        calls.append(address)
        if len(calls) <= len(errors):
            raise Exception(errors[len(calls) - 1])

    with pytest.raises(Exception, match=said) if said else nullcontext():
        connect_ray(init, "local", num_cpus=2)
    assert calls == ["local"] * (len(errors) + (not said))


def test_what_a_worker_cannot_do_is_one_sentence() -> None:
    worker = Worker(partial(encoding_stage, WordEmbedder, "other"))
    said = worker({"line": '[["text"], []]'})
    assert said["done"] == b""
    assert str(said["failure"]).startswith(
        "its embedder 'words' has the fingerprint words-1 and that of the index other"
    )
    assert str(said["failure"]).endswith("install the same weights on every machine.")
