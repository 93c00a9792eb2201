"""Writing to an index folder: one writer at a time, and only into a folder that is an index or may become one.

Maintenance writes, too: is everything what was put there, and is no byte left of what was removed? Files of a
generation have checksums, and documents have hashes. A removal takes documents out of the store and of the published
generation at once. What may be left is found by `purge`: free pages of SQLite, a generation that a process did not get
to delete, and vectors that were encoded and never published. Nobody needs it, so searches are the same before and
after.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from triplebeam.errors import REPAIR, BadInputError, IndexBusyError, IndexDamagedError, IndexMissingError
from triplebeam.index.content.content import Content
from triplebeam.index.content.encoding import VectorCache
from triplebeam.index.folder.manifest import (
    MANIFEST,
    WRITE_LOCK,
    PreviousGeneration,
    find_damaged_files,
    find_manifest,
    is_index,
    publish_manifest,
    read_manifest,
    remove_generations,
)
from triplebeam.index.source import Manifest
from triplebeam.index.store.store import Store, hash_of
from triplebeam.index.store.tables import STORE, has_store
from triplebeam.passage import Document
from triplebeam.system.durable import explain_disk_errors, make_folder, open_to_read, remove_database, rewrite
from triplebeam.text.lines import line_numbers

_MAX_NAMED = 3


@contextmanager
def open_for_write(folder: Path) -> Iterator[Store]:
    """Open the store of an index, for one writer at a time; a new folder is made."""
    with explain_disk_errors(folder):
        try:
            make_folder(folder)
        except (FileExistsError, NotADirectoryError) as error:
            raise BadInputError(
                f"there can be no index at {folder} ({error.strerror}): name a folder that is new or an index already."
            ) from error
        _check_is_ours(folder)
        with write_lock(folder):
            # What a process did not get to publish, or to remove, before it was killed. A manifest that cannot be read
            # names no generation: all are kept.
            manifest = find_manifest(folder, whole=False)
            if manifest or not is_index(folder):
                remove_generations(folder / "generations", keep=manifest.generation if manifest else "")
            with closing(Store(folder / STORE)) as store:
                yield store


@contextmanager
def open_store_copy(folder: Path) -> Iterator[Store]:
    """Open a copy of the store of an index as it is now, without waiting for a writer. Nothing of it is kept."""
    with TemporaryDirectory(prefix="triplebeam-") as elsewhere:
        there = folder / STORE if has_store(folder) else None
        with closing(Store(Path(elsewhere) / STORE, copy_of=there)) as store:
            yield store


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Keep other writers out of an existing folder; readers are not affected."""
    lock = FileLock(folder / WRITE_LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise IndexBusyError(
            f"another process is writing to {folder}: wait until it is done, then try again."
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def remove_failed_index(folder: Path) -> Iterator[None]:
    """Remove the half of a new index that cannot be made, because there is nothing to read."""
    new, made = not has_store(folder), not folder.exists()
    try:
        yield
    except BadInputError:
        if new and has_store(folder):
            with write_lock(folder), open_store_copy(folder) as store:
                if not store.statistics.counts()["documents"]:
                    remove_database(folder / STORE)
                    with suppress(OSError):  # Windows keeps what is open
                        (folder / WRITE_LOCK).unlink()
        if made:
            with suppress(OSError):  # something is in it
                folder.rmdir()
        raise


def require_index(folder: Path, therefore: str) -> None:
    """Raise where there is no index; ``therefore`` says what cannot be done."""
    if not has_store(folder):
        raise IndexMissingError(
            f"there is no index at {folder}, so {therefore}: make one with `triplebeam index {folder} SOURCE…`."
        )


def set_share(folder: Path, share: float | None) -> None:
    """Set how much walks count in the default search, for this generation and those to come; None: as measured."""
    with open_for_write(folder) as store:
        with store.transaction():
            store.meta.set("tuned_share", "" if share is None else str(share))
        publish_manifest(folder, read_manifest(folder).model_copy(update={"tuned_share": share}))


def _check_is_ours(folder: Path) -> None:
    """Refuse to write into a folder of something else, to start a new index under the manifest of another, and to
    replace what has another format.
    """
    find_manifest(folder)
    there = (folder / STORE).exists()
    # A killed process may have left everything in the log beside the file.
    written = any(path.exists() and path.stat().st_size for path in (folder / STORE, folder / f"{STORE}-wal"))
    if (folder / MANIFEST).exists() and (folder / "generations").is_dir() and not written:
        raise IndexDamagedError(
            f"{folder / STORE} is {'empty' if there else 'missing'}, so the index can be searched but not added to:"
            " restore the file from a copy, or index into a new folder."
        )
    if there:
        return
    others = sorted(path.name for path in folder.iterdir() if path.name != WRITE_LOCK and path.name[0] != ".")
    if others:
        raise BadInputError(
            f"{folder} is no index and holds other files, such as {others[0]!r}: name a folder that is new, or empty."
        )


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
