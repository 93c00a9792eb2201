"""BM25 against another implementation of it, on the toy corpus.

Both get the same tokens and the same formula (Lucene's variant, k1 1.2, b 0.75; bm25s leaves out the constant factor
k1 + 1). They cannot agree to the digit: the term index, as Lucene does, keeps a passage's length in one byte, so that
lengths above 40 are rounded to a step and the score moves by up to a few per cent. Passages of nearly the same score
may therefore change places; the order as a whole, and what is on top, may not.

BM25 against tantivy's, which published figures were measured with: the same words give the same scores.

Dense retrieval against the whole product, computed plainly: while an index is small the search is exact.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from triplebeam.embed.embedder import Embedder
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import hash_texts, pack_keys
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.terms import TermIndex, write_terms
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import BM25, Dense
from triplebeam.testing import toy
from triplebeam.text.terms import ENGLISH, query_words, text_words

K = 10
K1 = 1.2
PASSAGES = toy.passages()


@pytest.fixture(scope="module")
def toy_index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    folder = tmp_path_factory.mktemp("toy")
    documents = (Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in PASSAGES)
    IndexBuilder(folder=folder, embedder=words).build(documents)
    return Snapshot.open(folder)


@pytest.fixture(scope="module")
def reference() -> dict[str, dict[str, float]]:
    """Each question's scores by bm25s."""
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=K1, b=0.75)
    retriever.index([text_words(passage.term_text) for passage in PASSAGES], show_progress=False)
    ids = [passage.id for passage in PASSAGES]
    return {
        question.id: dict(zip(ids, retriever.get_scores(query_words(question.question)).tolist(), strict=True))
        for question in toy.questions()
    }


@pytest.mark.parametrize("question", toy.questions(), ids=lambda question: question.id)
def test_ranks_as_bm25s_does(
    question: toy.Question, toy_index: Snapshot, reference: dict[str, dict[str, float]]
) -> None:
    ours = BM25.over_passages(toy_index).retrieve(question.question, len(PASSAGES))
    theirs = reference[question.id]
    assert sorted(ours.ids) == sorted(id_ for id_, score in theirs.items() if score > 0)
    best = sorted((id_ for id_, score in theirs.items() if score > 0), key=lambda id_: (-theirs[id_], id_))
    assert ours.ids[0] == best[0]
    assert len(set(ours.ids[:K]) & set(best[:K])) >= min(K, len(best)) - 2
    scores = np.array([(hit.score, theirs[hit.passage_id]) for hit in ours])
    assert spearmanr(scores[:, 0], scores[:, 1]).statistic > 0.95
    assert np.allclose(scores[:, 0], (K1 + 1) * scores[:, 1], rtol=0.05)


#: Some are longer than the 40 words up to which lengths are exact.
TEXTS = [passage.term_text * (1 + number % 4) for number, passage in enumerate(toy.passages())]


@pytest.fixture(scope="module")
def ours() -> TermIndex:
    write_terms(arrays := MemoryArrays(), TEXTS, pack_keys(map(hash_texts, TEXTS)), lambda row: ENGLISH)
    return TermIndex(arrays)


@pytest.fixture(scope="module")
def theirs() -> Any:
    """Return tantivy's index of the same words."""
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
    return index


@pytest.mark.parametrize("question", toy.questions(), ids=lambda question: question.id)
def test_scores_are_those_of_tantivy(question: toy.Question, ours: TermIndex, theirs: Any) -> None:
    from tantivy import Occur, Query

    searcher = theirs.searcher()
    words = [Query.term_query(theirs.schema, "text", word) for word in query_words(question.question)]
    hits = searcher.search(Query.boolean_query([(Occur.Should, word) for word in words]), limit=len(TEXTS)).hits
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    expected = dict(zip(rows, [score for score, _ in hits], strict=True))
    found, scores = ours.search(question.question, len(TEXTS))
    assert dict(zip(found.tolist(), scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-5)
    assert np.all(np.diff(scores) <= 0)


@pytest.mark.parametrize("k", [1, 10, 1000])
def test_dense_is_the_sorted_product(toy_index: Snapshot, words: Embedder, k: int) -> None:
    dense = Dense.over_passages(toy_index, words)
    matrix = words.embed([passage.searchable for passage in PASSAGES])
    for question in toy.questions():
        cosines = matrix @ words.embed([question.question], kind="query")[0]
        expected = Ranking.from_scores(dict(zip((p.id for p in PASSAGES), cosines.tolist(), strict=True))).top(k)
        found = dense.retrieve(question.question, k)
        assert found.ids == expected.ids
        # Stored vectors have two bytes per dimension.
        assert np.allclose([hit.score for hit in found], [hit.score for hit in expected], atol=2e-5)
