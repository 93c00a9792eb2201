"""Triplebeam over HTTP: collections, documents, jobs, questions, and the page."""
