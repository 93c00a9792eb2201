"""Publishing an index in its folder, by one writer at a time.

A generation is written and flushed beside the published one, described by a manifest, and shown by one rename.
"""

import datetime
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np

from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.content.content import Content
from triplebeam.index.content.encoding import VectorCache, remove_encoded
from triplebeam.index.content.entities import Topics
from triplebeam.index.folder.generation import write_derived, write_generation
from triplebeam.index.folder.manifest import (
    MANIFEST,
    PreviousGeneration,
    create_generation,
    find_manifest,
    publish_manifest,
    remove_generations,
    remove_unless_published,
)
from triplebeam.index.source import GraphStatistics, Manifest, VectorSpace
from triplebeam.index.store.store import Store
from triplebeam.system.durable import flush
from triplebeam.system.work import Progress


class Publisher(Protocol):
    """What a build ends with."""

    @property
    def previous(self) -> PreviousGeneration:
        """What of the previous generation the next one may take over."""

    def check(self, store: Store) -> None:
        """Raise where this store may not be published here."""

    def read_current(self, store: Store) -> Manifest | None:
        """Return what is published, if it is whole and all that is in the store."""

    def read_revision(self) -> int | None:
        """Return the revision of the store that is published; None where nothing is."""

    def publish(
        self, store: Store, contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Make a generation of what is in the store, and show it to readers."""

    def withdraw(self) -> None:
        """Publish nothing."""


@dataclass(frozen=True)
class FolderPublisher:
    """A generation is files in the folder of the index."""

    folder: Path

    @cached_property
    def previous(self) -> PreviousGeneration:
        """The published generation."""
        return PreviousGeneration.of(self.folder)

    def check(self, store: Store) -> None:
        """Check that the folder has one store."""

    def read_current(self, store: Store) -> Manifest | None:
        """Compare revisions, and check every file."""
        found = find_manifest(self.folder)
        if not (found and found.revision == store.meta.revision and not self.previous.damaged):
            return None
        remove_encoded(self.folder)  # where a process was killed
        return found

    def read_revision(self) -> int | None:
        """Read the manifest."""
        found = find_manifest(self.folder)
        return found.revision if found else None

    def publish(
        self, store: Store, contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Write a generation, with what the previous one had already, and make it the published one."""
        generation = create_generation(self.folder / "generations")
        arrays = FolderArrays(generation)
        try:
            passage_graph = write_generation(arrays, contents, encoded, self.previous.arrays, progress)
            write_derived(arrays)
            arrays.flush()
            manifest = describe(store, contents, space, generation.name, passage_graph).model_copy(
                update={"files": arrays.sizes(), "checksums": arrays.checksums()}
            )
            publish_manifest(self.folder, manifest)
        finally:
            remove_unless_published(self.folder, generation)
        encoded.remove()
        remove_generations(self.folder / "generations", keep=generation.name)
        return manifest

    def withdraw(self) -> None:
        """Remove the generation: readers find no index any more, and no file keeps texts that were removed."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        flush(self.folder)
        remove_generations(self.folder / "generations")
        remove_encoded(self.folder)


def describe(
    store: Store, content: Content, space: VectorSpace, generation: str, passage_graph: GraphStatistics
) -> Manifest:
    """Describe a generation in a manifest, without its files."""
    entities = len(content.entity_names)
    rows = np.array(content.triple_rows, np.int64)
    topics = Topics(content.triple_entities, rows, len(content.passages), entities)
    return Manifest(
        triplebeam=version("triplebeam"),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        generation=generation,
        revision=store.meta.revision,
        embedder=space,
        counts=store.statistics.counts() | {"triples": len(content.triples), "entities": entities},
        triples_by_extractor=content.triples_by_extractor(),
        extractor=store.meta.extractor,
        unread_languages=store.statistics.count_unread_languages(),
        passage_graph=passage_graph,
        keyword_passages=content.keyword_passages,
        ownership=topics.measure_ownership(),
        tuned_share=store.meta.tuned_share,
        corrections=content.correction_counts(),
        files={},
    )
