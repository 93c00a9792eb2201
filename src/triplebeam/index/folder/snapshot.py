"""A snapshot of an index: one published generation, open for reading, memory-mapped, whole while it is held.

A view is a snapshot of some passages, searched as if there were no others. It has the arrays that an index of the
visible passages would have. They are taken from the arrays of the whole index: the rows of passages and triples, their
words, their vectors, the synonyms among their entities. What depends on which passages there are is derived by the code
that publishes an index: how entities are numbered and named, which terms are defined, who mentions and refers to whom,
how passages are joined.

So words are as rare as they are among these passages, entities have the names they have there, walks and messages go
through these passages alone, and a search returns what an index of them would return, apart from the vectors below.
Nothing of the others can leak, since nothing of them is there.

Nothing is encoded, so a filter needs no embedder. The vector of a passage or triple is that of its own text, with or
without the title, as the whole index decided (`Content.shared_titles`). The vector of an entity is that of its name as
the whole index spells it, which has the same normal form. A term that is no entity of the whole index, since too many
passages define it there, has a vector of zeros: it is found by its name and not by similarity.

A view is in memory. No file is opened for it, so that it can be made of a generation that another one has replaced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import REPAIR, IndexDamagedError, nearest
from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays, concatenate, encode_strings
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.arrays.rows import renumber
from triplebeam.index.content.content import Annotations, AnnotationTable, count_by_extractor, list_pairs
from triplebeam.index.content.corrected import CorrectionApplier
from triplebeam.index.content.entities import REFERENCES, Definition, find_local_definitions, find_references
from triplebeam.index.folder.entity_graph import MENTIONS, EntityGraph, write_aliases
from triplebeam.index.folder.generation import find_mentions, write_passage_graph
from triplebeam.index.folder.manifest import check_contents, generation_folder, read_manifest, retry_on_publish
from triplebeam.index.folder.passage_graph import PassageGraph, select_informative_links
from triplebeam.index.folder.synonyms import carry_choices, choose, write_choices
from triplebeam.index.folder.tables import PassageTable, TripleGraph
from triplebeam.index.folder.terms import TermIndex
from triplebeam.index.folder.vectors import VectorIndex, write_vectors
from triplebeam.index.location import Folder, Location
from triplebeam.index.source import GraphStatistics, Manifest, Query, TermSearch
from triplebeam.index.store.corrections import Corrections
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
    """What this is a view of; None: all passages are here."""
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    """Of a view: the rows that its passages have there."""

    @property
    def location(self) -> Location:
        """The folder."""
        return Folder(self.folder)

    def filter(self, where: Where) -> "Snapshot":
        """Return a view of the passages for which a filter holds."""
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


def view(whole: Snapshot, rows: NDArray[np.int64]) -> Snapshot:
    """Derive a snapshot of the passages at these rows, which are in rising order."""
    part = _Part(whole, rows)
    part.take_rows()
    part.write_entities()
    passage_graph = part.write_graph()
    opened = Snapshot.read(whole.folder, whole.manifest, part.arrays)
    manifest = whole.manifest.model_copy(
        update={
            "counts": part.counts(),
            "triples_by_extractor": count_by_extractor(
                part.annotations.extractors, part.arrays.array("triple_passages").tolist()
            ),
            "unread_languages": {},
            "corrections": None,
            "passage_graph": passage_graph,
            "ownership": opened.entities.topics.measure_ownership(),
            "files": {},
            "checksums": {},
        }
    )
    return replace(opened, manifest=manifest, whole=whole, rows=rows)


@dataclass(frozen=True)
class _Part:
    """Writes the arrays of some passages."""

    whole: Snapshot = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    arrays: MemoryArrays = field(default_factory=MemoryArrays, init=False, repr=False)

    @cached_property
    def annotations(self) -> Annotations:
        assert self.whole.annotations is not None
        return self.whole.annotations.take_rows(self.rows)

    @cached_property
    def _passages(self) -> PassageTable:
        """Those of the view; their columns are written."""
        return PassageTable(self.arrays)

    @cached_property
    def _triples(self) -> NDArray[np.int64]:
        """The visible triples, by their numbers in the whole index."""
        return self.whole.triples.triples_at(self.rows)

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """The other names of entities, by their normal forms, that a passage has in its title, section or text.

        Another one may have been read in a hidden passage alone: whoever could look it up would learn of it. Triples
        and names of a generation are merged already, so texts alone show what was visible before.
        """
        entities = self.whole.entities
        if not entities.aliases:
            return {}
        text = "\n".join(f" {entity_key(passage.searchable)} " for passage in self._passages)
        return {each: entities.names[number] for each, number in entities.aliases.items() if f" {each} " in text}

    @cached_property
    def _definitions(self) -> dict[str, Definition]:
        """The terms that these passages define; without sections there are none."""
        if not self._passages.has_sections:
            return {}
        found = find_local_definitions(self._passages, self.annotations.extractors)
        return CorrectionApplier(Corrections.from_aliases(self._aliases)).correct_definitions(found)

    def take_rows(self) -> None:
        """Write what is the same of a passage or triple whichever others there are."""
        whole, arrays, rows = self.whole, self.arrays, self.rows
        assert whole.annotations is not None
        whole.passages.take(arrays, rows)
        whole.annotations.take(arrays, rows)
        for name, terms, texts in (
            ("passage_terms", whole.passage_terms, rows),
            ("triple_terms", whole.triple_terms, self._triples),
        ):
            assert isinstance(terms, TermIndex)
            terms.take(arrays.open_subset(name), texts)
        write_vectors(arrays, "passage_vectors", whole.passage_vectors.copy_stored(rows))
        write_vectors(arrays, "triple_vectors", whole.triples.vector_index.copy_stored(self._triples))

    def write_entities(self) -> None:
        """Write triples between entities, who mentions and refers to them, and their synonyms.

        A term that is defined here and is in no triple comes behind the others, as in `number_entities`.
        """
        whole, arrays = self.whole, self.arrays
        known, names, ends = whole.triples.number_visible(self._triples)
        keys: dict[str, int] = {}
        if self._definitions or self._aliases or (whole.passages.has_sections and any(self.annotations.names)):
            keys = {entity_key(name): number for number, name in enumerate(names)}
        terms = {key: definition.name for key, definition in self._definitions.items() if key not in keys}
        keys |= {key: len(names) + place for place, key in enumerate(terms)}
        names = concatenate(names, encode_strings(terms.values()))
        known = np.append(known, [whole.entities.numbers.get(key, -1) for key in terms]).astype(np.int64)
        whole.triples.take(arrays, self.rows, names, ends)
        arrays.add(MENTIONS, self._mentions(known, keys))
        documents, links = (
            list(self._passages.documents),
            select_informative_links(self.annotations.links, len(self.rows)),
        )
        found = list_pairs(self.annotations.names) if self._definitions else []
        arrays.add(REFERENCES, find_references(documents, found, self._definitions, keys, links.tolist()))
        write_aliases(arrays, self._aliases, keys)
        vectors = whole.entities.vectors.copy_stored(known)
        write_vectors(arrays, "entity_vectors", vectors)
        before = carry_choices(whole.entities.chosen, known)
        write_choices(arrays, choose(names, vectors, before=before), len(names))

    def _mentions(self, known: NDArray[np.int64], keys: Mapping[str, int]) -> NDArray[np.int64]:
        """Return the mentions. Without sections no term is defined, and the whole index's mentions are all."""
        if self.whole.passages.has_sections:
            return find_mentions(self.arrays, keys, list_pairs(self.annotations.names), self._definitions)
        rows = renumber(self.rows, len(self.whole.passages))
        entities = renumber(known, len(self.whole.entities))
        passages, names = self.whole.entities.mentions.T
        there = (rows[passages] >= 0) & (entities[names] >= 0)
        found = np.stack([rows[passages[there]], entities[names[there]]], axis=1).astype(np.int64)
        return found[np.lexsort((found[:, 1], found[:, 0]))]

    def write_graph(self) -> GraphStatistics:
        """Join passages."""
        names, keyword_passages = self.arrays.strings("entity_names"), self.whole.manifest.keyword_passages
        return write_passage_graph(self.arrays, self._passages, self.annotations, names, keyword_passages)

    def counts(self) -> dict[str, int]:
        """Count what is known of some passages. A failed extraction counts as none: the store alone knows why."""
        triples = np.diff(self.arrays.array("passage_triple_starts"))
        extracted = np.array([bool(extractor) for extractor in self.annotations.extractors], bool)
        return {
            "documents": len(self._passages.document_ids),
            "passages": len(self.rows),
            "triples": len(self._triples),
            "passages_without_extraction": int((~extracted).sum()),
            "passages_failed": 0,
            "passages_without_triples": int((extracted & (triples == 0)).sum()),
            "triples_rejected": 0,
            "entities": len(self.arrays.strings("entity_names")),
        }
