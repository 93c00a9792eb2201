"""Hashes of a document: they show whether its text and where it is cut are unchanged, or whether it was renamed."""

import hashlib
import json
from collections.abc import Sequence

from triplebeam.passage import FILE_FIELDS, Document, Passage


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
