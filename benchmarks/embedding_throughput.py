"""Texts per second of Triplebeam's embedder and of sentence-transformers on torch, side by side, on processors alone;
or of every way in which Triplebeam encodes.

    TRIPLEBEAM_DATA=... python benchmarks/embedding_throughput.py
    TRIPLEBEAM_DATA=... python benchmarks/embedding_throughput.py --ways
    python benchmarks/embedding_throughput.py --texts lines.txt

The sides are processes that take turns, round by round, so that a busy machine treats them alike; what is printed
are medians, and ratios of the same round. torch is no dependency of Triplebeam: it is installed into an environment of
its own, once, under --environment. The endpoint of --ways is a server on this machine that runs the same model; a GPU
is one of the ways where onnxruntime-gpu is installed.
"""

import argparse
import gzip
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REQUIREMENTS = ["torch==2.13.0", "sentence-transformers>=6,<7"]  # a bare torch may draw gigabytes of GPU libraries
CACHE = Path.home() / ".cache" / "triplebeam" / "benchmarks"
#: Each way with the workers that share its texts: a precision, and threads.
WAYS = {
    "fp32, 1 thread": ["fp32:1"],
    "fp32, 2 threads": ["fp32:2"],
    "fp32, 2 processes": ["fp32:1", "fp32:1"],
    "int8, 1 thread": ["int8:1"],
    "int8, 2 threads": ["int8:2"],
    "int8, 2 processes": ["int8:1", "int8:1"],
    "endpoint, fp32, 2 threads": ["endpoint:2"],
    "fp32, GPU": ["gpu"],
}
FIRST_WAY = next(iter(WAYS))


def main() -> None:
    """Read the arguments, run both sides, print the table."""
    arguments = _arguments()
    if arguments.worker:
        _work(arguments.worker, arguments.home)
    elif arguments.ways:
        _run_ways(arguments)
    else:
        _run(arguments)


def _run(arguments: argparse.Namespace) -> None:
    from triplebeam.weights import MINILM, ensure

    folder = ensure(MINILM, arguments.home)
    workloads = _workloads(arguments)
    ours = _start(Path(sys.executable), "triplebeam", folder)
    theirs = _start(_torch_environment(arguments.environment), "sentence-transformers", folder)
    for name, texts in workloads.items():
        _compare(name, texts, ours, theirs, arguments.rounds)
    for process in (ours, theirs):
        process.stdin.close()
        process.wait()


def _run_ways(arguments: argparse.Namespace) -> None:
    from onnxruntime import get_available_providers

    from triplebeam.embed.gpu import PROVIDER
    from triplebeam.weights import GRANITE, ensure

    folder = ensure(GRANITE, arguments.home)
    ways = {way: sides for way, sides in WAYS.items() if sides != ["gpu"] or PROVIDER in get_available_providers()}
    started = {way: [_start(Path(sys.executable), side, folder) for side in sides] for way, sides in ways.items()}
    for name, texts in _workloads(arguments).items():
        for workers in started.values():
            _share(workers, texts[:32])  # a round that does not count, to warm up
        rounds = [{way: _share(workers, texts) for way, workers in started.items()} for _ in range(arguments.rounds)]
        print(f"{len(texts)} {name}, {arguments.rounds} rounds; per second, and as multiples of {FIRST_WAY!r}")
        for way in ways:
            _print_way(way, len(texts), rounds)
    for process in itertools.chain.from_iterable(started.values()):
        process.stdin.close()
        process.wait()


def _print_way(way: str, texts: int, rounds: list[dict[str, dict[str, float]]]) -> None:
    columns = []
    for clock in ("wall", "processor"):
        rate = statistics.median(texts / each[way][clock] for each in rounds)
        ratio = statistics.median(each[FIRST_WAY][clock] / each[way][clock] for each in rounds)
        columns.append(f"per {clock} second {rate:8.1f} ({ratio:.2f})")
    print(f"  {way:28}{'   '.join(columns)}", flush=True)


def _share(workers: list[Any], texts: list[str]) -> dict[str, float]:
    """All workers encode their shares at once: the time of the slowest, and the processor time of all."""
    clock = time.perf_counter()
    for number, worker in enumerate(workers):
        _send(worker, texts[number :: len(workers)])
    processor = sum(_receive(worker)["processor"] for worker in workers)
    return {"wall": time.perf_counter() - clock, "processor": processor}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, help="a file with one text a line, instead of MuSiQue")
    parser.add_argument("--triples", type=int, default=1000)
    parser.add_argument("--passages", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--home", type=Path, default=CACHE / "models", help="where the weights are kept")
    parser.add_argument("--environment", type=Path, default=CACHE / "torch", help="where torch is installed")
    parser.add_argument("--ways", action="store_true", help="the ways in which Triplebeam encodes, with granite")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def _workloads(arguments: argparse.Namespace) -> dict[str, list[str]]:
    if arguments.texts:
        return {"texts": arguments.texts.read_text(encoding="utf-8").splitlines()}
    if "TRIPLEBEAM_DATA" not in os.environ:
        sys.exit("Set TRIPLEBEAM_DATA to the folder of the evaluation datasets, or give --texts.")
    musique = Path(os.environ["TRIPLEBEAM_DATA"], "musique")
    drawn = _lines(musique / "triples.gpt-3.5-turbo-1106.jsonl.gz")
    triples = (" ".join(triple) for passage in drawn for triple in passage["triples"])
    passages = (f"{line['title']}\n{line['text']}" for line in _lines(musique / "corpus.jsonl.gz"))
    return {
        "triples": list(itertools.islice(triples, arguments.triples)),
        "passages": list(itertools.islice(passages, arguments.passages)),
    }


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _torch_environment(folder: Path) -> Path:
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"installing {' and '.join(REQUIREMENTS)} into {folder} ...", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
    return python


def _start(python: Path, side: str, folder: Path) -> Any:
    command = [python, __file__, "--worker", side, "--home", folder]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _work(side: str, folder: Path) -> None:
    """Encode each line of texts that comes in; answer with the seconds taken and the first vector."""
    encode = _encoder(side, folder)
    for line in sys.stdin:
        texts = json.loads(line)
        clock, processor = time.perf_counter(), time.process_time()
        vectors = encode(texts)
        seconds = {"wall": time.perf_counter() - clock, "processor": time.process_time() - processor}
        print(json.dumps({**seconds, "vector": [float(number) for number in vectors[0]]}), flush=True)


def _encoder(side: str, folder: Path) -> Callable[[list[str]], Any]:
    from triplebeam.embed.onnx_embedder import OnnxEmbedder

    way, _, threads = side.partition(":")
    if way == "triplebeam":
        return OnnxEmbedder(folder).embed
    if way == "sentence-transformers":
        return _sentence_transformers(folder)
    if way == "gpu":
        return OnnxEmbedder(folder, on_gpu=True).embed
    if way == "endpoint":
        return _endpoint(OnnxEmbedder(folder, threads=int(threads)).embed)
    return OnnxEmbedder(folder, threads=int(threads), precision="int8" if way == "int8" else "fp32").embed


def _endpoint(embed: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    """Return the embedder for endpoints, and behind it a server with OpenAI's interface."""
    from triplebeam.embed.openai_compatible import OpenAICompatibleEmbedder

    class Embeddings(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            rows = [{"index": number, "embedding": row} for number, row in enumerate(embed(texts).tolist())]
            body = json.dumps({"data": rows}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return OpenAICompatibleEmbedder("granite", f"http://127.0.0.1:{server.server_port}/v1", "no key").embed


def _sentence_transformers(folder: Path) -> Callable[[list[str]], Any]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    # The weights' folder has none of this library's own files, so it would not cut texts where the model does.
    model.max_seq_length = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


def _ask(process: Any, texts: list[str]) -> dict[str, Any]:
    _send(process, texts)
    return _receive(process)


def _send(process: Any, texts: list[str]) -> None:
    process.stdin.write(json.dumps(texts) + "\n")
    process.stdin.flush()


def _receive(process: Any) -> dict[str, Any]:
    answer = process.stdout.readline()
    if not answer:
        sys.exit("A side ended before its time; its error is above.")
    return dict(json.loads(answer))


def _compare(name: str, texts: list[str], ours: Any, theirs: Any, rounds: int) -> None:
    first, second = _ask(ours, texts[:32]), _ask(theirs, texts[:32])  # a round that does not count, to warm up
    apart = max(abs(one - other) for one, other in zip(first["vector"], second["vector"], strict=True))
    pairs = [(_ask(ours, texts), _ask(theirs, texts)) for _ in range(rounds)]
    print(f"{len(texts)} {name}, {rounds} rounds; largest difference of a component {apart:.1e}")
    for clock in ("wall", "processor"):
        mine = statistics.median(len(texts) / our[clock] for our, _ in pairs)
        their = statistics.median(len(texts) / other[clock] for _, other in pairs)
        ratio = statistics.median(other[clock] / our[clock] for our, other in pairs)
        print(
            f"  per {clock} second: triplebeam {mine:8.1f}   sentence-transformers {their:8.1f}   ratio {ratio:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
