"""The arrays of a generation: every search structure is derived here from what is in an index.

What takes long is taken over from the previous generation where it was made from the same text: vectors, words,
synonyms. The rest is numbered and joined again, which takes a few seconds for tens of thousands of passages. So a
change costs little, and a generation depends on the documents of the index alone, not on how or in which order they
came there.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.rows import Keys, hash_texts, pack_keys, write_keys
from triplebeam.index.content.content import Annotations, Content, list_pairs
from triplebeam.index.content.entities import REFERENCES, Definition, find_references
from triplebeam.index.folder.entity_graph import MENTIONS, EntityGraph, write_aliases
from triplebeam.index.folder.passage_graph import (
    build_passage_graph,
    document_labels,
    select_informative_links,
    triple_keywords,
)
from triplebeam.index.folder.synonyms import write_synonyms
from triplebeam.index.folder.tables import PassageTable, TripleGraph, write_passages, write_triple_graph
from triplebeam.index.folder.terms import TermIndex, write_terms
from triplebeam.index.folder.vectors import MAX_EXACT_ROWS, write_vectors
from triplebeam.index.source import GraphStatistics
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.text.names import entity_key
from triplebeam.text.terms import name_analyzer, stemmer_for

_STAGES = 7


class Vectors(Protocol):
    """Where the vectors of a generation come from."""

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return the vectors of texts of one kind, as they are stored."""

    def keys(self, texts: Sequence[str]) -> Keys:
        """Return what vectors of these texts are found by."""


def write_generation(
    arrays: ArraySet,
    content: Content,
    vectors: Vectors,
    previous: ArraySet,
    progress: Progress = ignore_progress,
    *,
    in_whole: NDArray[np.int64] | None = None,
) -> GraphStatistics:
    """Write all arrays; returns the statistics of the passage graph.

    For a part of a larger index, ``in_whole`` is how many passages of that mention each entity, and its terms are not
    written: they would be as rare as they are in the part. It cannot be filtered.
    """
    stages = iter(range(1, _STAGES + 1))

    def report_stage() -> None:
        progress("publish", next(stages), _STAGES)

    progress("publish", 0, _STAGES)
    write_passages(arrays, content.passages)
    report_stage()
    if in_whole is None:
        content.annotations.write(arrays)
        _write_terms(arrays, content, previous)
    report_stage()
    _write_vectors(arrays, vectors, "passage", content.passage_texts)
    report_stage()
    _write_entity_graph(arrays, content)
    report_stage()
    statistics = write_passage_graph(
        arrays, PassageTable(arrays), content.annotations, content.entity_names, content.keyword_passages, in_whole
    )
    report_stage()
    _write_vectors(arrays, vectors, "triple", content.triple_sources)
    report_stage()
    names = content.entity_names
    write_synonyms(arrays, names, _write_vectors(arrays, vectors, "entity", names), previous, progress)
    report_stage()
    return statistics


def _write_vectors(arrays: ArraySet, vectors: Vectors, kind: str, texts: Sequence[str]) -> NDArray[Any]:
    stored = vectors.vectors(kind, texts)
    write_vectors(arrays, f"{kind}_vectors", stored)
    write_keys(arrays, f"{kind}_keys", vectors.keys(texts))
    return stored


def _write_entity_graph(arrays: ArraySet, content: Content) -> None:
    """Write triples between entities, the passages that mention or refer to an entity, and aliases of entities."""
    passages, names, definitions = content.passages, content.entity_names, content.definitions
    write_triple_graph(arrays, content.triples, content.triple_rows, len(passages), names, content.triple_entities)
    numbers = {entity_key(name): number for number, name in enumerate(names)}
    found = list_pairs(content.annotations.names)
    arrays.add(MENTIONS, find_mentions(arrays, numbers, found, definitions))
    documents = [passage.document_id for passage in passages]
    telling = select_informative_links(content.annotations.links, len(passages)).tolist()
    arrays.add(REFERENCES, find_references(documents, found, definitions, numbers, telling))
    if content.correcting.corrections.lines:
        write_aliases(arrays, content.correcting.corrections.aliases, numbers)


def write_derived(arrays: ArraySet) -> None:
    """Write what readers of a large index would have to derive at their first question."""
    passages = PassageTable(arrays)
    graph = EntityGraph.open(arrays, TripleGraph(arrays, passages))
    if graph.is_large:
        passages.write_derived(arrays)
        graph.write_derived(arrays, passages.rows_by_title)


def _write_terms(arrays: ArraySet, content: Content, previous: ArraySet) -> None:
    """Write the terms of passages, and of triples, which have the stemmers of their passages."""
    passages, rows, texts = content.passages, content.triple_rows, content.triple_texts
    keys = pack_keys(hash_texts(name_analyzer(), passage.term_text, passage.text) for passage in passages)
    stemmers = write_terms(
        arrays.open_subset("passage_terms"),
        (passage.term_text for passage in passages),
        keys,
        lambda row: stemmer_for(passages[row].text),
        previous.open_subset("passage_terms"),
    )
    keys = pack_keys(hash_texts(name_analyzer(), text, stemmers[row]) for text, row in zip(texts, rows, strict=True))
    write_terms(
        arrays.open_subset("triple_terms"),
        texts,
        keys,
        lambda triple: stemmers[rows[triple]],
        previous.open_subset("triple_terms"),
    )


def find_mentions(
    arrays: ArraySet, numbers: Mapping[str, int], found: Iterable[tuple[int, str]], defined: Mapping[str, Definition]
) -> NDArray[np.int64]:
    """Find pairs of passage and entity: entities named in a passage but in none of its triples, and defined terms."""
    named = [(row, key) for row, name in found if (key := entity_key(name)) in numbers]
    named += [(row, key) for key, definition in defined.items() for row in definition.rows]
    pairs = [row * len(numbers) + numbers[key] for row, key in named]
    ends, rows = arrays.array("triple_entities"), arrays.array("triple_passages")
    fresh = np.setdiff1d(np.array(pairs, np.int64), (rows[:, None] * len(numbers) + ends).ravel())
    return np.stack(np.divmod(fresh, max(len(numbers), 1)), axis=1)


def write_passage_graph(
    arrays: ArraySet,
    passages: PassageTable,
    annotations: Annotations,
    names: Sequence[str],
    keyword_passages: int,
    in_whole: NDArray[np.int64] | None = None,
) -> GraphStatistics:
    """Join passages. A passage's keywords are those a model gave it, else the entities of its triples and the names
    found in it.
    """
    most = keyword_passages or len(passages)
    keywords = list_pairs(annotations.keywords)
    rows, entities = triple_keywords(arrays.array("triple_entities"), arrays.array("triple_passages"))
    mentions = arrays.array(MENTIONS)
    rows, entities = np.append(rows, mentions[:, 0]), np.append(entities, mentions[:, 1])
    if keywords:
        numbers = {entity_key(name): number for number, name in enumerate(names)}
        chosen = np.array(
            [(row, numbers.setdefault(entity_key(keyword), len(numbers))) for row, keyword in keywords], np.int64
        )
        others = ~np.isin(rows, chosen[:, 0])
        rows, entities = np.append(rows[others], chosen[:, 0]), np.append(entities[others], chosen[:, 1])
    if in_whole is not None:
        rare = ~np.isin(entities, np.flatnonzero(in_whole > most))
        rows, entities = rows[rare], entities[rare]
    labels = document_labels(list(passages.documents), list(passages.titles))
    places = arrays.array("passage_places")[:, 0]
    graph = build_passage_graph(labels, places, rows, entities, most, annotations.links)
    graph.write(arrays)
    if in_whole is not None or len(passages) > MAX_EXACT_ROWS:  # no search follows rare terms there
        return graph.statistics()
    terms = TermIndex(arrays.open_subset("passage_terms"))
    return graph.statistics().model_copy(update=terms.count_rare(labels))
