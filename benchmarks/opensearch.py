"""An index folder beside the same index on OpenSearch: build, latency and recall of methods, in one run.

    python benchmarks/opensearch.py musique.index opensearch://localhost:9200/musique questions.dev.jsonl.gz --every 3

The index must have been built before; its vectors are taken over, so that what is measured is the engine. Questions are
JSON lines of ``question`` and ``gold``, a list of passage ids.
"""

import argparse
import gzip
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import triplebeam
from triplebeam import Index, Settings
from triplebeam.assemble.place import index_folder
from triplebeam.embed.embedder import Embedder
from triplebeam.index.contents import Contents
from triplebeam.index.encoded import EncodedTexts
from triplebeam.index.manifest import LastGeneration, read_manifest
from triplebeam.index.opensearch.address import Address
from triplebeam.index.opensearch.publish import OnCluster
from triplebeam.index.writing import looking
from triplebeam.testing.hashed_words import HashedWords

METHODS = ("bm25", "dense", "hybrid", "hybrid+naive_ge[scorer=pooled]", "gnn_ret", "hipporag2", "blend")


def publish(folder: Path, address: Address, local: Path) -> float:
    """Publish what is in a folder to a cluster; returns how many seconds that took."""
    space, last = read_manifest(folder).embedder, LastGeneration.of(folder)
    with looking(folder) as store, EncodedTexts(local, space.fingerprint, space.dimension, last) as encoded:
        contents = Contents.of(store, in_context=space.triples_in_context)
        begun = time.perf_counter()
        OnCluster(address, local).publish(store, contents, encoded, space, lambda *_: None)
    return time.perf_counter() - begun


def measure(index: Index, method: str, questions: Sequence[dict[str, object]]) -> dict[str, float]:
    """Mean recall, and seconds per question."""
    found: dict[int, list[float]] = {5: [], 15: []}
    seconds = []
    index.search("a first question", method, 15)  # what is loaded once
    for question in questions:
        begun = time.perf_counter()
        ids = [hit.passage_id for hit in index.search(str(question["question"]), method, 15)]
        seconds.append(time.perf_counter() - begun)
        gold = set(question["gold"])  # type: ignore[call-overload]
        for k, values in found.items():
            values.append(len(gold.intersection(ids[:k])) / len(gold))
    recalls = {f"R@{k}": 100 * statistics.mean(values) for k, values in found.items()}
    return recalls | {"p50": statistics.median(seconds), "p95": statistics.quantiles(seconds, n=20)[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", type=Path)
    parser.add_argument("address")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every so many-th question")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--published", action="store_true", help="the index is on the cluster already")
    parser.add_argument("--hashed", action="store_true", help="the index was built with the embedder of hashed words")
    options = parser.parse_args()
    with gzip.open(options.questions, "rt") as file:
        questions = [json.loads(line) for line in file][:: options.every]
    embedder: Embedder | None = HashedWords() if options.hashed else None
    with TemporaryDirectory() as scratch:
        settings = Settings(state=Path(scratch))
        local = index_folder(options.address, settings)
        if not options.published:
            print(f"published in {publish(options.index, Address.parse(options.address), local):.1f} s", flush=True)
        places = {"folder": options.index, "OpenSearch": options.address}
        opened = {name: triplebeam.open(place, embedder=embedder, settings=settings) for name, place in places.items()}
        for method in options.methods.split(","):
            for name, index in opened.items():
                figures = measure(index, method, questions)
                print(f"{method:32} {name:11}", *(f"{key} {value:6.3f}" for key, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
