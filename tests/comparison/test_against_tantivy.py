"""BM25 against tantivy's, which published figures were measured with: the same words give the same scores."""

import numpy as np
import pytest

from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import hash_texts, pack_keys
from triplebeam.index.folder.terms import TermIndex, write_terms
from triplebeam.testing import toy
from triplebeam.text.terms import ENGLISH, query_words, text_words

#: Some are longer than the 40 words up to which lengths are exact.
TEXTS = [passage.term_text * (1 + number % 4) for number, passage in enumerate(toy.passages())]


@pytest.fixture(scope="module")
def ours() -> TermIndex:
    write_terms(arrays := MemoryArrays(), TEXTS, pack_keys(map(hash_texts, TEXTS)), lambda row: ENGLISH)
    return TermIndex(arrays)


@pytest.mark.parametrize("question", toy.questions(), ids=lambda question: question.id)
def test_scores_are_those_of_tantivy(question: toy.Question, ours: TermIndex) -> None:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="whitespace")
    schema.add_unsigned_field("row", fast=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(num_threads=1)
    for row, text in enumerate(TEXTS):
        document = tantivy.Document(text=" ".join(text_words(text)))
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    index.reload()
    searcher = index.searcher()
    words = [tantivy.Query.term_query(index.schema, "text", word) for word in query_words(question.question)]
    query = tantivy.Query.boolean_query([(tantivy.Occur.Should, word) for word in words])
    hits = searcher.search(query, limit=len(TEXTS)).hits
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    theirs = dict(zip(rows, [score for score, _ in hits], strict=True))
    found, scores = ours.search(question.question, len(TEXTS))
    assert dict(zip(found.tolist(), scores.tolist(), strict=True)) == pytest.approx(theirs, rel=1e-5)
    assert np.all(np.diff(scores) <= 0)
