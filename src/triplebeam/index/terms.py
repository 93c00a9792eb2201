"""The term index: BM25 over texts, by tantivy (k1 1.2, b 0.75).

`words` makes words of a text; here they are counted. Each text has a stemmer, that of its language. A query is in no
language: each of its words is searched for under its stem by every stemmer that the index has used, in the texts of
that stemmer. In an index of English alone that is plain BM25.
"""

import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.words import ENGLISH, query_stems, text_words

_WRITER_MEMORY = 64_000_000


def _schema() -> Any:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="whitespace")
    schema.add_text_field("stemmer", tokenizer_name="raw", index_option="basic")
    schema.add_unsigned_field("row", fast=True)
    return schema.build()


def write_terms(folder: Path, texts: Iterable[str], stemmers: Iterable[str]) -> None:
    """Index the texts, each under its row number, with the stemmer of each."""
    import tantivy

    folder.mkdir()
    index = tantivy.Index(_schema(), path=str(folder))
    # One thread, so that equal input gives equal segments.
    writer = index.writer(heap_size=_WRITER_MEMORY, num_threads=1)
    for row, (text, stemmer) in enumerate(zip(texts, stemmers, strict=True)):
        document = tantivy.Document(text=" ".join(text_words(text, stemmer)), stemmer=stemmer)
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
        self._stemmers = [stemmer for stemmer, _ in self._searcher.terms_with_prefix("stemmer", "")]

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(self, query: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best k rows and their scores; rows that share no word with the query are not among them."""
        import tantivy

        words = [self._word(stems) for stems in query_stems(query, self._stemmers)]
        if not words or k <= 0 or not len(self):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        any_of = tantivy.Query.boolean_query([(tantivy.Occur.Should, word) for word in words])
        hits = self._searcher.search(any_of, limit=min(k, len(self)), count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return np.array(rows, np.int64), np.array([score for score, _ in hits], np.float32)

    def _word(self, stems: Mapping[str, str]) -> Any:
        """The English stem in any text, another stem in texts of that stemmer; the best of them counts.

        All are as rare as the word: the few texts of another language would be ranked first for every name otherwise.
        """
        import tantivy

        english = stems[ENGLISH]
        # Most foreign stems of an English word are in no text at all, which their frequency says sooner than a search.
        foreign = {stemmer: stem for stemmer, stem in stems.items() if stem != english and self._frequency(stem)}
        others = [(stem, self._of(stemmer, stem)) for stemmer, stem in foreign.items()]
        matches = [self._searcher.search(query, limit=1).count for _, query in others]
        if not any(matches):
            return self._term("text", english)
        rarity = self._rarity(self._frequency(english) + sum(matches))
        alternatives = [(english, self._term("text", english)), *others]
        return tantivy.Query.disjunction_max_query(
            [
                tantivy.Query.boost_query(query, rarity / self._rarity(self._frequency(stem)))
                for stem, query in alternatives
            ]
        )

    def _of(self, stemmer: str, stem: str) -> Any:
        """A stem in texts of one stemmer."""
        import tantivy

        texts = tantivy.Query.const_score_query(self._term("stemmer", stemmer), 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in (self._term("text", stem), texts)])

    def _term(self, field: str, value: str) -> Any:
        import tantivy

        return tantivy.Query.term_query(self._index.schema, field, value)

    def _frequency(self, stem: str) -> int:
        return int(self._searcher.doc_freq("text", stem))

    def _rarity(self, texts: int) -> float:
        """BM25's inverse document frequency."""
        found = min(texts, len(self))
        return math.log1p((len(self) - found + 0.5) / (found + 0.5))
