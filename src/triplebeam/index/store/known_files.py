"""The files that the documents of an index were read from: their names, and their states when they were read."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triplebeam.index.store.schema import keep_value, kept_value
from triplebeam.ingest.folder_files import covers

_NAMES = "source_names"


@dataclass(frozen=True)
class KnownFiles:
    """Of a store."""

    db: sqlite3.Connection

    def sources(self) -> dict[str, str]:
        """The file that each document came from, by its name in the index; the document's id where it is not known."""
        return dict(self.db.execute("SELECT id, iif(source = '', id, source) FROM document ORDER BY number"))

    def states(self) -> dict[str, str]:
        """The state of each file when it was last read, by its name in the index."""
        return dict(self.db.execute("SELECT name, state FROM file"))

    def set_states(self, states: Mapping[str, str | None]) -> None:
        """Remember the state of files; None forgets a file."""
        for name, state in states.items():
            if state is None:
                self.db.execute("DELETE FROM file WHERE name = ?", (name,))
            else:
                self.db.execute("INSERT OR REPLACE INTO file VALUES (?, ?)", (name, state))

    def names(self) -> dict[str, str]:
        """The names of sources by their absolute paths; see `triplebeam.ingest.naming`."""
        return dict(json.loads(kept_value(self.db, _NAMES) or "{}"))

    def remember_names(self, names: Mapping[str, str]) -> None:
        """Remember under which names files and folders were indexed."""
        if names:
            keep_value(self.db, _NAMES, json.dumps(dict(names)))

    def forget_unused_names(self) -> None:
        """Forget sources that no document came from."""
        files = sorted(set(self.sources().values()))
        used = {path: name for path, name in self.names().items() if _has_files(name, files)}
        keep_value(self.db, _NAMES, json.dumps(used))


def _has_files(folder: str, files: Sequence[str]) -> bool:
    """Is one of the files, which are sorted, in a folder, or the same?"""
    if folder == ".":
        return bool(files)
    first = [bisect_left(files, name) for name in (folder, f"{folder}/")]
    return any(at < len(files) and covers(folder, files[at]) for at in first)
