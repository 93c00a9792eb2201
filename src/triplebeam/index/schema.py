"""The tables of the store, and how those of older formats become them."""

SCHEMA = """
CREATE TABLE document (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL,
    title TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT '{}', links TEXT NOT NULL DEFAULT '[]',
    source TEXT NOT NULL DEFAULT '', content BLOB);
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

#: What format 2 added: sections of passages, links between documents.
_FORMAT_2 = """
ALTER TABLE document ADD COLUMN anchors TEXT NOT NULL DEFAULT '{}';
ALTER TABLE document ADD COLUMN links TEXT NOT NULL DEFAULT '[]';
ALTER TABLE passage ADD COLUMN section TEXT NOT NULL DEFAULT '';
"""
#: What format 3 added: the languages of passages that their extractor does not read.
_FORMAT_3 = "ALTER TABLE passage ADD COLUMN unread_language TEXT;"

#: What format 4 added: the file and the content of documents, and the state of files. It has its vectors elsewhere; see
#: `triplebeam.index.encoded.take_over`.
_FORMAT_4 = """
ALTER TABLE document ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE document ADD COLUMN content BLOB;
CREATE TABLE file (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE forgotten (line INTEGER PRIMARY KEY);
"""
UPGRADES = (_FORMAT_2, _FORMAT_3, _FORMAT_4)
