"""Building, opening and searching an index, each in a process of its own, so that its peak of memory is its own."""

import json
import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from scale.clones import Clones
from scale.hashed import HashedDimensions
from triplebeam import assemble
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.system.work import processors

METHODS = (
    "bm25",
    "dense",
    "hybrid",
    "hybrid+naive_ge[scorer=pooled]",
    "dense+gnn_ret",
    "hipporag2",
    "blend",
)
#: The last steps of publishing, as they are counted (`triplebeam.index.folder.publish.write_generation`).
_PUBLISHED = (
    "start",
    "passages",
    "terms",
    "passage vectors",
    "triples",
    "passage graph",
    "triple vectors",
    "synonyms",
)


def in_its_own_process(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Return what the work returns, with the most memory it used, in gigabytes."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, *arguments))


def _measured(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    found = work(*arguments)
    return found | {"peak memory, GB": _peak()}


class _Stages:
    """Seconds of processor time between reports of progress, each for what was reported last.

    What was done so far is written to a file as each stage ends, with the most memory used until then, so that a build
    that is stopped has been measured as far as it came.
    """

    def __init__(self, log: Path) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._log, self._begin, self._last, self._stage = log, time.perf_counter(), time.process_time(), ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.process_time()
        if stage == "publish":
            stage = _PUBLISHED[done]
        elif stage == "embed" and not done:
            stage = "contents"
        if stage != self._stage and self._stage:
            self.write(self._stage)
        self.seconds[stage] += now - self._last
        self._last, self._stage = now, stage

    def write(self, stage: str) -> None:
        """Append what a stage took."""
        line = {
            "stage": stage,
            "seconds": round(self.seconds[stage], 1),
            "seconds on the clock until then": round(time.perf_counter() - self._begin, 1),
            "peak memory until then, GB": _peak(),
        }
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


def build(folder: Path, data: Path, passages: int) -> dict[str, Any]:
    """Build an index of so many passages."""
    stages, clones = _Stages(folder.with_suffix(".stages.jsonl")), Clones(data, passages)
    begin = time.perf_counter()
    builder = IndexBuilder(folder=folder, embedder=HashedDimensions(), extractor=clones, progress=stages)
    report = builder.build(clones.documents())
    stages("derived, and checksums", 1, 1)
    stages.write("derived, and checksums")
    assert report.manifest is not None
    return {
        "counts": dict(report.manifest.counts),
        "seconds on the clock": round(time.perf_counter() - begin, 1),
        "seconds of processor time": {stage: round(spent, 1) for stage, spent in stages.seconds.items()},
        "disk, GB": round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e9, 2),
        "generation, GB": round(
            sum(file.stat().st_size for file in folder.glob("generations/*/**/*") if file.is_file()) / 1e9, 2
        ),
    }


def open_(folder: Path) -> dict[str, Any]:
    """Open an index, and nothing else."""
    begin, spent = time.perf_counter(), time.process_time()
    Snapshot.open(folder)
    return {
        "opening, s": round(time.perf_counter() - begin, 2),
        "processor time, s": round(time.process_time() - spent, 2),
    }


def search(folder: Path, method: str, questions: list[str]) -> dict[str, Any]:
    """Ask one question after another: the first, which derives and maps what is needed, is reported by itself."""
    collection = assemble.open_index(folder, embedder=HashedDimensions())
    retriever = collection.retriever(method)
    spent, lasted = [], []
    for question in questions:
        begin, clock = time.process_time(), time.perf_counter()
        for hit in retriever.retrieve(question, 10):
            collection.passages[hit.passage_id]
        spent.append(1000 * (time.process_time() - begin))
        lasted.append(1000 * (time.perf_counter() - clock))
    p50, p95 = np.percentile(spent[1:], [50, 95])
    return {
        "threads": processors(),
        "first, ms": round(spent[0]),
        "p50, ms": round(float(p50), 1),
        "p95, ms": round(float(p95), 1),
        "p50 on the clock, ms": round(float(np.median(lasted[1:])), 1),
        "shortest on the clock, ms": round(min(lasted[1:]), 1),
        "load": round(os.getloadavg()[0], 1),
    }
