"""The files that the documents of an index were read from: their names, and their states when they were read."""

import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triplebeam.index.store.meta import MetaTable
from triplebeam.ingest.folder_files import is_inside


@dataclass(frozen=True)
class FileTable:
    """Reads and writes the table ``file``, and the files of documents."""

    db: sqlite3.Connection

    def sources(self) -> dict[str, str]:
        """Return the file that each document came from, by its name in the index; the document's id where unknown."""
        return dict(self.db.execute("SELECT id, iif(source = '', id, source) FROM document ORDER BY number"))

    def states(self) -> dict[str, str]:
        """Return the state of each file when it was last read, by its name in the index."""
        return dict(self.db.execute("SELECT name, state FROM file"))

    def set_states(self, states: Mapping[str, str | None]) -> None:
        """Store the state of files; None removes a file."""
        for name, state in states.items():
            if state is None:
                self.db.execute("DELETE FROM file WHERE name = ?", (name,))
            else:
                self.db.execute("INSERT OR REPLACE INTO file VALUES (?, ?)", (name, state))

    def forget_unused_names(self) -> None:
        """Forget sources that no document came from."""
        meta, files = MetaTable(self.db), sorted(set(self.sources().values()))
        meta.set_source_names({path: name for path, name in meta.source_names.items() if _has_files(name, files)})


def _has_files(folder: str, files: Sequence[str]) -> bool:
    """Return whether one of the files, which are sorted, is in a folder, or the same."""
    if folder == ".":
        return bool(files)
    first = [bisect_left(files, name) for name in (folder, f"{folder}/")]
    return any(at < len(files) and is_inside(folder, files[at]) for at in first)
