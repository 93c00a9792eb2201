"""A world of six passages and nine triples, with an embedder and an extractor of its own."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind
from triplebeam.extract.extractor import Extraction
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Passage
from triplebeam.triple import Triple


class WordEmbedder:
    """A text's vector is the sum of its words' fixed random vectors: quick, deterministic, and likeness means shared
    words.
    """

    name = "words"
    fingerprint = "words-1"
    dimension = 32

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        rows = np.array([self._row(text) for text in texts], np.float32).reshape(-1, self.dimension)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _row(self, text: str) -> NDArray[np.float64]:
        words = text.casefold().split() or [""]
        return np.sum([self._word(word) for word in words], axis=0) + 1e-3

    def _word(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
        return np.random.default_rng(seed).standard_normal(self.dimension)


class TableExtractor:
    """Triples from a table."""

    name = "table:1"

    def __init__(self, table: dict[str, list[Triple]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            self.asked.append(passage.id)
            yield Extraction(passage_id=passage.id, triples=tuple(self.table.get(passage.id, ())))


@dataclass
class Fickle:
    """Fails on some passages, finds nothing in others, and charges for each."""

    fails: Callable[[str], bool] = lambda id_: False
    empty: Callable[[str], bool] = lambda id_: False
    price: Callable[[str], float] = lambda id_: 1.0
    name: str = "fickle:1"
    asked: list[str] = field(default_factory=list)
    spent: float = 0.0

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            self.asked.append(passage.id)
            self.spent += self.price(passage.id)
            if self.fails(passage.id):
                yield Extraction(passage_id=passage.id, failure=f"no JSON; it begins with {passage.id!r}")
            else:
                triple = Triple(passage.id, "is", "a passage")
                yield Extraction(passage_id=passage.id, triples=() if self.empty(passage.id) else (triple,))


WORLD = {
    "film": ("Laughter in Hell", "Laughter in Hell is a drama film directed by Edward Cahn."),
    "director": ("Edward Cahn", "Edward Cahn was a film director. He died on 25 August 1963."),
    "actor": ("Pat Brien", "Pat Brien starred in Laughter in Hell and lived in Milwaukee."),
    "city": ("Milwaukee", "Milwaukee lies in Wisconsin on Lake Michigan."),
    "lake": ("Lake Michigan", "Lake Michigan is one of the Great Lakes."),
    "other": ("Etan", "Etan writes books for children about hell and laughter."),
}
TRIPLES = {
    "film": [Triple("Laughter in Hell", "directed by", "Edward Cahn"), Triple("Laughter in Hell", "is", "drama film")],
    "director": [Triple("Edward Cahn", "was", "film director"), Triple("Edward Cahn", "died on", "25 August 1963")],
    "actor": [Triple("Pat Brien", "starred in", "Laughter in Hell"), Triple("Pat Brien", "lived in", "Milwaukee")],
    "city": [Triple("Milwaukee", "lies in", "Wisconsin"), Triple("Milwaukee", "lies on", "Lake Michigan")],
    "lake": [Triple("Lake Michigan", "one of", "Great Lakes")],
}


def world_documents() -> list[Document]:
    return [Document(id=id_, title=title, text=text, is_passage=True) for id_, (title, text) in WORLD.items()]


def world_builder(
    folder: Path, embedder: WordEmbedder | None = None, extractor: TableExtractor | None = None
) -> IndexBuilder:
    """Return what builds the small world, with an embedder or an extractor of the test's own."""
    extractor = extractor or TableExtractor(TRIPLES)
    return IndexBuilder(folder=folder, embedder=embedder or WordEmbedder(), extractor=extractor)
