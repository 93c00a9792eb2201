"""A view: some passages of an index, searched as if there were no others.

A view is a generation of its own, derived by the code that publishes an index, from the passages that are visible and
from what is tied to them: their triples, names, keywords and links. So words are as rare as they are among these
passages, entities have the names they have there, walks and messages go through these passages alone, and a search
returns what an index of them would return, apart from the vectors below. Nothing of the others can leak, since nothing
of them is there.

Vectors, words and synonyms are taken over from the whole index: nothing is encoded, so a filter needs no embedder. The
vector of a passage or triple is that of its own text, with or without the title, as the whole index decided
(`Content.shared_titles`). The vector of an entity is that of its name as the whole index spells it, which has the same
normal form. A term that is no entity of the whole index, since too many passages define it there, has a vector of
zeros: it is found by its name and not by similarity.

A view is in memory: no file is opened for it but those of the whole index, and none is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import IndexChangedError
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.keys import Keys, as_keys, key_of, read_keys
from triplebeam.index.content.annotations import Annotations
from triplebeam.index.content.content import Content
from triplebeam.index.content.corrected import Correcting
from triplebeam.index.folder.generation import write_generation
from triplebeam.index.folder.manifest import check_files, find_manifest, generation_folder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.vectors import copy_stored
from triplebeam.index.store.corrections import Corrections
from triplebeam.passage import Passage
from triplebeam.system.open_files import explain_open_files
from triplebeam.triple import entity_key


def view(whole: Snapshot, rows: NDArray[np.int64]) -> Snapshot:
    """Derive a snapshot of the passages at these rows, which are in rising order."""
    with explain_open_files():
        return _view(whole, rows)


def _view(whole: Snapshot, rows: NDArray[np.int64]) -> Snapshot:
    try:
        return _derived(whole, rows, _contents(whole, rows))
    except FileNotFoundError as error:
        _check_unchanged(whole, error)
        raise


def _check_unchanged(whole: Snapshot, error: FileNotFoundError) -> None:
    """Raise where another generation has replaced this one, or where this one has lost a file."""
    now = find_manifest(whole.folder, whole=False)
    if now is None or (now.generation, now.checksums) != (whole.manifest.generation, whole.manifest.checksums):
        raise IndexChangedError(
            f"the index at {whole.folder} has changed since it was opened: open it again to filter it."
        ) from error
    check_files(generation_folder(whole.folder, whole.manifest.generation), whole.manifest.files)


def _contents(whole: Snapshot, rows: NDArray[np.int64]) -> Content:
    triples = whole.triples
    ids = triples.triples_at(rows)
    passages = list(map(whole.passages.at, rows.tolist()))
    return Content(
        passages=passages,
        triples=list(map(triples.triple, ids.tolist())),
        triple_rows=np.searchsorted(rows, triples.triple_passages[ids]).tolist(),
        annotations=Annotations.read(whole.arrays, rows, len(whole.passages)),
        correcting=Correcting(Corrections.merging(_written_in(passages, whole.entities.other_names()))),
        in_context=whole.manifest.embedder.triples_in_context,
        keyword_passages=whole.manifest.keyword_passages,
    )


def _written_in(passages: Sequence[Passage], aliases: Mapping[str, str]) -> dict[str, str]:
    """The other names of entities, by their normal forms, that a passage has in its title, section or text.

    Another one may have been read in a hidden passage alone: whoever could look it up would learn of it. Triples and
    names of a generation are merged already, so texts alone show what was visible before.
    """
    if not aliases:
        return {}
    text = "\n".join(f" {entity_key(passage.searchable)} " for passage in passages)
    return {alias: name for alias, name in aliases.items() if f" {alias} " in text}


@dataclass(frozen=True)
class _VisibleVectors:
    """The vectors that the whole index stores of what is visible."""

    stored: Mapping[str, NDArray[Any]] = field(repr=False)
    """By kind, in the order of the view."""
    entity_keys: Keys = field(repr=False)
    """What the vectors of entities were made from, by which synonyms are taken over."""

    @classmethod
    def of(cls, whole: Snapshot, rows: NDArray[np.int64], contents: Content) -> "_VisibleVectors":
        """Look the rows of a view up in the whole index."""
        triples = whole.triples.triples_at(rows)
        names = contents.entity_names
        numbers = np.full(len(names), -1)
        numbers[contents.triple_entities] = whole.triples.ends(triples)
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = whole.entities.numbers.get(entity_key(names[place]), -1)
        vectors = {
            "passage": copy_stored(whole.passage_vectors, rows),
            "triple": copy_stored(whole.triples.vector_index, triples),
            "entity": copy_stored(whole.entities.vectors, numbers),
        }
        keys = as_keys(map(key_of, names)).copy()  # of terms that are no entities of the whole index: nobody has these
        keys[numbers >= 0] = read_keys(whole.arrays, "entity_keys")[numbers[numbers >= 0]]
        return cls(vectors, keys)

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return the vectors of one kind; they are those of the texts, which are not encoded."""
        return self.stored[kind]

    def keys(self, texts: Sequence[str]) -> Keys:
        """Return the keys of entities; no others are needed."""
        return self.entity_keys


def _derived(whole: Snapshot, rows: NDArray[np.int64], contents: Content) -> Snapshot:
    arrays = MemoryArrays()
    vectors = _VisibleVectors.of(whole, rows, contents)
    passage_graph = write_generation(arrays, contents, vectors, whole.arrays)
    opened = Snapshot.read(whole.folder, whole.manifest, arrays)
    manifest = whole.manifest.model_copy(
        update={
            "counts": _counts(contents),
            "triples_by_extractor": contents.triples_by_extractor(),
            "unread_languages": {},
            "corrections": None,
            "passage_graph": passage_graph,
            "ownership": opened.entities.topics.ownership(),
            "files": {},
            "checksums": {},
        }
    )
    return replace(opened, manifest=manifest, whole=whole, rows=rows)


def _counts(contents: Content) -> dict[str, int]:
    """What can be known of some passages. A failed extraction counts as none: the store alone knows why."""
    extracted = {row for row, extractor in enumerate(contents.annotations.extractors) if extractor}
    return {
        "documents": len({passage.document_id for passage in contents.passages}),
        "passages": len(contents.passages),
        "triples": len(contents.triples),
        "passages_without_extraction": len(contents.passages) - len(extracted),
        "passages_failed": 0,
        "passages_without_triples": len(extracted.difference(contents.triple_rows)),
        "triples_rejected": 0,
        "entities": len(contents.entity_names),
    }
