"""Extractors of two papers' tables: entities first and triples second, and keywords."""
