"""Passages to triples and entities."""
