"""From the store to a generation: every search structure is derived here, by one writer at a time."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexBusyError
from triplebeam.index.definitions import Definition, stored_definitions
from triplebeam.index.entity_graph import MENTIONS
from triplebeam.index.manifest import (
    MANIFEST,
    Manifest,
    VectorSpace,
    file_sizes,
    new_generation,
    publish,
    remove_generations,
)
from triplebeam.index.ownership import Ownership, Topics
from triplebeam.index.passage_graph import (
    GraphStatistics,
    build_passage_graph,
    document_labels,
    telling_links,
    triple_keywords,
)
from triplebeam.index.passages import write_passages
from triplebeam.index.references import REFERENCES, references
from triplebeam.index.store import Store, vector_key
from triplebeam.index.synonyms import write_synonyms
from triplebeam.index.terms import write_terms
from triplebeam.index.triple_graph import write_triple_graph
from triplebeam.index.vectors import VectorWriter
from triplebeam.index.words import stemmer_for
from triplebeam.passage import SHARED_TITLE, Passage
from triplebeam.progress import Progress, silent
from triplebeam.triple import entity_key

LOCK = "write.lock"
_STAGES = 8


def publish_generation(folder: Path, store: Store, embedder: Embedder, progress: Progress = silent) -> Manifest:
    """Write a new generation from the store and make it the published one."""
    generation = new_generation(folder / "generations")
    entities, passage_graph = _write(generation, store, embedder, progress)
    manifest = Manifest(
        triplebeam=version("triplebeam"),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        generation=generation.name,
        revision=store.revision,
        embedder=VectorSpace.of(embedder),
        counts=store.counts() | {"entities": entities},
        triples_by_extractor=store.triples_by_extractor(),
        extractor=store.extractor,
        unread_languages=store.unread_languages(),
        passage_graph=passage_graph,
        ownership=_ownership(generation, store.counts()["passages"], entities),
        tuned_share=store.tuned_share,
        files=file_sizes(generation),
    )
    publish(folder, manifest)
    remove_generations(folder / "generations", keep=generation.name)
    return manifest


def _ownership(generation: Path, passages: int, entities: int) -> Ownership:
    ends, rows = np.load(generation / "triple_entities.npy"), np.load(generation / "triple_passages.npy")
    mentions = np.load(generation / MENTIONS)
    return Topics(ends, rows, passages, entities, mentions).ownership()


def withdraw(folder: Path) -> None:
    """Publish nothing: readers find no index any more, and no generation keeps texts that were removed."""
    (folder / MANIFEST).unlink(missing_ok=True)
    remove_generations(folder / "generations")


def _write(generation: Path, store: Store, embedder: Embedder, progress: Progress) -> tuple[int, GraphStatistics]:
    """Write all files; returns the number of entities and the statistics of the passage graph."""
    stages = iter(range(1, _STAGES + 1))

    def done() -> None:
        progress("publish", next(stages), _STAGES)

    progress("publish", 0, _STAGES)
    numbers, passages = zip(*store.passages(), strict=True) if store.counts()["passages"] else ((), ())
    write_passages(generation, passages)
    done()
    stemmers = [stemmer_for(passage.text) for passage in passages]
    write_terms(generation / "passage_terms", (passage.term_text for passage in passages), stemmers)
    done()
    shared = store.shared_titles(SHARED_TITLE)
    texts = [passage.embedded(shared) for passage in passages]
    _write_vectors(generation / "passage_vectors.npy", texts, store, embedder)
    done()
    row_of = {number: row for row, number in enumerate(numbers)}
    stored = list(store.triples())
    triples = [entry.triple for entry in stored]
    rows = [row_of[entry.passage] for entry in stored]
    defined = stored_definitions(store)
    names = write_triple_graph(generation, triples, rows, len(passages), (each.name for each in defined.values()))
    entities = {entity_key(name): entity for entity, name in enumerate(names)}
    found = [(row_of[number], name) for number, name in store.names()]
    np.save(generation / MENTIONS, _mentions(generation, entities, found, defined))
    links = [(row_of[here], row_of[there]) for here, there in store.links()]
    documents = [passage.document_id for passage in passages]
    telling = telling_links(links, len(passages)).tolist()
    np.save(generation / REFERENCES, references(documents, found, defined, entities, telling))
    done()
    keywords = [(row_of[number], keyword) for number, keyword in store.keywords()]
    statistics = _write_passage_graph(generation, passages, names, keywords, links)
    done()
    texts = [str(triple) for triple in triples]
    write_terms(generation / "triple_terms", texts, (stemmers[row] for row in rows))
    done()
    _write_vectors(generation / "triple_vectors.npy", texts, store, embedder)
    done()
    _write_vectors(generation / "entity_vectors.npy", names, store, embedder)
    write_synonyms(generation, names, progress)
    done()
    return len(names), statistics


def _mentions(
    generation: Path, numbers: Mapping[str, int], found: Iterable[tuple[int, str]], defined: Mapping[str, Definition]
) -> NDArray[np.int64]:
    """Pairs of passage and entity: names found in a passage in which no triple has them, as far as they are entities,
    and terms that a passage defines.
    """
    named = [(row, key) for row, name in found if (key := entity_key(name)) in numbers]
    named += [(row, key) for key, definition in defined.items() for row in definition.rows]
    pairs = [row * len(numbers) + numbers[key] for row, key in named]
    ends, rows = np.load(generation / "triple_entities.npy"), np.load(generation / "triple_passages.npy")
    fresh = np.setdiff1d(np.array(pairs, np.int64), (rows[:, None] * len(numbers) + ends).ravel())
    return np.stack(np.divmod(fresh, max(len(numbers), 1)), axis=1)


def _write_passage_graph(
    generation: Path,
    passages: Sequence[Passage],
    names: Sequence[str],
    keywords: Sequence[tuple[int, str]],
    links: Sequence[tuple[int, int]],
) -> GraphStatistics:
    """A passage's keywords are those a model gave it, else the entities of its triples and the names found in it."""
    rows, entities = triple_keywords(
        np.load(generation / "triple_entities.npy"), np.load(generation / "triple_passages.npy")
    )
    mentions = np.load(generation / MENTIONS)
    rows, entities = np.append(rows, mentions[:, 0]), np.append(entities, mentions[:, 1])
    if keywords:
        numbers = {entity_key(name): number for number, name in enumerate(names)}
        chosen = np.array(
            [(row, numbers.setdefault(entity_key(keyword), len(numbers))) for row, keyword in keywords], np.int64
        )
        others = ~np.isin(rows, chosen[:, 0])
        rows, entities = np.append(rows[others], chosen[:, 0]), np.append(entities[others], chosen[:, 1])
    places = [passage.position for passage in passages]
    graph = build_passage_graph(document_labels(passages), places, rows, entities, links=links)
    graph.write(generation)
    return graph.statistics()


def _write_vectors(path: Path, texts: Sequence[str], store: Store, embedder: Embedder) -> None:
    writer = VectorWriter(path, len(texts), embedder.dimension)
    for text in texts:
        writer.append(store.vector(vector_key(embedder.fingerprint, text)))
    writer.close()


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other writers out of an existing folder; readers are not affected."""
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise IndexBusyError(
            f"another process is writing to {folder}: wait until it is done, then try again."
        ) from None
    except OSError as error:
        raise BadInputError(
            f"{folder} cannot be written to ({error.strerror}): check its permissions, or index into another folder."
        ) from error
    try:
        yield
    finally:
        lock.release()
