"""What was removed from an index and may still be quoted elsewhere: its lines, as hashes, until it is purged."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.meta import MetaTable
from triplebeam.text.lines import line_numbers
from triplebeam.triple import Triple

_FACTS = "SELECT t.subject, t.predicate, t.object FROM triple t"
_OF_DOCUMENT = f"{_FACTS} JOIN passage p ON p.number = t.passage WHERE p.document = ?"


@dataclass(frozen=True)
class Forgotten:
    """Reads and writes the table ``forgotten``."""

    db: sqlite3.Connection

    def note(self, document_id: str) -> None:
        """Note the lines of a document that is about to be removed: its title, its passages' and its facts."""
        row = self.db.execute("SELECT number, title, text FROM document WHERE id = ?", (document_id,)).fetchone()
        if row is None:
            return
        number, title, text = row
        cuts = self.db.execute("SELECT id, start, stop FROM passage WHERE document = ?", (number,)).fetchall()
        corrections, passages = MetaTable(self.db).corrections, {id_ for id_, _, _ in cuts}
        adds = corrections.of_kind("add")
        added = (line.triple for line in adds if line.document == document_id or line.passage in passages)
        facts = chain(self._facts(_OF_DOCUMENT, number), added)
        self.note_texts(chain([title], (text[start:stop] for _, start, stop in cuts), corrections.texts(facts)))

    def note_corrections(self, corrections: Corrections) -> None:
        """Note what corrections that are about to be replaced made of the facts."""
        added = [line.triple for line in corrections.of_kind("add")]
        facts = self._facts(_FACTS) if corrections.merges else ()
        renamed = (fact for fact in facts if corrections.merge_triple(fact) != fact)
        self.note_texts(corrections.texts(chain(added, renamed)))

    def note_texts(self, texts: Iterable[str]) -> None:
        """Note the lines of texts that are about to be removed."""
        rows = ((line,) for line in line_numbers(texts))
        self.db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?)", rows)

    def _facts(self, query: str, *values: int) -> Iterator[Triple]:
        return (Triple(*row) for row in self.db.execute(query, values))

    def lines(self) -> list[int]:
        """Return the lines that were noted."""
        return [line for (line,) in self.db.execute("SELECT line FROM forgotten")]

    def clear(self) -> None:
        """Clear the list of what is to be purged."""
        self.db.execute("DELETE FROM forgotten")
