"""A view: some passages of an index, searched as if there were no others.

A view is a generation of its own, derived by the code that publishes an index, from the passages that are visible and
from what is tied to them: their triples, names, keywords and links. So words are as rare as they are among these
passages, entities have the names they have there, walks and messages go through these passages alone, and a search
returns what an index of them would return, apart from the vectors below. Nothing of the others can leak, since nothing
of them is there.

Vectors, words and synonyms are taken over from the whole index: nothing is encoded, so a filter needs no embedder. The
vector of a passage or triple is that of its own text, with or without the title, as the whole index decided
(`Contents.shared_titles`). The vector of an entity is that of its name as the whole index spells it, which has the same
normal form. A term that is no entity of the whole index, since too many passages define it there, has a vector of
zeros: it is found by its name and not by similarity.

The files are read and deleted: a view keeps none open. Those of a large view are mapped, and last as long as it does.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError, CannotWriteError, IndexChangedError
from triplebeam.index.arrays.keys import Keys, as_keys, key_of, read_keys, write_keys
from triplebeam.index.content.contents import Contents
from triplebeam.index.content.corrected import Correcting
from triplebeam.index.content.material import Material
from triplebeam.index.folder.manifest import LastGeneration, check_files, generation_folder, recorded
from triplebeam.index.folder.passages import PassageTable
from triplebeam.index.folder.publish import write_generation
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.vectors import copy_stored, write_vectors
from triplebeam.index.store.corrections import Corrections
from triplebeam.passage import Passage
from triplebeam.system.durable import explained
from triplebeam.system.open_files import explain_open_files
from triplebeam.triple import entity_key
from triplebeam.where import Where

#: A view of more passages is memory-mapped, which keeps some fifty files open. Fewer take up to a gigabyte.
MAX_PASSAGES_IN_MEMORY = 100_000


def view(whole: Snapshot, rows: NDArray[np.int64]) -> Snapshot:
    """Derive a snapshot of the passages at these rows, which are in rising order."""
    with explain_open_files():
        return _view(whole, rows)


def visible_rows(passages: PassageTable, where: Where) -> NDArray[np.int64]:
    """The rows of the passages for which a filter holds; there must be one."""
    fields = list(passages.fields())
    known: dict[str, set[str]] = {}
    for each in fields:
        for name, value in each.items():
            known.setdefault(name, set()).add(value)
    where.check(known)
    rows = [row for row, each in enumerate(fields) if where.holds(each)]
    if not rows:
        meant = "".join(f" (did you mean {value!r}?)" for value in where.other_case(known)[:1])
        raise BadInputError(f"no passage matches the filter {str(where)!r}{meant}: change a value or drop a condition.")
    return np.array(rows, np.int64)


def _view(whole: Snapshot, rows: NDArray[np.int64]) -> Snapshot:
    published = generation_folder(whole.folder, whole.manifest.generation)
    try:
        contents = _contents(whole, rows, published)
        last = LastGeneration(published, frozenset(whole.manifest.files))
        with scratch_folder() as scratch:
            return _derived(whole, rows, contents, last, scratch)
    except FileNotFoundError as error:
        _check_unchanged(whole, published, error)
        raise


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder. Where none can be made, or its disk is full, one sentence says so."""
    try:
        place = Path(gettempdir())
        with explained(place):
            folder = TemporaryDirectory(prefix="triplebeam-view-", ignore_cleanup_errors=True)
    except FileNotFoundError as error:
        raise CannotWriteError(
            f"there is no temporary folder to make a view in ({error}): set TMPDIR to a folder that can be written to."
        ) from error
    with folder as scratch, explained(place):
        yield Path(scratch)


def _check_unchanged(whole: Snapshot, published: Path, error: FileNotFoundError) -> None:
    """Raise where another generation has replaced this one, or where this one has lost a file."""
    now = recorded(whole.folder)
    if now is None or (now.generation, now.checksums) != (whole.manifest.generation, whole.manifest.checksums):
        raise IndexChangedError(
            f"the index at {whole.folder} has changed since it was opened: open it again to filter it."
        ) from error
    check_files(published, whole.manifest.files)


def _contents(whole: Snapshot, rows: NDArray[np.int64], generation: Path) -> Contents:
    triples = whole.triples
    ids = triples.triples_at(rows)
    passages = list(map(whole.passages.at, rows.tolist()))
    return Contents(
        passages=passages,
        triples=list(map(triples.triple, ids.tolist())),
        triple_rows=np.searchsorted(rows, triples.triple_passages[ids]).tolist(),
        material=Material.read(generation, rows, len(whole.passages)),
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
    def of(
        cls, whole: Snapshot, rows: NDArray[np.int64], contents: Contents, last: LastGeneration
    ) -> "_VisibleVectors":
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
        keys[numbers >= 0] = read_keys(last.folder / "entity_keys.npy")[numbers[numbers >= 0]]
        return cls(vectors, keys)

    def write(self, generation: Path, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Write the vectors of one kind; they are those of the texts, which are not encoded."""
        write_vectors(generation / f"{kind}_vectors.npy", self.stored[kind])
        if kind == "entity":
            write_keys(generation / "entity_keys.npy", self.entity_keys)
        return self.stored[kind]


def _derived(
    whole: Snapshot, rows: NDArray[np.int64], contents: Contents, last: LastGeneration, scratch: Path
) -> Snapshot:
    generation = scratch / "generation"
    generation.mkdir()
    vectors = _VisibleVectors.of(whole, rows, contents, last)
    passage_graph = write_generation(generation, contents, vectors, last)
    in_memory = len(rows) <= MAX_PASSAGES_IN_MEMORY
    opened = Snapshot.read(whole.folder, whole.manifest, generation, in_memory=in_memory)
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


def _counts(contents: Contents) -> dict[str, int]:
    """What can be known of some passages. A failed extraction counts as none: the store alone knows why."""
    extracted = {row for row, extractor in enumerate(contents.material.extractors) if extractor}
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
