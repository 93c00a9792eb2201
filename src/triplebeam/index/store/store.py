"""The source of truth: documents, passages, triples, and the state of their extraction.

One SQLite file, opened by writers only. A passage is a span of its document, so its text is stored once and a
quotation is exact by construction.
"""

import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from triplebeam.errors import INDEX_AGAIN, IndexDamagedError, IndexFormatError, SourceError
from triplebeam.extract.extractor import KEYWORDS_MARK, Extraction
from triplebeam.index.folder.passage_graph import MAX_PASSAGES
from triplebeam.index.store.corrections import KEPT_AS, Corrections, kept_corrections
from triplebeam.index.store.document_hash import content_hash, document_hash
from triplebeam.index.store.forgotten import Forgotten
from triplebeam.index.store.known_files import KnownFiles
from triplebeam.index.store.links import linked_passages
from triplebeam.index.store.schema import SCHEMA, keep_value, kept_value
from triplebeam.index.store.statistics import Statistics
from triplebeam.passage import Document, Passage
from triplebeam.system.database import open_database, open_to_read, transaction
from triplebeam.system.durable import raise_cannot_write
from triplebeam.triple import Triple

#: By the documents' ids, so that nothing depends on the order in which they came.
_IN_ORDER = " ORDER BY (SELECT id FROM document WHERE number = p.document), p.position"


@dataclass(frozen=True, slots=True)
class StoredTriple:
    """A triple with the number of its passage."""

    passage: int
    triple: Triple


def _apart_from_text(document: Document) -> tuple[str, str, str]:
    """Metadata, where anchors are, and links, as JSON."""
    anchors = {heading.anchor: heading.start for heading in document.headings if heading.anchor}
    return json.dumps(dict(document.metadata)), json.dumps(anchors), json.dumps(document.links)


def unusable(path: Path, error: sqlite3.DatabaseError) -> IndexDamagedError:
    """What to say of a store that cannot be read."""
    return IndexDamagedError(
        f"{path} is not a usable SQLite file ({error}): restore it from a copy, or index into a new folder."
    )


def _copy(source: Path, target: Path) -> None:
    with closing(open_to_read(source)) as db, closing(sqlite3.connect(target)) as copy:
        db.backup(copy)


class Store:
    """Reads and writes the SQLite file. Every ``with store.transaction()`` is all or nothing."""

    def __init__(self, path: Path, *, copy_of: Path | None = None) -> None:
        """``copy_of`` another store, as it is now, whoever is writing to it."""
        try:
            if copy_of:
                _copy(copy_of, path)
            self.db = open_database(path, SCHEMA)
        except IndexFormatError as error:
            raise IndexFormatError(f"{str(error).partition(':')[0]}: {INDEX_AGAIN}") from None
        except sqlite3.DatabaseError as error:
            raise_cannot_write(error, path.parent)
            raise unusable(copy_of or path, error) from error

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self.db.close()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """All of what is written inside, or none of it."""
        return transaction(self.db)

    @property
    def statistics(self) -> Statistics:
        """What there is to count."""
        return Statistics(self.db)

    @property
    def forgotten(self) -> Forgotten:
        """What quotations of removed documents are known by."""
        return Forgotten(self.db)

    @property
    def files(self) -> KnownFiles:
        """The files that documents were read from."""
        return KnownFiles(self.db)

    # -- values kept for the index as a whole

    def meta(self, key: str) -> str | None:
        """A value kept under a name."""
        return kept_value(self.db, key)

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value under a name."""
        keep_value(self.db, key, value)

    @property
    def revision(self) -> int:
        """Another number after every change of what is searched; a generation records the one it was made from.

        It is random, so that a store that was restored from a copy and changed since is not taken for the published.
        """
        return int(self.meta("revision") or 0)

    @property
    def keyword_passages(self) -> int:
        """A keyword of more passages than this makes no edges between them; 0: every keyword does."""
        return int(self.meta("keyword_passages") or MAX_PASSAGES)

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
        return self.meta("extractor")

    def remember_extractor(self, name: str) -> None:
        """Choose the extractor of new passages."""
        if self.extractor != name:
            self.set_meta("extractor", name)
            self._changed()

    @property
    def corrections(self) -> Corrections:
        """What a person corrected."""
        return kept_corrections(self.db)

    def correct(self, corrections: Corrections, *, same_effect: bool = False) -> None:
        """Keep other corrections instead, unless they are the same. ``same_effect``: what is searched is the same."""
        before = self.corrections
        if corrections.text == before.text:
            return
        if not same_effect:
            self.forgotten.note_corrections(before)
            self._changed()
        self.set_meta(KEPT_AS, corrections.text)

    # -- documents and passages

    def put_document(self, document: Document, passages: Sequence[Passage]) -> bool:
        """Add a document or replace the one of that id; False where nothing changed.

        A document whose passages have another document's ids is refused, and nothing is written.
        """
        digest = document_hash(document, passages)
        known = self.db.execute("SELECT hash FROM document WHERE id = ?", (document.id,)).fetchone()
        if known and known[0] == digest:
            self._refresh(document, content_hash(document, passages))
            return False
        self._check_ids(document, passages)
        self._remove(document.id)
        number = self.db.execute(
            "INSERT INTO document (id, hash, title, text, source, content, metadata, anchors, links)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(document.id, digest, document.title, document.text, document.source),
                *(content_hash(document, passages), *_apart_from_text(document)),
            ),
        ).lastrowid
        self.db.executemany(
            "INSERT INTO passage (id, document, position, start, stop, section) VALUES (?, ?, ?, ?, ?, ?)",
            [(p.id, number, p.position, p.start, p.end, p.section) for p in passages],
        )
        self._changed()
        return True

    def _refresh(self, document: Document, content: bytes) -> None:
        """Metadata and links may change while the text does not; what was extracted from it stays."""
        self.db.execute(
            "UPDATE document SET source = ?, content = ? WHERE id = ? AND (source, content) IS NOT (?, ?)",
            (document.source, content, document.id, document.source, content),
        )
        changed = self.db.execute(
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
            self.db.execute("SELECT number, id, anchors, links FROM document ORDER BY id"),
            self.db.execute("SELECT document, start, number FROM passage ORDER BY document, position"),
        )

    def remove_documents(self, document_ids: Iterable[str]) -> list[str]:
        """Remove documents and all that was extracted from them; returns those of these ids that there were.

        The files they came from are read again when an index is next brought in step with their folder.
        """
        removed = [id_ for id_ in dict.fromkeys(document_ids) if self._remove(id_)]
        if removed:
            self._changed()
        return removed

    def _remove(self, document_id: str) -> bool:
        self.forgotten.note(document_id)
        self._forget_file(document_id)
        return bool(self.db.execute("DELETE FROM document WHERE id = ?", (document_id,)).rowcount)

    def _forget_file(self, document_id: str) -> None:
        """Have the file that a document came from read again if it is there."""
        self.db.execute(
            "DELETE FROM file WHERE name IN (?, (SELECT source FROM document WHERE id = ?))", (document_id, document_id)
        )

    def has_document(self, document_id: str) -> bool:
        """Is there a document of that id?"""
        return self.db.execute("SELECT 1 FROM document WHERE id = ?", (document_id,)).fetchone() is not None

    def rename_document(self, old_id: str, document: Document, passages: Sequence[Passage]) -> None:
        """Give a document of the same content another id; what was extracted from it stays."""
        self._check_ids(document, passages)
        self._forget_file(old_id)
        (number,) = self.db.execute("SELECT number FROM document WHERE id = ?", (old_id,)).fetchone()
        new = {passage.position: passage.id for passage in passages}
        old = self.db.execute("SELECT id, position FROM passage WHERE document = ?", (number,))
        ids = {id_: new[position] for id_, position in old}
        self.db.execute(
            "UPDATE document SET id = ?, hash = ?, source = ?, metadata = ?, anchors = ?, links = ? WHERE number = ?",
            (
                *(document.id, document_hash(document, passages), document.source),
                *(*_apart_from_text(document), number),
            ),
        )
        self.db.executemany(
            "UPDATE passage SET id = ? WHERE document = ? AND position = ?",
            [(passage.id, number, passage.position) for passage in passages],
        )
        self.correct(self.corrections.renamed(ids | {old_id: document.id}), same_effect=True)
        self._changed()

    def contents(self, document_ids: Iterable[str]) -> dict[bytes, str]:
        """Documents by what `content_hash` gave for them."""
        find = "SELECT content FROM document WHERE id = ?"
        return {row[0]: id_ for id_ in document_ids if (row := self.db.execute(find, (id_,)).fetchone())}

    def _check_ids(self, document: Document, passages: Sequence[Passage]) -> None:
        for passage in passages:
            owner = self.db.execute(
                "SELECT d.id FROM passage p JOIN document d ON d.number = p.document WHERE p.id = ? AND d.id != ?",
                (passage.id, document.id),
            ).fetchone()
            if owner:
                raise SourceError(f"its passage id {passage.id!r} belongs to the document {owner[0]!r} already")

    def passages(self) -> Iterator[tuple[int, Passage]]:
        """All passages with their numbers, in the order of their documents' ids and of their positions."""
        return self._passages("")

    def passages_awaiting(self, extractor: str, document_ids: Iterable[str]) -> Iterator[tuple[int, Passage]]:
        """Passages of these documents that this extractor has not processed yet, or failed on.

        The documents are kept in a temporary table: there may be more of them than SQLite allows parameters.
        """
        self.db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id TEXT PRIMARY KEY)")
        self.db.execute("DELETE FROM wanted")
        self.db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((id_,) for id_ in document_ids))
        return self._passages(
            "WHERE (p.extractor IS NOT ? OR p.failure IS NOT NULL)"
            " AND p.document IN (SELECT number FROM document JOIN wanted USING (id))",
            extractor,
        )

    def extracted_by(self) -> dict[int, str]:
        """The extractor of each passage, by number, that has one and did not fail."""
        return dict(
            self.db.execute("SELECT number, extractor FROM passage WHERE extractor IS NOT NULL AND failure IS NULL")
        )

    def passages_failed(self) -> Iterator[tuple[int, Passage]]:
        """Passages whose extraction failed, whatever the extractor."""
        return self._passages("WHERE p.failure IS NOT NULL")

    def _passages(self, where: str, *values: str) -> Iterator[tuple[int, Passage]]:
        """Passages, each cut out of its document's text, which is fetched once."""
        cuts = self.db.execute(
            f"SELECT p.document, p.number, p.id, p.position, p.start, p.stop, p.section"
            f" FROM passage p {where} {_IN_ORDER}",
            values,
        )
        for document, rows in groupby(cuts, key=itemgetter(0)):
            document_id, title, text, metadata = self.db.execute(
                "SELECT id, title, text, metadata FROM document WHERE number = ?", (document,)
            ).fetchone()
            fields = json.loads(metadata)
            for _, number, id_, position, start, stop, section in rows:
                yield number, Passage(id_, text[start:stop], title, document_id, position, start, stop, fields, section)

    # -- triples

    def put_extraction(self, passage: int, extraction: Extraction, extractor: str) -> None:
        """Replace what was extracted from a passage, and record the extractor or why it failed."""
        before = self.db.execute("SELECT extractor, failure FROM passage WHERE number = ?", (passage,)).fetchone()
        facts = self.db.execute(
            "SELECT subject, predicate, object FROM triple WHERE passage = ?", (passage,)
        ).fetchall()
        self.forgotten.note_texts(self.corrections.texts(Triple(*fact) for fact in facts))
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
            self._changed()

    def triples(self) -> Iterator[StoredTriple]:
        """All triples, in the order of their passages."""
        rows = self.db.execute(
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
            self.db.execute(
                "SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage"
                f" WHERE p.extractor LIKE 'local:%' AND NOT instr(p.extractor, ?) {_IN_ORDER}, e.rowid",
                (KEYWORDS_MARK,),
            )
        )

    def keywords(self) -> Iterator[tuple[int, str]]:
        """Passages, by number, with the keywords that a model gave; others have none."""
        return iter(
            self.db.execute(
                "SELECT e.passage, e.name FROM entity e JOIN passage p ON p.number = e.passage"
                f" WHERE instr(p.extractor, ?) {_IN_ORDER}, e.rowid",
                (KEYWORDS_MARK,),
            )
        )
