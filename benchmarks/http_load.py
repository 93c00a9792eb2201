"""What a search over HTTP costs beyond the search itself, and what many clients at once gain, side by side in one run.

    python benchmarks/http_load.py [INDEX QUESTIONS] [--clients 8] [--count 40] [--rounds 5] [-m METHOD] [--k 10]

Without arguments it indexes the toy corpus into a temporary folder. The server is a process of its own on a loopback
address; its clients are threads of this one. Processor times are those of the process that searches; seconds depend on
what else the machine does, so only ratios within one run can be compared. No question is asked twice.
"""

import argparse
import http.client
import itertools
import json
import multiprocessing
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from triplebeam import assemble, demo
from triplebeam.evaluate.questions import read_questions
from triplebeam.settings import read_settings

HOST = "127.0.0.1"


class Asked(NamedTuple):
    """A round of searches."""

    processor: float
    """Seconds of the searching process for each."""
    wait: float
    """Median seconds from a question to its result."""
    per_second: float


class Client(threading.local):
    """A connection that stays open, for each thread."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(HOST, port, timeout=120)

    def get(self, path: str, body: dict[str, object] | None = None) -> bytes:
        """Return the body of a reply; anything but 200 is an error."""
        method, sent = ("GET", None) if body is None else ("POST", json.dumps(body))
        self._connection.request(method, path, sent, {"Content-Type": "application/json"})
        reply = self._connection.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{reply.status}: {content[:200]!r}")
        return content


def ask_all(search: Callable[[str], object], questions: list[str], threads: int, clock: Callable[[], float]) -> Asked:
    """Ask every question, so many at a time."""

    def wait(question: str) -> float:
        started = time.perf_counter()
        search(question)
        return time.perf_counter() - started

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(wait, questions[:threads]))  # connections are open from now on
        before, started = clock(), time.perf_counter()
        waits = list(pool.map(wait, questions[threads:]))
        spent, seconds = clock() - before, time.perf_counter() - started
    return Asked(spent / len(waits), median(waits), len(waits) / seconds)


def serve(folder: Path, ready: Connection) -> None:
    """Make the server as `triplebeam serve` runs it, and a route that returns the CPU time it has used."""
    import uvicorn

    from triplebeam.serve.http.app import make_app
    from triplebeam.serve.http.keys import Keys
    from triplebeam.serve.library import Library

    library = Library([folder], read_settings())
    app = make_app(library, keys=Keys(library.keys_file))
    app.add_api_route("/processor", lambda: time.process_time())  # a route needs a signature
    listening = socket.create_server((HOST, 0))
    ready.send((listening.getsockname()[1], library.names()[0]))
    # Clients rest while others are measured.
    config = uvicorn.Config(app, access_log=False, log_level="warning", timeout_keep_alive=600)
    uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Client, str]]:
    """Return a client of a server over one index, and the index's name."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, theirs), daemon=True)
    server.start()
    theirs.close()  # so that a server that fails to start is noticed
    port, name = ours.recv()
    try:
        yield Client(port), name
    finally:
        server.terminate()
        server.join()


def measure(folder: Path, questions: Iterator[str], arguments: argparse.Namespace) -> dict[str, list[Asked]]:
    """Every way to search, in turn, round by round."""
    index, method, k = assemble.open_index(folder), arguments.method, arguments.k
    with serving(folder) as (client, name):

        def over_http(question: str) -> None:
            client.get(f"/api/indexes/{name}/search", {"question": question, "method": method, "k": k})

        def clock() -> float:
            return float(client.get("/processor"))

        own = time.process_time
        ways = {
            "in process, the search alone": (lambda asked: index.search(asked, method=method, k=k), 1, own),
            "in process, as it is shown": (
                lambda asked: index.search(asked, method=method, k=k).explain(),
                1,
                own,
            ),
            "over HTTP, one client": (over_http, 1, clock),
            f"over HTTP, {arguments.clients} clients": (over_http, arguments.clients, clock),
        }
        measured: dict[str, list[Asked]] = {way: [] for way in ways}
        for _, (way, (search, threads, timed)) in itertools.product(range(arguments.rounds + 1), ways.items()):
            asked = list(itertools.islice(questions, arguments.count + threads))
            measured[way].append(ask_all(search, asked, threads, timed))
    return {way: rounds[1:] for way, rounds in measured.items()}  # the first maps files and makes matrices


def show(measured: dict[str, list[Asked]]) -> None:
    """Return times, and ratios of rounds."""
    times = Table("medians of rounds", "processor ms", "wait ms", "searches per second")
    for way, rounds in measured.items():
        processor, wait, per_second = (median(column) for column in zip(*rounds, strict=True))
        times.add_row(way, f"{1000 * processor:.1f}", f"{1000 * wait:.1f}", f"{per_second:.1f}")
    ratios = Table("ratio", "processor", "wait", "searches per second")
    alone, shown, one, many = measured
    for above, below in ((shown, alone), (one, shown), (one, alone), (many, one)):
        pairs = zip(measured[above], measured[below], strict=True)
        columns = zip(*([mine / other for mine, other in zip(*pair, strict=True)] for pair in pairs), strict=True)
        ratios.add_row(f"{above} / {below}", *(f"{median(column):.2f}" for column in columns))
    for table in (times, ratios):
        Console(width=160).print(table)


def never_twice(questions: list[str]) -> Iterator[str]:
    """Return the questions over and over, each time as others."""
    return (f"{question} ({number})" for number in itertools.count(1) for question in questions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", nargs="?", type=Path)
    parser.add_argument("questions", nargs="?", type=Path)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--count", type=int, default=40, help="how many searches of each way in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-m", "--method", default=assemble.DEFAULT_METHOD)
    parser.add_argument("--k", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder) / "toy.index"
        if not arguments.index:
            demo.build(index, read_settings())
        asked = read_questions(arguments.questions) if arguments.questions else demo.questions()
        show(measure(index, never_twice([each.question for each in asked]), arguments))


if __name__ == "__main__":
    main()
