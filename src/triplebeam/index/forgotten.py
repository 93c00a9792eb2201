"""What was removed from an index and may still be quoted elsewhere: its lines, as hashes, until it is compacted."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from triplebeam.lines import line_numbers

_FACTS = (
    "SELECT t.subject || ' ' || t.predicate || ' ' || t.object FROM triple t JOIN passage p ON p.number = t.passage"
    " WHERE p.document = ?"
)


@dataclass(frozen=True)
class Forgotten:
    """Of a store."""

    db: sqlite3.Connection

    def note(self, document_id: str) -> None:
        """Note the lines of a document that is about to be removed: its title, its passages' and its facts."""
        row = self.db.execute("SELECT number, title, text FROM document WHERE id = ?", (document_id,)).fetchone()
        if row is None:
            return
        number, title, text = row
        cuts = self.db.execute("SELECT start, stop FROM passage WHERE document = ?", (number,))
        facts = self.db.execute(_FACTS, (number,))
        self.note_texts(chain([title], (text[start:stop] for start, stop in cuts), (fact for (fact,) in facts)))

    def note_texts(self, texts: Iterable[str]) -> None:
        """Note the lines of texts that are about to be removed."""
        rows = ((line,) for line in line_numbers(texts))
        self.db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?)", rows)

    def lines(self) -> list[int]:
        """All that were noted."""
        return [line for (line,) in self.db.execute("SELECT line FROM forgotten")]

    def clear(self) -> None:
        """There is nothing left to be forgotten."""
        self.db.execute("DELETE FROM forgotten")
