"""Triplebeam over HTTP: indexes, documents, jobs, questions, and the page."""
