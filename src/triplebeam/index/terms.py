"""The term index: BM25 over texts, by tantivy (k1 1.2, b 0.75).

Words are lower-cased, stripped of accents and stemmed for English. Everything is indexed; function words and question
words are left out of a *query* unless it has no others, so that "What is it?" does not rank passages by "what" and
"is", and a film called "It" can still be found.
"""

import os
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WRITER_MEMORY = 64_000_000
_TOKENIZER = "triplebeam_english"
#: Words that say nothing about what a question asks for.
_FUNCTION_WORDS = (
    "a an and are as at be been but by did do does for from had has have he her his how if in into is it its no not of"
    " on or she such than that the their then there these they this to was were what when where which who whom whose"
    " why will with"
)


@cache
def _analyzer() -> Any:
    """Text to words. Queries are built from words, not parsed, so no question can be a syntax error."""
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(40))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


@cache
def _ignored() -> frozenset[str]:
    return frozenset(text_words(_FUNCTION_WORDS))


def text_words(text: str) -> list[str]:
    """The words of a text, as they are indexed."""
    words: list[str] = _analyzer().analyze(text)
    return words


def query_words(query: str) -> list[str]:
    """The words of a query that are searched for."""
    words = text_words(query)
    return [word for word in words if word not in _ignored()] or words


def _schema() -> Any:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name=_TOKENIZER, stored=False)
    schema.add_unsigned_field("row", stored=False, fast=True)
    return schema.build()


def write_terms(folder: Path, texts: Iterable[str]) -> None:
    """Index the texts, each under its row number."""
    import tantivy

    folder.mkdir()
    index = tantivy.Index(_schema(), path=str(folder))
    index.register_tokenizer(_TOKENIZER, _analyzer())
    # One thread, so that equal input gives equal segments.
    writer = index.writer(heap_size=_WRITER_MEMORY, num_threads=1)
    for row, text in enumerate(texts):
        document = tantivy.Document(text=text)
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def _open(folder: Path) -> Any:
    """Open for reading. tantivy writes a lock file even then, so a read-only folder is opened through links."""
    import tantivy

    if os.access(folder, os.W_OK):
        return tantivy.Index.open(str(folder))
    with tempfile.TemporaryDirectory(prefix="triplebeam-") as links:  # once the files are mapped it can go
        for file in folder.iterdir():
            if file.suffix != ".lock":
                Path(links, file.name).symlink_to(file.resolve())
        return tantivy.Index.open(links)


class TermIndex:
    """Finds the rows whose texts match a query's words best."""

    def __init__(self, folder: Path) -> None:
        self._index = _open(folder)
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(self, query: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best k rows and their scores; rows that share no word with the query are not among them."""
        import tantivy

        schema = self._index.schema
        words = [tantivy.Query.term_query(schema, "text", word) for word in query_words(query)]
        if not words or k <= 0 or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        any_of = tantivy.Query.boolean_query([(tantivy.Occur.Should, word) for word in words])
        hits = self._searcher.search(any_of, limit=min(k, len(self)), count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return np.array(rows, np.int64), np.array([score for score, _ in hits], np.float32)
