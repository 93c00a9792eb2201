"""Extraction and encoding on a Ray cluster, as stages of Ray Data.

Workers do what the processes and threads of one machine do, with the same functions: a line of passages becomes a line
of extractions, a window of texts becomes vectors. They write nothing. Results come back in order to the one process
that builds the index, which keeps them by key as always; so it does not matter how often a worker is lost and its work
done again, nor whether the whole run is stopped and started again: everything is there once. Calls to a language model
are not made on workers: one process keeps to the limits, the budget and the cache.

The cluster is the one that Ray's own variable ``RAY_ADDRESS`` names, else one that runs on this machine, else a new one
of this machine's processors. No setting names it: whoever answers there gets the documents and can run code here.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Window, embed_window
from triplebeam.errors import BadInputError, EmbedderMismatchError, ExtraMissingError, TriplebeamError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local import LocalExtractor
from triplebeam.extract.local.workers import batch_passages, make_line_parser, read_extractions, write_batch
from triplebeam.passage import Passage
from triplebeam.weights import ENGLISH_PARSER, ensure

_LOG = logging.getLogger("triplebeam")
#: A line of text to bytes.
Stage: TypeAlias = Callable[[str], bytes]
#: Lines that are in the cluster's memory at a time, with their results.
_PASSAGES_PER_WAVE = 1024
#: Processes of Ray on a busy machine take long to load. Its defaults are 30 seconds, and 60 for a worker.
_LIMITS_OF_RAY = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody
    "RAY_gcs_server_port_wait_time_s": "120",
    "RAY_raylet_start_wait_time_s": "60",
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_worker_register_timeout_seconds": "300",
}
#: One limit of Ray cannot be set: a node ends if its agents take 15 seconds to load. They are faster the next time.
_MAX_STARTS = 3
_TIMED_OUT = "timed out during startup"


def run_stage(make_stage: Callable[[], Stage], lines: Iterable[str]) -> Iterator[bytes]:
    """Run a stage on each line, in order. Each wave of lines has new workers; each makes the stage once."""
    data, remaining = _ray_data(), iter(lines)
    import ray

    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    while wave := list(islice(remaining, _PASSAGES_PER_WAVE)):
        # A line is a task of its own: it takes seconds, and a worker that is lost loses one.
        read = data.from_items([{"line": line} for line in wave], override_num_blocks=len(wave))
        workers = data.ActorPoolStrategy(size=min(processors, len(wave)))
        for row in read.map(Worker, fn_constructor_args=(make_stage,), compute=workers).iter_rows():
            if row["failure"]:
                raise TriplebeamError(f"a worker of the cluster failed: {row['failure']}")
            yield row["done"]


def _ray_data() -> Any:
    """Import the library, and connect to a cluster."""
    for name, value in _LIMITS_OF_RAY.items():  # read when Ray is imported, and by the processes that it starts
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ExtraMissingError("ray") from error
    if not ray.is_initialized():
        connect_ray(ray.init, logging_level="warning", log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    return ray.data


def connect_ray(init: Callable[..., object], *address: str, **options: object) -> None:
    """Connect to a cluster, or start one, again where a node was too slow."""
    for start in range(_MAX_STARTS):
        try:
            init(*address, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise BadInputError(f"no Ray cluster can be reached ({error}): check the variable RAY_ADDRESS.") from error
        except Exception as error:  # Ray has no class of its own for a slow start
            if _TIMED_OUT not in str(error):
                raise
            if start + 1 == _MAX_STARTS:
                raise TriplebeamError(
                    f"Ray did not start on this machine in {_MAX_STARTS} tries, which is too busy: try again later, or"
                    " set RAY_ADDRESS to a cluster that runs."
                ) from error
            _LOG.warning("Ray was too slow to start on this busy machine: it is started again.")
        else:
            return


class Worker:
    """Runs a stage, which it makes for the first line. What goes wrong comes back in words, not as an exception."""

    def __init__(self, make_stage: Callable[[], Stage]) -> None:
        self._make_stage = make_stage

    @cached_property
    def _stage(self) -> Stage:
        return self._make_stage()

    def __call__(self, row: dict[str, str]) -> dict[str, bytes | str]:
        try:
            return {"done": self._stage(row["line"]), "failure": ""}
        except TriplebeamError as error:
            return {"done": b"", "failure": str(error)}


@dataclass(frozen=True)
class ClusterExtractor:
    """The local extractor, with the workers of a cluster instead of processes. Each has the parser, or fetches it."""

    extractor: LocalExtractor
    offline: bool = False

    @property
    def name(self) -> str:
        """That of the local extractor, whose rules these are."""
        return self.extractor.name

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction per passage, in order."""
        home = self.extractor.model_folder.parent
        for line in run_stage(partial(parsing_stage, home, self.offline), map(write_batch, batch_passages(passages))):
            yield from read_extractions(line.decode())


def parsing_stage(home: Path, offline: bool) -> Stage:
    """Parse a line of passages, with the parser in this home."""
    parse = make_line_parser(ensure(ENGLISH_PARSER, home, offline=offline))
    return lambda line: parse(line).encode()


def encode_on_cluster(
    make_embedder: Callable[[], Embedder], embedder: Embedder, windows: Iterable[Window]
) -> Iterator[NDArray[np.float32]]:
    """Return the vectors of windows, from workers that each make the embedder."""
    lines = (json.dumps([window.texts, window.spans]) for window in windows)
    for vectors in run_stage(partial(encoding_stage, make_embedder, embedder.fingerprint), lines):
        yield np.frombuffer(vectors, np.float32).reshape(-1, embedder.dimension)


def encoding_stage(make_embedder: Callable[[], Embedder], fingerprint: str) -> Stage:
    """Encode a line that holds a window."""
    embedder = make_embedder()
    if embedder.fingerprint != fingerprint:
        raise EmbedderMismatchError(
            f"its embedder {embedder.name!r} has the fingerprint {embedder.fingerprint[:12]} and that of the index"
            f" {fingerprint[:12]}: install the same weights on every machine."
        )
    return lambda line: embed_window(embedder, Window(*json.loads(line))).tobytes()
