"""Is everything in an index what was put there? Files of a generation have checksums, and documents have hashes."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from triplebeam.errors import REPAIR, IndexDamagedError
from triplebeam.index.folder.previous import find_damaged_files
from triplebeam.index.store.document_hash import hash_of
from triplebeam.index.store.schema import STORE
from triplebeam.passage import Document
from triplebeam.system.database import open_to_read

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
