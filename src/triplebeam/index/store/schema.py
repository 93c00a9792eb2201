"""The tables of the store."""

SCHEMA = """
CREATE TABLE document (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT '{}', links TEXT NOT NULL DEFAULT '[]',
    source TEXT NOT NULL DEFAULT '', content BLOB NOT NULL);
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
CREATE TABLE file (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE forgotten (line INTEGER PRIMARY KEY);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
#: Passages ``p`` by their documents' ids, so that nothing depends on the order in which they came.
IN_ORDER = " ORDER BY (SELECT id FROM document WHERE number = p.document), p.position"
