"""Building an index of given triples, against the encoding of its texts alone."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from speed.clock import RecordingEmbedder, clocked, now
from triplebeam.assemble import Index, context_of
from triplebeam.embed.embedder import Embedder
from triplebeam.extract.extractor import Extraction
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Passage

#: Passages of the index that are indexed again.
PASSAGES = 300


class _TriplesOf:
    """Triples of an index as they are: extraction costs nothing."""

    name = "benchmark:1"

    def __init__(self, collection: Index) -> None:
        self._triples = context_of(collection).triples

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            ids = self._triples.triples_of([passage.id]).tolist()
            yield Extraction(passage_id=passage.id, triples=tuple(map(self._triples.triple, ids)))


def build_again(collection: Index, embedder: Embedder) -> tuple[float, float]:
    """Seconds of building an index of some of the passages, and of the encoding in it."""
    rows = range(min(PASSAGES, len(collection.passages)))
    documents = [
        Document(id=passage.id, title=passage.title, text=passage.text, is_passage=True)
        for passage in map(collection.passages.at, rows)
    ]
    with tempfile.TemporaryDirectory() as folder, clocked() as clock:
        builder = IndexBuilder(
            folder=Path(folder), embedder=RecordingEmbedder(embedder), extractor=_TriplesOf(collection)
        )
        start = now()
        builder.build(documents)
        return now() - start, clock.seconds["encoding"]
