"""A snapshot of an index: one published generation, open for reading, memory-mapped, whole while it is held."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import IndexDamagedError, IndexFormatError
from triplebeam.index.entity_graph import EntityGraph
from triplebeam.index.manifest import Manifest, generation_folder, read_manifest
from triplebeam.index.passage_graph import PassageGraph
from triplebeam.index.passages import PassageTable
from triplebeam.index.terms import TermIndex
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.index.vectors import VectorIndex

T = TypeVar("T")

_FORMAT_WITH_ENTITIES = 2


@dataclass(frozen=True)
class Snapshot:
    """The search structures of one published generation."""

    folder: Path
    manifest: Manifest
    passages: PassageTable
    triples: TripleGraph
    passage_terms: TermIndex
    triple_terms: TermIndex
    passage_vectors: VectorIndex
    triple_extractors: NDArray[np.uint16]
    entity_graph: EntityGraph | None
    """None in an index of format 1; `entities` says what to do about it."""
    joined_passages: PassageGraph | None
    """None in an index of format 1; `passage_graph` says what to do about it."""

    @classmethod
    def open(cls, folder: Path) -> "Snapshot":
        """Open the published generation. Nothing is written, so a read-only folder will do."""
        try:
            return cls._open(folder, read_manifest(folder))
        except IndexDamagedError:
            # A writer may have published the next generation and removed this one between two files.
            return cls._open(folder, read_manifest(folder))

    @classmethod
    def _open(cls, folder: Path, manifest: Manifest) -> "Snapshot":
        generation = generation_folder(folder, manifest.generation)
        passages = _piece(generation, lambda: PassageTable(generation))
        return cls(
            folder=folder,
            manifest=manifest,
            passages=passages,
            triples=_piece(generation, lambda: TripleGraph(generation, passages)),
            passage_terms=_piece(generation, partial(TermIndex, generation / "passage_terms")),
            triple_terms=_piece(generation, partial(TermIndex, generation / "triple_terms")),
            passage_vectors=_piece(generation, partial(VectorIndex, generation / "passage_vectors.npy")),
            triple_extractors=_piece(generation, lambda: np.load(generation / "triple_extractors.npy")),
            entity_graph=_piece(generation, lambda: EntityGraph.open(generation, len(passages)))
            if manifest.format >= _FORMAT_WITH_ENTITIES
            else None,
            joined_passages=_piece(generation, partial(PassageGraph.open, generation))
            if manifest.passage_graph
            else None,
        )

    @property
    def entities(self) -> EntityGraph:
        """The graph of entities, with their vectors and synonyms."""
        if self.entity_graph is None:
            raise IndexFormatError(
                f"the index at {self.folder} has format {self.manifest.format}, in which entities have no vectors: run"
                " `triplebeam index` on the same sources again, which encodes the entities and nothing else."
            )
        return self.entity_graph

    @property
    def passage_graph(self) -> PassageGraph:
        """The graph of passages: neighbours in a document, and passages that share an entity."""
        if self.joined_passages is None:
            raise IndexFormatError(
                f"the index at {self.folder} was written before there was a graph of passages: run `triplebeam index`"
                " on the same sources again; what was extracted and encoded is kept."
            )
        return self.joined_passages

    def extractor_of(self, triple_id: int) -> str:
        """Which extractor made a triple."""
        return sorted(self.manifest.triples_by_extractor)[int(self.triple_extractors[triple_id])]


def _piece(generation: Path, read: Callable[[], T]) -> T:
    """Read one structure; what cannot be read is a damaged index, not a stack trace."""
    try:
        return read()
    except (OSError, ValueError) as error:
        raise IndexDamagedError(
            f"a file in {generation} cannot be read ({error}): run `triplebeam index` on the same sources again;"
            " what was extracted and encoded is kept."
        ) from error
