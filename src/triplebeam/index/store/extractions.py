"""What was extracted from the passages of a store, and by which extractor."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from triplebeam.extract.extractor import KEYWORDS_MARK, Extraction
from triplebeam.index.store.forgotten import Forgotten
from triplebeam.index.store.meta import MetaTable
from triplebeam.index.store.schema import IN_ORDER
from triplebeam.triple import Triple


@dataclass(frozen=True, slots=True)
class StoredTriple:
    """A triple with the number of its passage."""

    passage: int
    triple: Triple


@dataclass(frozen=True)
class ExtractionTable:
    """Reads and writes the tables ``triple``, ``entity`` and ``rejected``."""

    db: sqlite3.Connection

    def put(self, passage: int, extraction: Extraction, extractor: str) -> None:
        """Replace what was extracted from a passage, and record the extractor or why it failed."""
        before = self.db.execute("SELECT extractor, failure FROM passage WHERE number = ?", (passage,)).fetchone()
        facts = self.db.execute(
            "SELECT subject, predicate, object FROM triple WHERE passage = ?", (passage,)
        ).fetchall()
        Forgotten(self.db).note_texts(MetaTable(self.db).corrections.texts(Triple(*fact) for fact in facts))
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

    def triples(self) -> Iterator[StoredTriple]:
        """Yield all triples, in the order of their passages."""
        rows = self.db.execute(
            "SELECT t.passage, t.subject, t.predicate, t.object"
            f" FROM triple t JOIN passage p ON p.number = t.passage {IN_ORDER}, t.number"
        )
        for passage, subject, predicate, object_ in rows:
            yield StoredTriple(passage, Triple(subject, predicate, object_))

    def names(self) -> Iterator[tuple[int, str]]:
        """Yield passages, by number, with the names that the local extractor found in them, in a fact or not.

        A language model's entities are left out: the papers' graphs are made of its triples alone.
        """
        return iter(
            self.db.execute(
                "SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage"
                f" WHERE p.extractor LIKE 'local:%' AND NOT instr(p.extractor, ?) {IN_ORDER}, e.rowid",
                (KEYWORDS_MARK,),
            )
        )

    def keywords(self) -> Iterator[tuple[int, str]]:
        """Yield passages, by number, with the keywords that a model gave; others have none."""
        return iter(
            self.db.execute(
                "SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage"
                f" WHERE instr(p.extractor, ?) {IN_ORDER}, e.rowid",
                (KEYWORDS_MARK,),
            )
        )

    def extractors(self) -> dict[int, str]:
        """Return the extractor of each passage, by number, that has one and did not fail."""
        return dict(
            self.db.execute("SELECT number, extractor FROM passage WHERE extractor IS NOT NULL AND failure IS NULL")
        )
