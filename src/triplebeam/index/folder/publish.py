"""Publishing an index in its folder, by one writer at a time.

A generation is written and flushed beside the published one, described by a manifest, and shown by one rename.
"""

import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.content.content import Content
from triplebeam.index.content.entities import Topics
from triplebeam.index.content.vector_cache import VectorCache, remove_encoded
from triplebeam.index.folder.generation import write_derived, write_generation
from triplebeam.index.folder.manifest import (
    MANIFEST,
    create_generation,
    publish_manifest,
    remove_generations,
    remove_on_error,
)
from triplebeam.index.manifest import GraphStatistics, Manifest, VectorSpace
from triplebeam.system.durable import flush
from triplebeam.system.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from triplebeam.index.store.store import Store


def publish_generation(
    folder: Path,
    store: "Store",
    content: Content,
    encoded: VectorCache,
    previous: ArraySet,
    space: VectorSpace,
    progress: Progress = ignore_progress,
) -> Manifest:
    """Write a new generation, with what can be taken over from the previous one, and make it the published one."""
    generation = create_generation(folder / "generations")
    with remove_on_error(folder, generation):
        arrays = FolderArrays(generation)
        passage_graph = write_generation(arrays, content, encoded, previous, progress)
        write_derived(arrays)
        arrays.flush()
        manifest = describe(store, content, space, generation.name, passage_graph).model_copy(
            update={"files": arrays.sizes(), "checksums": arrays.checksums()}
        )
        publish_manifest(folder, manifest)
    encoded.remove()
    remove_generations(folder / "generations", keep=generation.name)
    return manifest


def describe(
    store: "Store", content: Content, space: VectorSpace, generation: str, passage_graph: GraphStatistics
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


def withdraw(folder: Path) -> None:
    """Publish nothing: readers find no index any more, and no generation keeps texts that were removed."""
    (folder / MANIFEST).unlink(missing_ok=True)
    flush(folder)
    remove_generations(folder / "generations")
    remove_encoded(folder)
