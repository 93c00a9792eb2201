"""Dense retrieval against the whole product, computed plainly: while an index is small the search is exact."""

from pathlib import Path

import numpy as np
import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import Dense
from triplebeam.testing import toy


@pytest.mark.parametrize("k", [1, 10, 1000])
def test_dense_is_the_sorted_product(tmp_path: Path, words: Embedder, k: int) -> None:
    passages = toy.passages()
    documents = (Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in passages)
    IndexBuilder(folder=tmp_path, embedder=words).build(documents)
    dense = Dense.over_passages(Snapshot.open(tmp_path), words)
    matrix = words.embed([passage.searchable for passage in passages])
    for question in toy.questions():
        cosines = matrix @ words.embed([question.question], kind="query")[0]
        expected = Ranking.from_scores(dict(zip((p.id for p in passages), cosines.tolist(), strict=True))).top(k)
        found = dense.retrieve(question.question, k)
        assert found.ids == expected.ids
        # Stored vectors have two bytes per dimension.
        assert np.allclose([hit.score for hit in found], [hit.score for hit in expected], atol=2e-5)
