"""Batches of passages dealt to several parser processes, and their extractions collected in order.

A plain child process and not ``multiprocessing``: forking is unsafe once a library has started threads, and spawning
would run a caller's unguarded script a second time.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from triplebeam.errors import ExtractionError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local.batches import batch_line, batches, extractions
from triplebeam.passage import Passage


def extract_in_processes(folder: Path, processes: int, passages: Iterable[Passage]) -> Iterator[Extraction]:
    """Deal batches to the processes in turn and collect them in the same turn, one batch ahead of each process."""
    waiting = batches(passages)
    with ExitStack() as stack:
        busy: deque[tuple[subprocess.Popen[str], list[Passage]]] = deque()
        for batch in islice(waiting, processes):
            worker = stack.enter_context(_Worker(folder)).process
            _send(worker, batch)
            busy.append((worker, batch))
        while busy:
            worker, sent = busy.popleft()
            found = _receive(worker, sent)
            for batch in islice(waiting, 1):
                _send(worker, batch)
                busy.append((worker, batch))
            yield from found


class _Worker:
    """The child process, ended with its block also when the caller stops half-way."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "triplebeam.extract.local.worker", str(folder)]
        # One thread each: the processes share the cores already.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment
        )

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()


def _send(worker: "subprocess.Popen[str]", batch: list[Passage]) -> None:
    assert worker.stdin is not None
    try:
        worker.stdin.write(batch_line(batch) + "\n")
        worker.stdin.flush()
    except BrokenPipeError as error:
        raise _ended(worker, batch) from error


def _receive(worker: "subprocess.Popen[str]", batch: list[Passage]) -> list[Extraction]:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line.endswith("\n"):  # it ended in the middle of a line, or before it
        raise _ended(worker, batch)
    return extractions(line)


def _ended(worker: "subprocess.Popen[str]", batch: list[Passage]) -> ExtractionError:
    return ExtractionError(
        f"a process of the local extractor ended with code {worker.wait()} while it parsed the {len(batch)} passages"
        f" from {batch[0].id!r} to {batch[-1].id!r}; what is done is kept. If the machine ran out of memory, free some"
        " and run the command again."
    )
