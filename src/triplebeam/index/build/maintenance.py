"""Maintenance of an index folder: is everything what was put there, and is no byte left of what was removed?

Files of a generation have checksums, and documents have hashes. A removal takes documents out of the store and of the
published generation at once. What may be left is found by `purge`: free pages of SQLite, a generation that a process
did not get to delete, and vectors that were encoded and never published. Nobody needs it, so searches are the same
before and after.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

from triplebeam.errors import REPAIR, IndexDamagedError
from triplebeam.index.build.writing import open_for_write, require_index
from triplebeam.index.content.content import Content
from triplebeam.index.content.vector_cache import VectorCache
from triplebeam.index.folder.manifest import (
    PreviousGeneration,
    find_damaged_files,
    is_index,
    publish_manifest,
    read_manifest,
)
from triplebeam.index.manifest import Manifest
from triplebeam.index.store.store import Store, hash_of
from triplebeam.index.store.tables import STORE
from triplebeam.passage import Document
from triplebeam.system.database import open_to_read, rewrite
from triplebeam.text.lines import line_numbers

_MAX_NAMED = 3


def check_index(folder: Path) -> None:
    """Raise where any file of an index is damaged. Nothing is written, so a read-only folder will do."""
    if damaged := find_damaged_files(folder):
        more = f" and {len(damaged) - _MAX_NAMED:,} more" if len(damaged) > _MAX_NAMED else ""
        names = ", ".join(damaged[:_MAX_NAMED])
        raise IndexDamagedError(f"files of {folder} are corrupted ({names}{more}): {REPAIR}")
    store = folder / STORE
    if not store.is_file():
        raise IndexDamagedError(f"{store} is missing, so the index can be searched but not added to: restore the file.")
    with closing(open_to_read(store)) as db:
        check_store(db)


def check_store(db: sqlite3.Connection) -> None:
    """Raise where the store is damaged, or a document in it is not what was put in."""
    try:
        found = [text for (text,) in db.execute("PRAGMA integrity_check(3)")]
        changed = list(_find_changed_documents(db)) if found == ["ok"] else []
    except (sqlite3.DatabaseError, ValueError) as error:
        found, changed = [str(error)], []
    if found != ["ok"]:
        raise IndexDamagedError(
            f"the store of the index is damaged ({'; '.join(found)}), and there is no other copy of it: restore"
            " store.sqlite from a copy, or index into a new folder."
        )
    if changed:
        raise IndexDamagedError(
            f"the text of {len(changed):,} documents in store.sqlite is not what was indexed, such as {changed[0]!r}:"
            " restore store.sqlite from a copy, or remove these documents and index them again."
        )


def _find_changed_documents(db: sqlite3.Connection) -> Iterator[str]:
    """Find documents whose text, title, metadata or cuts do not match the stored hash."""
    rows = db.execute("SELECT document, id, start, stop, section FROM passage ORDER BY document, position")
    cuts = {
        document: [row[1:] if row[4] else row[1:4] for row in group]
        for document, group in groupby(rows, key=itemgetter(0))
    }
    for number, id_, digest, title, text, metadata in db.execute(
        "SELECT number, id, hash, title, text, metadata FROM document"
    ):
        document = Document(id=id_, title=title, text=text, metadata=json.loads(metadata))
        if hash_of(document, cuts.get(number, [])) != digest:
            yield id_


@dataclass(frozen=True)
class PurgeReport:
    """What a purge did."""

    bytes_before: int
    bytes_after: int
    completions_removed: int = 0


def purge(folder: Path, forget: Callable[[Iterable[int]], int] = lambda lines: 0) -> PurgeReport:
    """Purge an index. ``forget`` removes completions whose prompts had certain lines, and returns how many."""
    require_index(folder, "there is nothing to compact")
    before = _measure_size(folder)
    with open_for_write(folder) as store:
        # A damaged index is refused, not emptied: what is whole of it saves encoding when it is repaired.
        current = read_manifest(folder) if is_index(folder) else None
        space = store.meta.embedder
        contents = Content.of(store, in_context=bool(space and space.triples_in_context))
        if space:  # forget vectors that were encoded for a generation that was never published
            previous = PreviousGeneration.of(folder).arrays
            with closing(VectorCache(folder, space.fingerprint, space.dimension, previous)) as encoded:
                encoded.keep_only(contents.texts())
        completions = forget(_find_gone_lines(store, contents))
        with store.transaction():
            store.forgotten.clear()
            store.files.forget_unused_names()
            store.correct(store.meta.corrections.drop_lines(_find_orphans(store, contents)), same_effect=True)
        rewrite(store.db)
        _publish_counts(folder, store, current)
    return PurgeReport(before, _measure_size(folder), completions)


def _find_orphans(store: Store, contents: Content) -> list[int]:
    """Return corrections, by line, that are for a document which is gone, or a passage of it."""
    passages = {passage.id for passage in contents.passages}
    documents = {passage.document_id for passage in contents.passages}
    return [
        line.line
        for line in store.meta.corrections.lines
        if (line.document and line.document not in documents)
        or (line.passage and line.passage not in passages and line.passage.rpartition("#")[0] not in documents)
    ]


def _publish_counts(folder: Path, store: Store, current: Manifest | None) -> None:
    """Publish which corrections are left, where nothing else changed."""
    if current and current.corrections and current.revision == store.meta.revision:
        counts = Content.of(store).correction_counts()
        if counts != current.corrections:
            publish_manifest(folder, current.model_copy(update={"corrections": counts}))


def _find_gone_lines(store: Store, contents: Content) -> set[int]:
    """Return the lines of what was removed or replaced that nothing in the store has any more."""
    gone = set(store.forgotten.lines())
    passages = (f"{passage.title}\n{passage.text}" for _, passage in store.passages())
    facts = (str(triple) for _, triple in store.extractions.triples())
    for text in chain(passages, facts, contents.triple_texts) if gone else ():
        gone -= line_numbers([text])
    return gone


def _measure_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
