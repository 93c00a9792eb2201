"""What a change of an index costs, against building it; how large the index is, and how long it takes to open.

    python benchmarks/living_index.py CORPUS.jsonl.gz --triples TRIPLES.jsonl.gz

The corpus is built without its last document, which is then added and removed again, three times. Times are seconds of
processor time of this process, so that other work on the machine changes the ratios little. Words stand in for the
embedder, with as many dimensions, so that publishing is measured apart from encoding. What encoding takes is estimated
from a sample of the texts, with the embedder that is named.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from triplebeam.embed import load_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.ingest import read_sources
from triplebeam.passage import Document
from triplebeam.settings import read_settings
from triplebeam.testing.hashed_words import HashedWords

_TIMES = 3


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    embedder = load_embedder(arguments.embedder, read_settings().home)
    documents = [each for each in read_sources([arguments.corpus]) if isinstance(each, Document)][: arguments.documents]
    with tempfile.TemporaryDirectory(prefix="living-index-") as scratch:
        builder = IndexBuilder(
            folder=Path(scratch, "my.index"),
            embedder=HashedWords(embedder.dimension),
            extractor=TriplesFile(arguments.triples) if arguments.triples else None,
        )
        whole = _seconds(lambda: builder.build(documents[:-1]))
        encoding = _encoding(Snapshot.open(builder.folder), embedder, arguments.sample)
        added, removed = [], []
        for _ in range(_TIMES):
            added.append(_seconds(lambda: builder.build(documents[-1:])))
            removed.append(_seconds(lambda: builder.remove([documents[-1].id])))
        opening = [_seconds(lambda: Snapshot.open(builder.folder)) for _ in range(_TIMES)]
        _print(builder.folder, whole, encoding, statistics.median(added), statistics.median(removed), max(opening))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--triples", type=Path)
    parser.add_argument("--embedder", default="granite")
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--sample", type=int, default=512, help="texts of each kind that are encoded")
    return parser.parse_args()


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _encoding(index: Snapshot, embedder: Embedder, sample: int) -> float:
    """Seconds for all passages, triples and entities, from a sample of each."""
    kinds = (
        [passage.searchable for passage in index.passages],
        [str(index.triples.triple(number)) for number in range(len(index.triples))],
        list(index.entities.names),
    )
    seconds = 0.0
    for texts in kinds:
        some = random.Random(0).sample(texts, min(sample, len(texts)))
        if some:
            seconds += _seconds(lambda some=some: embedder.embed(some)) * len(texts) / len(some)  # type: ignore[misc]
    return seconds


def _print(folder: Path, whole: float, encoding: float, added: float, removed: float, opening: float) -> None:
    counts = Snapshot.open(folder).manifest.counts
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{counts['passages']:,} passages, {counts['triples']:,} triples, {counts['entities']:,} entities")
    print(f"building without encoding {whole:8.2f} s")
    print(f"encoding (estimated)      {encoding:8.2f} s")
    for name, seconds in (("adding one document", added), ("removing one document", removed)):
        print(
            f"{name:25} {seconds:8.2f} s: {seconds / (whole + encoding):.2%} of building,"
            f" {seconds / whole:.2%} without encoding"
        )
    print(f"opening                   {opening:8.3f} s")
    print(f"size                      {size / 1e6:8.1f} MB: {size / counts['passages'] / 1e3:.1f} kB per passage")


if __name__ == "__main__":
    main()
