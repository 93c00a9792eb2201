"""What was extracted from the passages of a store, by which extractor, and what of it was removed.

What was removed may still be quoted elsewhere: its lines are kept as hashes until the index is purged.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from triplebeam.extract.extractor import KEYWORDS_MARK, Extraction
from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.tables import IN_ORDER, MetaTable
from triplebeam.text.lines import line_numbers
from triplebeam.triple import Triple

_FACTS = "SELECT t.subject, t.predicate, t.object FROM triple t"
_OF_DOCUMENT = f"{_FACTS} JOIN passage p ON p.number = t.passage WHERE p.document = ?"


@dataclass(frozen=True)
class ExtractionTable:
    """Reads and writes the tables ``triple``, ``entity`` and ``rejected``."""

    db: sqlite3.Connection

    def put(self, passage: int, extraction: Extraction, extractor: str) -> None:
        """Replace what was extracted from a passage, and record the extractor or why it failed."""
        before = self.db.execute("SELECT extractor, failure FROM passage WHERE number = ?", (passage,)).fetchone()
        forgotten = Forgotten(self.db)
        facts = list(forgotten.list_facts(f"{_FACTS} WHERE t.passage = ?", passage))
        forgotten.note_texts(MetaTable(self.db).corrections.texts(facts))
        for table in ("triple", "entity", "rejected"):
            self.db.execute(f"DELETE FROM {table} WHERE passage = ?", (passage,))
        self.db.executemany(
            "INSERT INTO triple (passage, subject, predicate, object) VALUES (?, ?, ?, ?)",
            [(passage, *triple) for triple in extraction.triples],
        )
        self.db.executemany("INSERT INTO entity VALUES (?, ?)", [(passage, name) for name in extraction.entities])
        self.db.executemany(
            "INSERT INTO rejected VALUES (?, ?)", [(passage, json.dumps(parts)) for parts in extraction.rejected]
        )
        self.db.execute(
            "UPDATE passage SET extractor = ?, failure = ?, unread_language = ? WHERE number = ?",
            (extractor, extraction.failure, extraction.unread_language, passage),
        )
        # What failed before in the same way and fails again has changed nothing that is searched.
        if before != (extractor, extraction.failure) or extraction.failure is None:
            MetaTable(self.db).mark_changed()

    def triples(self) -> Iterator[tuple[int, Triple]]:
        """Yield all triples with the numbers of their passages, in the order of these."""
        rows = self.db.execute(
            "SELECT t.passage, t.subject, t.predicate, t.object"
            f" FROM triple t JOIN passage p ON p.number = t.passage {IN_ORDER}, t.number"
        )
        return ((passage, Triple(*parts)) for passage, *parts in rows)

    def names(self) -> Iterator[tuple[int, str]]:
        """Yield passages, by number, with the names that the local extractor found in them, in a fact or not.

        A language model's entities are left out: the papers' graphs are made of its triples alone.
        """
        return self._entities("p.extractor LIKE 'local:%' AND NOT instr(p.extractor, ?)")

    def keywords(self) -> Iterator[tuple[int, str]]:
        """Yield passages, by number, with the keywords that a model gave; others have none."""
        return self._entities("instr(p.extractor, ?)")

    def _entities(self, where: str) -> Iterator[tuple[int, str]]:
        query = f"SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage WHERE {where}"
        return iter(self.db.execute(f"{query} {IN_ORDER}, e.rowid", (KEYWORDS_MARK,)))

    def extractors(self) -> dict[int, str]:
        """Return the extractor of each passage, by number, that has one and did not fail."""
        return dict(
            self.db.execute("SELECT number, extractor FROM passage WHERE extractor IS NOT NULL AND failure IS NULL")
        )


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
        facts = chain(self.list_facts(_OF_DOCUMENT, number), added)
        self.note_texts(chain([title], (text[start:stop] for _, start, stop in cuts), corrections.texts(facts)))

    def note_corrections(self, corrections: Corrections) -> None:
        """Note what corrections that are about to be replaced made of the facts."""
        added = [line.triple for line in corrections.of_kind("add")]
        facts = self.list_facts(_FACTS) if corrections.merges else ()
        renamed = (fact for fact in facts if corrections.merge_triple(fact) != fact)
        self.note_texts(corrections.texts(chain(added, renamed)))

    def note_texts(self, texts: Iterable[str]) -> None:
        """Note the lines of texts that are about to be removed."""
        rows = ((line,) for line in line_numbers(texts))
        self.db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?)", rows)

    def list_facts(self, query: str, *values: int) -> Iterator[Triple]:
        """Yield the triples that a query selects."""
        return (Triple(*row) for row in self.db.execute(query, values))

    def lines(self) -> list[int]:
        """Return the lines that were noted."""
        return [line for (line,) in self.db.execute("SELECT line FROM forgotten")]

    def clear(self) -> None:
        """Clear the list of what is to be purged."""
        self.db.execute("DELETE FROM forgotten")
