"""Passages to triples without a language model."""

from triplebeam.extract.local.extractor import LocalExtractor

__all__ = ["LocalExtractor"]
