"""The store of an index: documents, passages, triples and corrections in SQLite."""
