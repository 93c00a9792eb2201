"""The source of truth: documents, passages, triples, and the state of their extraction.

One SQLite file, opened by writers only. A passage is a span of its document, so its text is stored once and a
quotation is exact by construction.
"""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from triplebeam.database import open_database, transaction
from triplebeam.errors import IndexDamagedError, SourceError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.keywords import MARK
from triplebeam.index.links import linked_passages
from triplebeam.metadata import FILE_FIELDS
from triplebeam.passage import Document, Passage
from triplebeam.triple import Triple

_SCHEMA = """
CREATE TABLE document (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT '{}', links TEXT NOT NULL DEFAULT '[]');
CREATE TABLE passage (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
    position INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    extractor TEXT, failure TEXT, section TEXT NOT NULL DEFAULT '', unread_language TEXT);
CREATE INDEX passage_document ON passage (document, position);
CREATE TABLE triple (
    number INTEGER PRIMARY KEY, passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE,
    subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL);
CREATE INDEX triple_passage ON triple (passage);
CREATE TABLE entity (passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE, name TEXT NOT NULL);
CREATE INDEX entity_passage ON entity (passage);
CREATE TABLE rejected (passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE, parts TEXT NOT NULL);
CREATE INDEX rejected_passage ON rejected (passage);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

#: What format 2 added: sections of passages, links between documents.
_FORMAT_2 = """
ALTER TABLE document ADD COLUMN anchors TEXT NOT NULL DEFAULT '{}';
ALTER TABLE document ADD COLUMN links TEXT NOT NULL DEFAULT '[]';
ALTER TABLE passage ADD COLUMN section TEXT NOT NULL DEFAULT '';
"""
#: What format 3 added: the languages of passages that their extractor does not read.
_FORMAT_3 = "ALTER TABLE passage ADD COLUMN unread_language TEXT;"

#: Format 4 has its vectors elsewhere; see `Store.old_vectors`.
_FORMAT_4 = ""

_IN_ORDER = " ORDER BY p.document, p.position"


@dataclass(frozen=True, slots=True)
class StoredTriple:
    """A triple with the number of its passage."""

    passage: int
    triple: Triple


def _document_hash(document: Document, passages: Sequence[Passage]) -> bytes:
    fields = sorted(field for field in document.metadata.items() if field[0] not in FILE_FIELDS)
    content = [document.title, document.text, fields]
    cuts = [(p.id, p.start, p.end, p.section) if p.section else (p.id, p.start, p.end) for p in passages]
    return hashlib.blake2b(json.dumps([content, cuts]).encode(), digest_size=16).digest()


def _apart_from_text(document: Document) -> tuple[str, str, str]:
    """Metadata, where anchors are, and links, as JSON."""
    anchors = {heading.anchor: heading.start for heading in document.headings if heading.anchor}
    return json.dumps(dict(document.metadata)), json.dumps(anchors), json.dumps(document.links)


class Store:
    """Reads and writes the SQLite file. Every ``with store.transaction()`` is all or nothing."""

    def __init__(self, path: Path) -> None:
        try:
            self._db = open_database(path, _SCHEMA, _FORMAT_2, _FORMAT_3, _FORMAT_4)
        except sqlite3.DatabaseError as error:
            raise IndexDamagedError(
                f"{path} is not a usable SQLite file ({error}): restore it from a copy, or index into a new folder."
            ) from error

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self._db.close()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """All of what is written inside, or none of it."""
        return transaction(self._db)

    # -- values kept for the index as a whole

    def meta(self, key: str) -> str | None:
        """A value kept under a name."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value under a name."""
        self._db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value)
        )

    @property
    def revision(self) -> int:
        """Another number after every change of what is searched; a generation records the one it was made from.

        It is random, so that a store that was restored from a copy and changed since is not taken for the published.
        """
        return int(self.meta("revision") or 0)

    @property
    def tuned_share(self) -> float | None:
        """How much walks count in the default search, where `triplebeam tune` chose it."""
        value = self.meta("tuned_share")
        return float(value) if value else None

    def tune(self, share: float | None) -> None:
        """Keep a chosen share, or None to go by the ownership again. What is searched does not change."""
        self.set_meta("tuned_share", "" if share is None else str(share))

    def _changed(self) -> None:
        self.set_meta("revision", str(secrets.randbits(53)))

    @property
    def extractor(self) -> str | None:
        """The extractor that new passages go to: the one last chosen. Given triples are for the passages they name."""
        if kept := self.meta("extractor"):
            return kept
        commonest = self._db.execute(  # an index made before this was kept
            "SELECT extractor FROM passage WHERE extractor NOT LIKE 'given:%' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
        ).fetchone()
        return commonest[0] if commonest else None

    def remember_extractor(self, name: str) -> None:
        """Choose the extractor of new passages."""
        if self.extractor != name:
            self.set_meta("extractor", name)
            self._changed()

    # -- documents and passages

    def put_document(self, document: Document, passages: Sequence[Passage]) -> bool:
        """Add a document or replace the one of that id; False where nothing changed.

        A document whose passages have another document's ids is refused, and nothing is written.
        """
        digest = _document_hash(document, passages)
        known = self._db.execute("SELECT hash FROM document WHERE id = ?", (document.id,)).fetchone()
        if known and known[0] == digest:
            self._refresh(document)
            return False
        self._check_ids(document, passages)
        self._db.execute("DELETE FROM document WHERE id = ?", (document.id,))
        number = self._db.execute(
            "INSERT INTO document (id, hash, title, text, metadata, anchors, links) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (document.id, digest, document.title, document.text, *_apart_from_text(document)),
        ).lastrowid
        self._db.executemany(
            "INSERT INTO passage (id, document, position, start, stop, section) VALUES (?, ?, ?, ?, ?, ?)",
            [(p.id, number, p.position, p.start, p.end, p.section) for p in passages],
        )
        self._changed()
        return True

    def _refresh(self, document: Document) -> None:
        """Metadata and links may change while the text does not; what was extracted from it stays."""
        changed = self._db.execute(
            "UPDATE document SET metadata = ?, anchors = ?, links = ? WHERE id = ?"
            " AND (metadata, anchors, links) IS NOT (?, ?, ?)",
            ((now := _apart_from_text(document))[0], now[1], now[2], document.id, *now),
        )
        if changed.rowcount:
            self._changed()

    def links(self) -> Iterator[tuple[int, int]]:
        """Pairs of passages, by number, of which the first links to the second, in the order of the first.

        A link to an anchor leads to the passage with the heading of that name, any other to the document's first.
        """
        return linked_passages(
            self._db.execute("SELECT number, id, anchors, links FROM document ORDER BY number"),
            self._db.execute("SELECT document, start, number FROM passage ORDER BY document, position"),
        )

    def remove_documents(self, document_ids: Iterable[str]) -> int:
        """Remove documents and all that was extracted from them; returns how many there were of these ids."""
        removed = 0
        for document_id in document_ids:
            removed += self._db.execute("DELETE FROM document WHERE id = ?", (document_id,)).rowcount
        if removed:
            self._changed()
        return removed

    def _check_ids(self, document: Document, passages: Sequence[Passage]) -> None:
        for passage in passages:
            owner = self._db.execute(
                "SELECT d.id FROM passage p JOIN document d ON d.number = p.document WHERE p.id = ? AND d.id != ?",
                (passage.id, document.id),
            ).fetchone()
            if owner:
                raise SourceError(f"its passage id {passage.id!r} belongs to the document {owner[0]!r} already")

    def passages(self) -> Iterator[tuple[int, Passage]]:
        """All passages with their numbers, in the order of documents and positions."""
        return self._passages("")

    def shared_titles(self, most: int) -> frozenset[str]:
        """Titles that more passages have than this."""
        rows = self._db.execute(
            "SELECT d.title FROM passage p JOIN document d ON d.number = p.document GROUP BY 1 HAVING count(*) > ?",
            (most,),
        )
        return frozenset(title for (title,) in rows)

    def passages_awaiting(self, extractor: str, document_ids: Iterable[str]) -> Iterator[tuple[int, Passage]]:
        """Passages of these documents that this extractor has not processed yet, or failed on.

        The documents are kept in a temporary table: there may be more of them than SQLite allows parameters.
        """
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id TEXT PRIMARY KEY)")
        self._db.execute("DELETE FROM wanted")
        self._db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((id_,) for id_ in document_ids))
        return self._passages(
            "WHERE (p.extractor IS NOT ? OR p.failure IS NOT NULL)"
            " AND p.document IN (SELECT number FROM document JOIN wanted USING (id))",
            extractor,
        )

    def extracted_by(self) -> dict[int, str]:
        """The extractor of each passage, by number, that has one and did not fail."""
        return dict(
            self._db.execute("SELECT number, extractor FROM passage WHERE extractor IS NOT NULL AND failure IS NULL")
        )

    def passages_failed(self) -> Iterator[tuple[int, Passage]]:
        """Passages whose extraction failed, whatever the extractor."""
        return self._passages("WHERE p.failure IS NOT NULL")

    def _passages(self, where: str, *values: str) -> Iterator[tuple[int, Passage]]:
        """Passages, each cut out of its document's text, which is fetched once."""
        cuts = self._db.execute(
            f"SELECT p.document, p.number, p.id, p.position, p.start, p.stop, p.section"
            f" FROM passage p {where} {_IN_ORDER}",
            values,
        )
        for document, rows in groupby(cuts, key=itemgetter(0)):
            document_id, title, text, metadata = self._db.execute(
                "SELECT id, title, text, metadata FROM document WHERE number = ?", (document,)
            ).fetchone()
            fields = json.loads(metadata)
            for _, number, id_, position, start, stop, section in rows:
                yield number, Passage(id_, text[start:stop], title, document_id, position, start, stop, fields, section)

    # -- triples

    def put_extraction(self, passage: int, extraction: Extraction, extractor: str) -> None:
        """Replace what was extracted from a passage, and record the extractor or why it failed."""
        before = self._db.execute("SELECT extractor, failure FROM passage WHERE number = ?", (passage,)).fetchone()
        for table in ("triple", "entity", "rejected"):
            self._db.execute(f"DELETE FROM {table} WHERE passage = ?", (passage,))
        self._db.executemany(
            "INSERT INTO triple (passage, subject, predicate, object) VALUES (?, ?, ?, ?)",
            [(passage, *triple) for triple in extraction.triples],
        )
        self._db.executemany("INSERT INTO entity VALUES (?, ?)", [(passage, name) for name in extraction.entities])
        self._db.executemany(
            "INSERT INTO rejected VALUES (?, ?)", [(passage, json.dumps(parts)) for parts in extraction.rejected]
        )
        self._db.execute(
            "UPDATE passage SET extractor = ?, failure = ?, unread_language = ? WHERE number = ?",
            (extractor, extraction.failure, extraction.unread_language, passage),
        )
        # What failed before in the same way and fails again has changed nothing that is searched.
        if before != (extractor, extraction.failure) or extraction.failure is None:
            self._changed()

    def triples(self) -> Iterator[StoredTriple]:
        """All triples, in the order of their passages."""
        rows = self._db.execute(
            "SELECT t.passage, t.subject, t.predicate, t.object"
            f" FROM triple t JOIN passage p ON p.number = t.passage {_IN_ORDER}, t.number"
        )
        for passage, subject, predicate, object_ in rows:
            yield StoredTriple(passage, Triple(subject, predicate, object_))

    def names(self) -> Iterator[tuple[int, str]]:
        """Passages, by number, with the names that the local extractor found in them, whether a fact has them or not.

        A language model's entities are left out: the papers' graphs are made of its triples alone.
        """
        return iter(
            self._db.execute(
                "SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage"
                " WHERE p.extractor LIKE 'local:%' AND NOT instr(p.extractor, ?)",
                (MARK,),
            )
        )

    def keywords(self) -> Iterator[tuple[int, str]]:
        """Passages, by number, with the keywords that a model gave; others have none."""
        return iter(
            self._db.execute(
                "SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage"
                " WHERE instr(p.extractor, ?) ORDER BY e.passage, e.rowid",
                (MARK,),
            )
        )

    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        queries = {
            "documents": "SELECT count(*) FROM document",
            "passages": "SELECT count(*) FROM passage",
            "triples": "SELECT count(*) FROM triple",
            "passages_without_extraction": "SELECT count(*) FROM passage WHERE extractor IS NULL",
            "passages_failed": "SELECT count(*) FROM passage WHERE failure IS NOT NULL",
            "passages_without_triples": "SELECT count(*) FROM passage p WHERE extractor IS NOT NULL AND failure IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM triple t WHERE t.passage = p.number)",
            "triples_rejected": "SELECT count(*) FROM rejected",
        }
        return {name: self._db.execute(query).fetchone()[0] for name, query in queries.items()}

    def triples_by_extractor(self) -> dict[str, int]:
        """Which extractor made how many triples."""
        return dict(
            self._db.execute(
                "SELECT p.extractor, count(*) FROM triple t JOIN passage p ON p.number = t.passage"
                " GROUP BY 1 ORDER BY 1"
            )
        )

    def unread_languages(self) -> dict[str, int]:
        """How many passages there are in each language that their extractor does not read, the commonest first."""
        return dict(
            self._db.execute(
                "SELECT unread_language, count(*) FROM passage WHERE unread_language IS NOT NULL"
                " GROUP BY 1 ORDER BY 2 DESC, 1"
            )
        )

    def failures(self) -> list[tuple[str, str]]:
        """Passages whose extraction failed, with the reason."""
        return self._db.execute("SELECT id, failure FROM passage WHERE failure IS NOT NULL ORDER BY number").fetchall()

    # -- vectors of an index that was written before they were moved out of the store

    def old_vectors(self) -> Iterator[tuple[bytes, bytes]]:
        """Vectors in single precision, by key; they are dropped once they are elsewhere."""
        there = self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector'").fetchone()
        return iter(self._db.execute("SELECT key, vector FROM vector") if there else ())

    def drop_old_vectors(self) -> None:
        """Give their space back to the disk."""
        if self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector'").fetchone():
            self._db.execute("DROP TABLE vector")
            self.compact()

    def compact(self) -> None:
        """Rewrite the file: without the space, and the bytes, of what was removed."""
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
