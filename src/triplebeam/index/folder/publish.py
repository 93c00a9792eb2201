"""From the store to a generation: every search structure is derived here, by one writer at a time.

What takes long is taken over from the last generation where it was made from the same text: vectors, words, synonyms.
The rest is read, numbered and joined anew, which takes a few seconds for tens of thousands of passages. So a change
costs little, and a generation depends on the documents of the index alone, not on how or in which order they came
there.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.arrays.keys import Keys, as_keys, key_of, write_keys
from triplebeam.index.content.annotations import pairs
from triplebeam.index.content.content import Content
from triplebeam.index.content.definitions import Definition
from triplebeam.index.content.references import REFERENCES, references
from triplebeam.index.content.topics import Topics
from triplebeam.index.content.vector_cache import VectorCache, remove_encoded
from triplebeam.index.folder.entity_graph import MENTIONS, EntityGraph, write_aliases
from triplebeam.index.folder.generation_files import new_generation, remove_generations
from triplebeam.index.folder.manifest import (
    MANIFEST,
    Manifest,
    VectorSpace,
    publish,
    removed_on_error,
)
from triplebeam.index.folder.passage_graph import (
    GraphStatistics,
    build_passage_graph,
    document_labels,
    telling_links,
    triple_keywords,
)
from triplebeam.index.folder.passages import PassageTable, write_passages
from triplebeam.index.folder.synonyms import write_synonyms
from triplebeam.index.folder.term_writing import write_terms
from triplebeam.index.folder.triple_graph import TripleGraph, write_triple_graph
from triplebeam.index.folder.vectors import write_vectors
from triplebeam.index.store.store import Store
from triplebeam.system.durable import flush
from triplebeam.system.progress import Progress, silent
from triplebeam.text.terms import ANALYZER, stemmer_for
from triplebeam.triple import entity_key

_STAGES = 7


def publish_generation(
    folder: Path,
    store: Store,
    contents: Content,
    encoded: VectorCache,
    previous: ArraySet,
    space: VectorSpace,
    progress: Progress = silent,
) -> Manifest:
    """Write a new generation, with what can be taken over from the previous one, and make it the published one."""
    generation = new_generation(folder / "generations")
    with removed_on_error(folder, generation):
        arrays = FolderArrays(generation)
        passage_graph = write_generation(arrays, contents, encoded, previous, progress)
        _write_derived(arrays)
        arrays.flush()
        manifest = describe(store, contents, space, generation.name, passage_graph).model_copy(
            update={"files": arrays.sizes(), "checksums": arrays.checksums()}
        )
        publish(folder, manifest)
    encoded.remove()
    remove_generations(folder / "generations", keep=generation.name)
    return manifest


def describe(
    store: Store, contents: Content, space: VectorSpace, generation: str, passage_graph: GraphStatistics
) -> Manifest:
    """The manifest of a generation, without its files."""
    entities = len(contents.entity_names)
    rows = np.array(contents.triple_rows, np.int64)
    topics = Topics(contents.triple_entities, rows, len(contents.passages), entities)
    return Manifest(
        triplebeam=version("triplebeam"),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        generation=generation,
        revision=store.revision,
        embedder=space,
        counts=store.statistics.counts() | {"triples": len(contents.triples), "entities": entities},
        triples_by_extractor=contents.triples_by_extractor(),
        extractor=store.extractor,
        unread_languages=store.statistics.unread_languages(),
        passage_graph=passage_graph,
        keyword_passages=contents.keyword_passages,
        ownership=topics.ownership(),
        tuned_share=store.tuned_share,
        corrections=contents.correction_counts(),
        files={},
    )


def withdraw(folder: Path) -> None:
    """Publish nothing: readers find no index any more, and no generation keeps texts that were removed."""
    (folder / MANIFEST).unlink(missing_ok=True)
    flush(folder)
    remove_generations(folder / "generations")
    remove_encoded(folder)


class Vectors(Protocol):
    """Where the vectors of a generation come from."""

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return the vectors of texts of one kind, as they are stored."""
        ...

    def keys(self, texts: Sequence[str]) -> Keys:
        """Return what vectors of these texts are found by."""
        ...


def write_generation(
    arrays: ArraySet,
    contents: Content,
    vectors: Vectors,
    previous: ArraySet,
    progress: Progress = silent,
    *,
    in_whole: NDArray[np.int64] | None = None,
) -> GraphStatistics:
    """Write all arrays; returns the statistics of the passage graph.

    For a part of a larger index, ``in_whole`` is how many passages of that mention each entity, and its terms are not
    written: they would be as rare as they are in the part.
    """
    stages = iter(range(1, _STAGES + 1))

    def done() -> None:
        progress("publish", next(stages), _STAGES)

    progress("publish", 0, _STAGES)
    write_passages(arrays, contents.passages)
    contents.annotations.write(arrays)
    done()
    if in_whole is None:
        _write_terms(arrays, contents, previous)
    done()
    _write_vectors(arrays, vectors, "passage", contents.passage_texts)
    done()
    _write_entity_graph(arrays, contents)
    done()
    statistics = _write_passage_graph(arrays, contents, in_whole)
    done()
    _write_vectors(arrays, vectors, "triple", contents.triple_sources)
    done()
    names = contents.entity_names
    write_synonyms(arrays, names, _write_vectors(arrays, vectors, "entity", names), previous, progress)
    done()
    return statistics


def _write_vectors(arrays: ArraySet, vectors: Vectors, kind: str, texts: Sequence[str]) -> NDArray[Any]:
    stored = vectors.vectors(kind, texts)
    write_vectors(arrays, f"{kind}_vectors", stored)
    write_keys(arrays, f"{kind}_keys", vectors.keys(texts))
    return stored


def _write_entity_graph(arrays: ArraySet, contents: Content) -> None:
    """Triples between entities, the passages that mention or refer to an entity, and other names of entities."""
    passages, names, definitions = contents.passages, contents.entity_names, contents.definitions
    rows = contents.triple_rows
    write_triple_graph(arrays, contents.triples, rows, len(passages), names, contents.triple_entities)
    entities = {entity_key(name): entity for entity, name in enumerate(names)}
    found = pairs(contents.annotations.names)
    arrays.add(MENTIONS, _mentions(arrays, entities, found, definitions))
    documents = [passage.document_id for passage in passages]
    telling = telling_links(contents.annotations.links, len(passages)).tolist()
    arrays.add(REFERENCES, references(documents, found, definitions, entities, telling))
    write_aliases(arrays, contents.correcting.corrections.aliases, entities)


def _write_derived(arrays: ArraySet) -> None:
    """Write what readers of a large index would have to derive at their first question."""
    passages = PassageTable(arrays)
    graph = EntityGraph.open(arrays, TripleGraph(arrays, passages))
    if graph.is_large:
        passages.write_derived(arrays)
        graph.write_derived(arrays, passages.rows_by_title)


def _write_terms(arrays: ArraySet, contents: Content, previous: ArraySet) -> None:
    """Of passages, and of triples, which have the stemmers of their passages."""
    passages, rows, texts = contents.passages, contents.triple_rows, contents.triple_texts
    keys = as_keys(key_of(ANALYZER, passage.term_text, passage.text) for passage in passages)
    stemmers = write_terms(
        arrays.within("passage_terms"),
        (passage.term_text for passage in passages),
        keys,
        lambda row: stemmer_for(passages[row].text),
        previous.within("passage_terms"),
    )
    keys = as_keys(key_of(ANALYZER, text, stemmers[row]) for text, row in zip(texts, rows, strict=True))
    write_terms(
        arrays.within("triple_terms"),
        texts,
        keys,
        lambda triple: stemmers[rows[triple]],
        previous.within("triple_terms"),
    )


def _mentions(
    arrays: ArraySet, numbers: Mapping[str, int], found: Iterable[tuple[int, str]], defined: Mapping[str, Definition]
) -> NDArray[np.int64]:
    """Pairs of passage and entity: names found in a passage in which no triple has them, as far as they are entities,
    and terms that a passage defines.
    """
    named = [(row, key) for row, name in found if (key := entity_key(name)) in numbers]
    named += [(row, key) for key, definition in defined.items() for row in definition.rows]
    pairs = [row * len(numbers) + numbers[key] for row, key in named]
    ends, rows = arrays.array("triple_entities"), arrays.array("triple_passages")
    fresh = np.setdiff1d(np.array(pairs, np.int64), (rows[:, None] * len(numbers) + ends).ravel())
    return np.stack(np.divmod(fresh, max(len(numbers), 1)), axis=1)


def _write_passage_graph(arrays: ArraySet, contents: Content, in_whole: NDArray[np.int64] | None) -> GraphStatistics:
    """A passage's keywords are those a model gave it, else the entities of its triples and the names found in it."""
    passages, keywords = contents.passages, pairs(contents.annotations.keywords)
    most = contents.keyword_passages or len(passages)
    rows, entities = triple_keywords(arrays.array("triple_entities"), arrays.array("triple_passages"))
    mentions = arrays.array(MENTIONS)
    rows, entities = np.append(rows, mentions[:, 0]), np.append(entities, mentions[:, 1])
    if keywords:
        numbers = {entity_key(name): number for number, name in enumerate(contents.entity_names)}
        chosen = np.array(
            [(row, numbers.setdefault(entity_key(keyword), len(numbers))) for row, keyword in keywords], np.int64
        )
        others = ~np.isin(rows, chosen[:, 0])
        rows, entities = np.append(rows[others], chosen[:, 0]), np.append(entities[others], chosen[:, 1])
    if in_whole is not None:
        rare = ~np.isin(entities, np.flatnonzero(in_whole > most))
        rows, entities = rows[rare], entities[rare]
    places = [passage.position for passage in passages]
    links = contents.annotations.links
    graph = build_passage_graph(document_labels(passages), places, rows, entities, most, links)
    graph.write(arrays)
    return graph.statistics()
