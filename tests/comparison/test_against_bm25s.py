"""BM25 against another implementation of it, on the toy corpus.

Both get the same tokens and the same formula (Lucene's variant, k1 1.2, b 0.75; bm25s leaves out the constant factor
k1 + 1). They cannot agree to the digit: the term index, as Lucene does, keeps a passage's length in one byte, so that
lengths above 40 are rounded to a step and the score moves by up to a few per cent. Passages of nearly the same score
may therefore change places; the order as a whole, and what is on top, may not.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.retrieve.bases import BM25
from triplebeam.testing import toy
from triplebeam.text.terms import query_words, text_words

K = 10
K1 = 1.2
PASSAGES = toy.passages()


@pytest.fixture(scope="module")
def bm25(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> BM25:
    folder = tmp_path_factory.mktemp("toy")
    documents = (Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in PASSAGES)
    IndexBuilder(folder=Path(folder), embedder=words).build(documents)
    return BM25.over_passages(Snapshot.open(Path(folder)))


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
def test_ranks_as_bm25s_does(question: toy.Question, bm25: BM25, reference: dict[str, dict[str, float]]) -> None:
    ours, theirs = bm25.retrieve(question.question, len(PASSAGES)), reference[question.id]
    assert sorted(ours.ids) == sorted(id_ for id_, score in theirs.items() if score > 0)
    best = sorted((id_ for id_, score in theirs.items() if score > 0), key=lambda id_: (-theirs[id_], id_))
    assert ours.ids[0] == best[0]
    assert len(set(ours.ids[:K]) & set(best[:K])) >= min(K, len(best)) - 2
    scores = np.array([(hit.score, theirs[hit.passage_id]) for hit in ours])
    assert spearmanr(scores[:, 0], scores[:, 1]).statistic > 0.95
    assert np.allclose(scores[:, 0], (K1 + 1) * scores[:, 1], rtol=0.05)
