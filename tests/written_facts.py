"""An extractor for tests: triples and names are written in the texts, a line each."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from triplebeam.extract.extractor import Extraction
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Passage
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.triple import Triple


class Written:
    """Reads lines such as ``Bath | lies in | Somerset`` as triples, and ``seen: Bath`` as a name without one."""

    name = "local:written"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            lines = passage.text.splitlines()
            rows = [line.split(" | ") for line in lines]
            triples = tuple(Triple(*row) for row in rows if len(row) == 3)
            names = tuple(line.removeprefix("seen: ") for line in lines if line.startswith("seen: "))
            yield Extraction(passage_id=passage.id, triples=triples, entities=names)


def written_builder(folder: Path, **options: Any) -> IndexBuilder:
    return IndexBuilder(folder=folder, embedder=HashedWords(), extractor=Written(), **options)
