"""The source of truth: documents, passages, triples, and the state of their extraction.

One SQLite file, opened by writers only. A passage is a span of its document, so its text is stored once and a
quotation is exact by construction. Hashes of a document show whether its text and where it is cut are unchanged, or
whether it was renamed. Links between documents are read as pairs of passages.
"""

import hashlib
import json
import posixpath
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from triplebeam.errors import INDEX_AGAIN, IndexFormatError, SourceError
from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.extractions import ExtractionTable, Forgotten
from triplebeam.index.store.tables import IN_ORDER, SCHEMA, FileTable, MetaTable, Statistics, make_damaged_error
from triplebeam.passage import FILE_FIELDS, Document, Passage
from triplebeam.system.durable import open_database, open_to_read, raise_cannot_write, transaction

#: What addresses of pages leave out: the ending, and the name of the page that stands for its folder.
_PAGE_ENDINGS = (".md", ".markdown", ".html", ".htm", ".xhtml", ".rst", ".adoc", ".asciidoc", ".txt")
_FOLDER_PAGES = ("index", "_index", "readme")
#: Fewer parts at the end of an address are a file's name, which other files may have too.
_MIN_PARTS = 2
#: As in ``/project/en/latest/guide/setup``.
_MAX_LEFT_OUT = 3


def hash_of(document: Document, cuts: Sequence[Sequence[object]]) -> bytes:
    """Hash a document and the places where its passages are cut."""
    fields = sorted(field for field in document.metadata.items() if field[0] not in FILE_FIELDS)
    content = [document.title, document.text, fields]
    return hashlib.blake2b(json.dumps([content, cuts]).encode(), digest_size=16).digest()


def document_hash(document: Document, passages: Sequence[Passage]) -> bytes:
    """Return the hash of a document that was cut into these passages."""
    cuts = [(p.id, p.start, p.end, p.section) if p.section else (p.id, p.start, p.end) for p in passages]
    return hash_of(document, cuts)


def content_hash(document: Document, passages: Sequence[Passage]) -> bytes:
    """Hash a document without its id: two that differ in their ids alone have the same hash."""
    return hash_of(document, [(p.start, p.end, p.section) for p in passages])


def _serialize_fields(document: Document) -> tuple[str, str, str]:
    """Serialize metadata, positions of anchors, and links as JSON."""
    anchors = {heading.anchor: heading.start for heading in document.headings if heading.anchor}
    return json.dumps(dict(document.metadata)), json.dumps(anchors), json.dumps(document.links)


class Store:
    """Reads and writes the SQLite file. Every ``with store.transaction()`` is all or nothing."""

    def __init__(self, path: Path, *, copy_of: Path | None = None) -> None:
        """Open a store, or a consistent copy: ``copy_of`` another store, as it is now, whoever is writing to it."""
        try:
            if copy_of:
                with closing(open_to_read(copy_of)) as source, closing(sqlite3.connect(path)) as copy:
                    source.backup(copy)
            self.db = open_database(path, SCHEMA)
        except IndexFormatError as error:
            raise IndexFormatError(f"{str(error).partition(':')[0]}: {INDEX_AGAIN}") from None
        except sqlite3.DatabaseError as error:
            raise_cannot_write(error, path.parent)
            raise make_damaged_error(copy_of or path, error) from error
        self.meta = MetaTable(self.db)
        self.files = FileTable(self.db)
        self.extractions = ExtractionTable(self.db)
        self.forgotten = Forgotten(self.db)
        self.statistics = Statistics(self.db)

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self.db.close()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin a transaction: all of what is written inside, or none of it."""
        return transaction(self.db)

    def correct(self, corrections: Corrections, *, same_effect: bool = False) -> None:
        """Keep other corrections instead, unless they are the same. ``same_effect``: what is searched is the same."""
        before = self.meta.corrections
        if corrections.text == before.text:
            return
        if not same_effect:
            self.forgotten.note_corrections(before)
            self.meta.mark_changed()
        self.meta.set("corrections", corrections.text)

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
                *(content_hash(document, passages), *_serialize_fields(document)),
            ),
        ).lastrowid
        self.db.executemany(
            "INSERT INTO passage (id, document, position, start, stop, section) VALUES (?, ?, ?, ?, ?, ?)",
            [(p.id, number, p.position, p.start, p.end, p.section) for p in passages],
        )
        self.meta.mark_changed()
        return True

    def _refresh(self, document: Document, content: bytes) -> None:
        """Update metadata and links, which may change while the text does not; what was extracted from it stays."""
        self.db.execute(
            "UPDATE document SET source = ?, content = ? WHERE id = ? AND (source, content) IS NOT (?, ?)",
            (document.source, content, document.id, document.source, content),
        )
        changed = self.db.execute(
            "UPDATE document SET metadata = ?, anchors = ?, links = ? WHERE id = ?"
            " AND (metadata, anchors, links) IS NOT (?, ?, ?)",
            ((now := _serialize_fields(document))[0], now[1], now[2], document.id, *now),
        )
        if changed.rowcount:
            self.meta.mark_changed()

    def links(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of passages, by number, of which the first links to the second, in the order of the first.

        A link to an anchor leads to the passage with the heading of that name, any other to the document's first.
        """
        return find_linked_passages(
            self.db.execute("SELECT number, id, anchors, links FROM document ORDER BY id"),
            self.db.execute("SELECT document, start, number FROM passage ORDER BY document, position"),
        )

    def remove_documents(self, document_ids: Iterable[str]) -> list[str]:
        """Remove documents and all that was extracted from them; returns those of these ids that there were.

        The files they came from are read again when an index is next synchronized with their folder.
        """
        removed = [id_ for id_ in dict.fromkeys(document_ids) if self._remove(id_)]
        if removed:
            self.meta.mark_changed()
        return removed

    def _remove(self, document_id: str) -> bool:
        self.forgotten.note(document_id)
        self._forget_file(document_id)
        return bool(self.db.execute("DELETE FROM document WHERE id = ?", (document_id,)).rowcount)

    def _forget_file(self, document_id: str) -> None:
        """Forget a document's file, so that it is read again if it is there."""
        self.db.execute(
            "DELETE FROM file WHERE name IN (?, (SELECT source FROM document WHERE id = ?))", (document_id, document_id)
        )

    def has_document(self, document_id: str) -> bool:
        """Return whether there is a document of that id."""
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
                *(*_serialize_fields(document), number),
            ),
        )
        self.db.executemany(
            "UPDATE passage SET id = ? WHERE document = ? AND position = ?",
            [(passage.id, number, passage.position) for passage in passages],
        )
        self.correct(self.meta.corrections.rename_ids(ids | {old_id: document.id}), same_effect=True)
        self.meta.mark_changed()

    def contents(self, document_ids: Iterable[str]) -> dict[bytes, str]:
        """Return documents by their `content_hash`."""
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
        """Yield all passages with their numbers, in the order of their documents' ids and of their positions."""
        return self._passages("")

    def passages_awaiting(self, extractor: str, document_ids: Iterable[str]) -> Iterator[tuple[int, Passage]]:
        """Yield passages of these documents that this extractor has not processed yet, or failed on.

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

    def passages_failed(self) -> Iterator[tuple[int, Passage]]:
        """Yield passages whose extraction failed, whatever the extractor."""
        return self._passages("WHERE p.failure IS NOT NULL")

    def _passages(self, where: str, *values: str) -> Iterator[tuple[int, Passage]]:
        """Yield passages, each cut out of its document's text, which is fetched once."""
        cuts = self.db.execute(
            f"SELECT p.document, p.number, p.id, p.position, p.start, p.stop, p.section"
            f" FROM passage p {where} {IN_ORDER}",
            values,
        )
        for document, rows in groupby(cuts, key=itemgetter(0)):
            document_id, title, text, metadata = self.db.execute(
                "SELECT id, title, text, metadata FROM document WHERE number = ?", (document,)
            ).fetchone()
            fields = json.loads(metadata)
            for _, number, id_, position, start, stop, section in rows:
                yield number, Passage(id_, text[start:stop], title, document_id, position, start, stop, fields, section)


def find_linked_passages(
    documents: Iterable[tuple[int, str, str, str]], passages: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of numbers of passages, each once and none with itself, in the order of the documents.

    ``documents`` are rows of number, id, anchors and links (JSON); ``passages`` of document, start and number.
    """
    listed = list(documents)
    numbers = {id_: number for number, id_, _, _ in listed}
    pages: dict[str, int | None] = {}
    for id_, number in numbers.items() if any(links != "[]" for *_, links in listed) else ():
        page = _page(id_)
        pages[page] = None if page in pages else number  # None: two documents have this page
    anchors = {number: json.loads(text) for number, _, text, _ in listed if text != "{}"}
    places: dict[int, tuple[list[int], list[int]]] = {}
    for document, start, passage in passages:
        starts, ids = places.setdefault(document, ([], []))
        starts.append(start)
        ids.append(passage)

    def find_passage(document: int, offset: int) -> int | None:
        starts, ids = places.get(document, ([], []))
        return ids[max(0, bisect_right(starts, offset) - 1)] if ids else None

    for number, origin, _, links in listed:
        pairs: dict[tuple[int, int], None] = {}
        for start, target in json.loads(links):
            id_, _, anchor = target.partition("#")
            other = numbers.get(target, _find_target(id_, origin, numbers, pages))
            if other is None:
                continue
            here, there = find_passage(number, start), find_passage(other, anchors.get(other, {}).get(anchor, 0))
            if here is not None and there is not None and here != there:
                pairs[here, there] = None
        yield from pairs


def _find_target(target: str, origin: str, numbers: Mapping[str, int], pages: Mapping[str, int | None]) -> int | None:
    """Find the document that a link of the document ``origin`` leads to.

    That is the one of this id, else the one page that differs from it in its ending alone. What begins with a slash is
    looked up below each folder above the origin, the outermost first: one of these is the root of its site. At last up
    to three of its first parts are left out, since a site may show its folder below another address.
    """
    if target in numbers:
        return numbers[target]
    if not target.startswith("/"):
        return pages.get(_page(target))
    parts = _page(target).strip("/").split("/")
    shorter = (parts[first:] for first in range(1, min(_MAX_LEFT_OUT, len(parts) - _MIN_PARTS) + 1))
    roots = _folders_above(origin)
    addresses = (posixpath.join(root, *rest).rstrip("/") for rest in (parts, *shorter) for root in roots)
    return next((pages[each] for each in addresses if each in pages), None)


def _page(path: str) -> str:
    """Return a path without what an address of it leaves out: ``guide`` of ``guide/index.md`` and of ``guide.html``."""
    path = path.rstrip("/")
    stem, ending = posixpath.splitext(path)
    path = stem if ending.lower() in _PAGE_ENDINGS else path
    folder, name = posixpath.split(path)
    return folder if name.lower() in _FOLDER_PAGES else path


def _folders_above(path: str) -> list[str]:
    """Return the folders that a path is in, the outermost first."""
    folders = [posixpath.dirname(path)]
    while folders[-1] not in ("", "/"):
        folders.append(posixpath.dirname(folders[-1]))
    return folders[::-1]
