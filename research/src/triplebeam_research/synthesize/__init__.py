"""Test questions for an index that has none, written from chains of its own triples."""
