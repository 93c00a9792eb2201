"""Parser processes: batches of passages go in as lines of JSON, extractions come out, in order.

A plain child process and not ``multiprocessing``: forking is unsafe once a library has started threads, and spawning
would run a caller's unguarded script a second time. The same lines go to workers on other machines.
"""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

from triplebeam.errors import ExtractionError
from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.local.facts import extract_passages, load_parser
from triplebeam.passage import Passage

BATCH = 64


def batch_passages(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """All passages, a batch at a time."""
    source = iter(passages)
    while batch := list(islice(source, BATCH)):
        yield batch


def write_batch(batch: Sequence[Passage]) -> str:
    """Write a batch as a worker gets it."""
    return json.dumps(
        [(each.id, each.text, each.title, each.position, each.metadata.get("type", "")) for each in batch]
    )


def make_line_parser(folder: Path) -> Callable[[str], str]:
    """Return a worker's function, with the parser of a folder: a line of passages in, a line of extractions out."""
    nlp = load_parser(folder)

    def parse(line: str) -> str:
        passages = [
            Passage(id=passage_id, text=text, title=title, position=position, metadata={"type": kind})
            for passage_id, text, title, position, kind in json.loads(line)
        ]
        rows = [
            (found.passage_id, found.triples, found.entities, found.failure, found.unread_language)
            for found in extract_passages(nlp, passages)
        ]
        return json.dumps(rows)

    return parse


def read_extractions(line: str) -> Iterator[Extraction]:
    """Parse what a worker returned."""
    for passage_id, triples, entities, failure, language in json.loads(line):
        if failure is None and language is None:
            yield sort_out(passage_id, triples, entities)
        else:
            yield Extraction(passage_id=passage_id, failure=failure, unread_language=language)


def extract_in_processes(folder: Path, processes: int, passages: Iterable[Passage]) -> Iterator[Extraction]:
    """Deal batches to the processes in turn and collect them in the same turn, one batch ahead of each process."""
    waiting = batch_passages(passages)
    with ExitStack() as stack:
        busy: deque[tuple[subprocess.Popen[str], list[Passage]]] = deque()
        for batch in islice(waiting, processes):
            worker = stack.enter_context(_start_worker(folder))
            _send(worker, batch)
            busy.append((worker, batch))
        while busy:
            worker, sent = busy.popleft()
            found = _receive(worker, sent)
            for batch in islice(waiting, 1):
                _send(worker, batch)
                busy.append((worker, batch))
            yield from found


@contextmanager
def _start_worker(folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """Start a child process that ends with its block, also when the caller stops half-way."""
    command = [sys.executable, "-c", f"from {__name__} import serve; serve()", str(folder)]
    # One thread each: the processes share the cores already.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def serve() -> None:
    """Answer batches until stdin ends, in a process that has the parser's folder as its argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one, which ends it
    try:
        parse = make_line_parser(Path(sys.argv[1]))
        for line in sys.stdin:
            sys.stdout.write(parse(line) + "\n")
            sys.stdout.flush()
    except BrokenPipeError:  # that process is gone
        os._exit(1)


def _send(worker: "subprocess.Popen[str]", batch: list[Passage]) -> None:
    assert worker.stdin is not None
    try:
        worker.stdin.write(write_batch(batch) + "\n")
        worker.stdin.flush()
    except BrokenPipeError as error:
        raise _make_error(worker, batch) from error


def _receive(worker: "subprocess.Popen[str]", batch: list[Passage]) -> list[Extraction]:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    if not line.endswith("\n"):  # it ended in the middle of a line, or before it
        raise _make_error(worker, batch)
    return list(read_extractions(line))


def _make_error(worker: "subprocess.Popen[str]", batch: list[Passage]) -> ExtractionError:
    return ExtractionError(
        f"a process of the local extractor ended with code {worker.wait()} while it parsed the {len(batch)} passages"
        f" from {batch[0].id!r} to {batch[-1].id!r}; what is done is kept. If the machine ran out of memory, free some"
        " and run the command again."
    )
