"""An index folder beside the same index on OpenSearch: build, latency and recall of methods, in one run.

    python tests/opensearch_cluster/nodes.py run CLUSTER   # three nodes; OPENSEARCH_JAVA_OPTS="-Xms1g -Xmx1g" for this
    python benchmarks/opensearch.py CLUSTER/nodes.json 27000.index --clones 40

The index must have been built before; its vectors are taken over, so that what is measured is the engine. ``--clones``
is for an index of ``scale_trial.py``, whose first clone the development questions of three datasets belong to;
otherwise ``--questions`` are JSON lines of ``question`` and ``gold``, a list of passage ids. Processor time is that of
this process and of the nodes, which must be on this machine; compare figures of one run only.
"""

import argparse
import gzip
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scale.clones import DATASETS
from scale.hashed import HashedDimensions

import triplebeam
from triplebeam import Index, Settings
from triplebeam.assemble.models import publisher_of
from triplebeam.index.build.writing import open_store_copy
from triplebeam.index.content.content import Content
from triplebeam.index.content.encoding import VectorCache
from triplebeam.index.folder.manifest import PreviousGeneration, read_manifest
from triplebeam.index.location import Cluster
from triplebeam.index.opensearch.client import Client

METHODS = (
    *("bm25", "dense", "hybrid", "scaled_hybrid", "hybrid+naive_ge[scorer=pooled]"),
    *("dense+gnn_ret", "hipporag2", "blend"),
)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Clock:
    """Seconds on the clock, and of processor time of this process and of the nodes."""

    nodes: Sequence[int]
    """Process ids."""
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure what is done meanwhile."""
        begun = self._now()
        yield
        self.seconds = {name: now - begun[name] for name, now in self._now().items()}

    def _now(self) -> dict[str, float]:
        files = (Path(f"/proc/{pid}/stat").read_text(encoding="ascii") for pid in self.nodes)
        ticks = (each.rpartition(")")[2].split()[11:13] for each in files)
        return {
            "clock": time.perf_counter(),
            "client": time.process_time(),
            "nodes": sum(int(each) for of_one in ticks for each in of_one) / _TICKS,
        }


def publish(folder: Path, cluster: Cluster, clock: Clock) -> None:
    """Publish what is in a folder to a cluster."""
    cluster.state.mkdir(parents=True, exist_ok=True)
    space, last = read_manifest(folder).embedder, PreviousGeneration.of(folder).arrays
    with (
        open_store_copy(folder) as store,
        closing(VectorCache(cluster.state, space.fingerprint, space.dimension, last)) as encoded,
        clock.running(),
    ):
        contents = Content.of(store, in_context=space.triples_in_context)
        publisher_of(cluster).publish(store, contents, encoded, space, lambda *_: None)


def disk(cluster: Cluster) -> dict[str, float]:
    """Megabytes of the indices of each kind, without their copies."""
    listed = Client(cluster).request("GET", f"/{cluster.prefix}-*/_stats/store")["indices"]
    return {
        name.removeprefix(f"{cluster.prefix}-"): each["primaries"]["store"]["size_in_bytes"] / 1e6
        for name, each in listed.items()
    }


def measure(index: Index, method: str, questions: Sequence[dict[str, Any]], clock: Clock) -> dict[str, Any]:
    """Mean recall, median seconds per question, and what was found."""
    recalls: dict[int, list[float]] = {5: [], 15: []}
    found, spent = [], []
    index.search("a first question", method=method, k=15)  # what is loaded once
    for question in questions:
        with clock.running():
            ids = index.search(question["question"], method=method, k=15).ids
        spent.append(clock.seconds)
        found.append(set(ids))
        gold = set(question["gold"])
        for k, values in recalls.items():
            values.append(len(gold.intersection(ids[:k])) / len(gold))
    clocks = [each["clock"] for each in spent]
    return {
        **{f"R@{k}": 100 * statistics.mean(values) for k, values in recalls.items()},
        "p50": 1000 * statistics.median(clocks),
        "p95": 1000 * statistics.quantiles(clocks, n=20)[-1],
        "client": 1000 * statistics.mean(each["client"] for each in spent),
        "nodes": 1000 * statistics.mean(each["nodes"] for each in spent),
        "found": found,
    }


def same(one: Sequence[set[str]], other: Sequence[set[str]]) -> float:
    """Return the share of passages that both found, in percent."""
    return 100 * statistics.mean(len(a & b) / max(len(a), 1) for a, b in zip(one, other, strict=True))


def read_questions(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def questions_of_clones(count: int) -> list[dict[str, Any]]:
    """Development questions of all datasets, spread over each; their passages are those of the first clone."""
    found = []
    for dataset in DATASETS:
        rows = read_questions(Path(os.environ["TRIPLEBEAM_DATA"]) / dataset / "questions.dev.jsonl.gz")
        each = -(-count // len(DATASETS))
        found += [{**row, "gold": [f"0/{id_}" for id_ in row["gold"]]} for row in rows[:: len(rows) // each][:each]]
    return found[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every so many-th question of the file")
    parser.add_argument("--clones", type=int, metavar="COUNT", help="so many questions to an index of scale_trial.py")
    parser.add_argument("-m", "--method", action="append", help="only these")
    parser.add_argument("--published", action="store_true", help="the index is on the cluster already")
    parser.add_argument("--options", default="shards=1", help="behind the prefix of the address")
    options = parser.parse_args()
    nodes = json.loads(options.nodes.read_text())
    clock = Clock(nodes["pids"])
    clones = options.clones
    questions = questions_of_clones(clones) if clones else read_questions(options.questions)[:: options.every]
    text = f"opensearch://{','.join(nodes['hosts'])}/benchmark-{options.index.stem}?{options.options}"
    with TemporaryDirectory() as scratch:
        settings = Settings(state=Path(scratch))
        place = Cluster.parse(text, settings.state)
        if not options.published:
            publish(options.index, place, clock)
            print("published, seconds:", *(f"{key} {value:.0f}" for key, value in clock.seconds.items()), flush=True)
        print("on each copy, MB:", *(f"{key} {value:.0f}" for key, value in disk(place).items()), flush=True)
        embedder = HashedDimensions() if clones else None
        folder, cluster = (
            triplebeam.open(place, embedder=embedder, settings=settings) for place in (options.index, text)
        )
        for method in options.method or METHODS:
            here, there = (measure(index, method, questions, clock) for index in (folder, cluster))
            agreement = same(here.pop("found"), there.pop("found"))
            for name, figures in (("folder", here), ("OpenSearch", there)):
                print(f"{method:31} {name:10}", *(f"{key} {value:7.1f}" for key, value in figures.items()), flush=True)
            ratio, spent = there["p50"] / here["p50"], (there["client"] + there["nodes"]) / max(here["client"], 1e-3)
            print(f"{method:31} same {agreement:.0f} %, p50 × {ratio:.1f}, processor time × {spent:.1f}", flush=True)


if __name__ == "__main__":
    main()
