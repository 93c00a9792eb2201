"""A snapshot of an index: one published generation, open for reading, memory-mapped, whole while it is held."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import REPAIR, IndexDamagedError, nearest
from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.content.content import AnnotationTable
from triplebeam.index.content.entities import REFERENCES
from triplebeam.index.folder.entity_graph import EntityGraph
from triplebeam.index.folder.manifest import check_contents, generation_folder, read_manifest, retry_on_publish
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.index.folder.passages import PassageTable
from triplebeam.index.folder.terms import TermIndex
from triplebeam.index.folder.triple_graph import TripleGraph
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.index.location import Folder, Location
from triplebeam.index.manifest import Manifest
from triplebeam.index.protocols import Query, TermSearch
from triplebeam.system.durable import explain_open_files
from triplebeam.text.names import entity_key
from triplebeam.where import Where


@dataclass(frozen=True)
class Snapshot:
    """The search structures of one published generation, or of some of its passages."""

    folder: Path
    manifest: Manifest
    arrays: ArraySet = field(repr=False)
    """What the structures are made from."""
    passages: PassageTable
    triples: TripleGraph
    passage_terms: TermSearch
    triple_terms: TermSearch
    passage_vectors: VectorIndex
    entities: EntityGraph
    passage_graph: PassageGraph
    references: NDArray[np.int64] = field(repr=False)
    """See `triplebeam.index.content.entities.find_references`."""
    annotations: AnnotationTable | None = field(default=None, repr=False)
    """What views are made from, beside the structures."""
    whole: "Snapshot | None" = field(default=None, repr=False)
    """What this is a view of (`triplebeam.index.folder.view`); None: all passages are here."""
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    """Of a view: the rows that its passages have there."""

    @property
    def location(self) -> Location:
        """The folder."""
        return Folder(self.folder)

    def filter(self, where: Where) -> "Snapshot":
        """Return a view of the passages for which a filter holds."""
        from triplebeam.index.folder.view import view  # which derives snapshots

        rows = self.passages.find_rows(where)
        return view(self, rows) if self.whole is None else view(self.whole, self.rows[rows])

    def graph(
        self, query: Query | None = None, *, passages: Sequence[str] = (), entities: Sequence[str] = ()
    ) -> "Snapshot":
        """Return the snapshot itself: all graphs are here."""
        return self

    def triples_about(self, name: str) -> NDArray[np.int64]:
        """Return the triples with an entity, by its name, as subject or object, in the order of their passages."""
        number = self.entities.numbers.get(entity_key(name))
        return np.zeros(0, np.int64) if number is None else self.triples.of_entity(number)

    def suggest_entity(self, name: str) -> str:
        """Return the end of an error message about a name that no entity has."""
        return "" if entity_key(name) in self.entities.numbers else nearest(name, self.entities.names)

    @classmethod
    def open(cls, folder: Path) -> "Snapshot":
        """Open the published generation. Nothing is written, so a read-only folder will do."""
        with explain_open_files():
            return retry_on_publish(folder, lambda: cls._open(folder, read_manifest(folder)))

    @classmethod
    def _open(cls, folder: Path, manifest: Manifest) -> "Snapshot":
        generation = generation_folder(folder, manifest.generation)
        try:
            check_contents(folder, manifest)
            return cls.read(folder, manifest, FolderArrays(generation, manifest.checksums))
        except (OSError, ValueError) as error:  # what cannot be read is a damaged index, not a stack trace
            raise IndexDamagedError(f"a file in {generation} cannot be read ({error}): {REPAIR}") from error

    @classmethod
    def read(
        cls, folder: Path, manifest: Manifest, arrays: ArraySet, terms: tuple[TermSearch, TermSearch] | None = None
    ) -> "Snapshot":
        """Make the structures of the arrays of a generation; ``terms`` of passages and triples may be elsewhere."""
        passage_terms, triple_terms = terms or (
            TermIndex(arrays.open_subset(f"{of}_terms")) for of in ("passage", "triple")
        )
        passages = PassageTable(arrays)
        triples = TripleGraph(arrays, passages)
        return cls(
            folder=folder,
            manifest=manifest,
            arrays=arrays,
            passages=passages,
            triples=triples,
            passage_terms=passage_terms,
            triple_terms=triple_terms,
            passage_vectors=VectorIndex(arrays, "passage_vectors"),
            entities=EntityGraph.open(arrays, triples),
            passage_graph=PassageGraph.open(arrays),
            references=arrays.array(REFERENCES),
            annotations=None if terms else AnnotationTable(arrays),
        )
