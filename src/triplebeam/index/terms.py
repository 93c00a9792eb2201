"""The term index: BM25 over texts, by tantivy.

Texts are lower-cased and stemmed for English, as tantivy's ``en_stem`` does; scores are its BM25 (k1 1.2, b 0.75).
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WRITER_MEMORY = 64_000_000


def _schema() -> Any:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="en_stem", stored=False)
    schema.add_unsigned_field("row", stored=True)
    return schema.build()


def _analyzer() -> Any:
    """The same analysis as ``en_stem``: a query built from it needs no query syntax, so no question can be a syntax error."""
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(40))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def write_terms(folder: Path, texts: Iterable[str]) -> None:
    """Index the texts, each under its row number."""
    import tantivy

    folder.mkdir()
    index = tantivy.Index(_schema(), path=str(folder))
    # One thread, so that equal input gives equal segments.
    writer = index.writer(heap_size=_WRITER_MEMORY, num_threads=1)
    for row, text in enumerate(texts):
        document = tantivy.Document(text=text)
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


class TermIndex:
    """Finds the rows whose texts match a query's words best."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._index = tantivy.Index.open(str(folder))
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    @cached_property
    def _analysis(self) -> Any:
        return _analyzer()

    def search(self, query: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best k rows and their scores; rows that share no word with the query are not among them."""
        import tantivy

        words = self._analysis.analyze(query)
        schema = self._index.schema
        wanted = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word)) for word in words]
        if not wanted or k <= 0 or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        hits = self._searcher.search(tantivy.Query.boolean_query(wanted), limit=min(k, len(self)), count=False).hits
        rows = [self._searcher.doc(address)["row"][0] for _, address in hits]
        return np.array(rows, np.int64), np.array([score for score, _ in hits], np.float32)
