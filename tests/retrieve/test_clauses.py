"""Clauses: where questions are cut, and what the parts add, by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.retrieve.bases import BM25, Dense, ScaledHybrid
from triplebeam.retrieve.question_parts import Clauses, clauses
from triplebeam.retrieve.scores import CachedScores

TWO = "Which film did Edward Cahn direct, and which lake does Milwaukee lie on?"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (TWO, ["Which film did Edward Cahn direct", "which lake does Milwaukee lie on"]),
        ("Who is older than the director of Jaws?", []),
        ("Is the first one older than the second one was?", ["Is the first one older", "the second one was"]),
        ("What is the shehna, and how is it played in Goa?", ["What is the shehna", "how is it played in Goa"]),
        ("Which command lists old snapshots, and which one deletes them?", []),
        ("Which command lists old snapshots, and what is it that they are for?", []),
        (
            "Which tool lists old snapshots, and which one deletes broken snapshots?",
            ["Which tool lists old snapshots", "which one deletes broken snapshots"],
        ),
        ("Which river is the longest, and which is in Germany?", ["Which river is the longest", "which is in Germany"]),
        ("Which film won most prizes, and was it in 1994?", ["Which film won most prizes", "was it in 1994"]),
        ("Compared to what the Times said, was it right or wrong?", []),
        ("Band members of the Andes or Orinoco bands", []),
        ("She left the band in 1990; after that she sang alone.", ["She left the band in 1990", "that she sang alone"]),
        ("", []),
    ],
)
def test_a_question_is_cut_at_its_borders(question: str, parts: list[str]) -> None:
    assert clauses(question) == parts


def scaled(scores: Sequence[float]) -> np.ndarray:
    values = np.array(scores)
    return (values - values.min()) / (values.max() - values.min())


def test_the_best_clause_is_added_to_the_fourth_power(world: Snapshot, words: Embedder) -> None:
    sparse, dense = BM25.over_passages(world), Dense.over_passages(world, words)
    base = ScaledHybrid(sparse=sparse, dense=dense, passage_of=world.passages.ids)
    raised = Clauses(base=base, sparse=sparse, dense=dense)
    best = np.max([(scaled(sparse.scores(part)) + scaled(dense.scores(part))) / 2 for part in clauses(TWO)], axis=0)
    np.testing.assert_allclose(raised.scores(TWO), base.scores(TWO) + 0.2 * best**4, rtol=1e-5)
    one = "Who directed Laughter in Hell?"
    np.testing.assert_array_equal(raised.scores(one), base.scores(one))
    both = raised.scores_many([one, TWO, one])
    np.testing.assert_allclose(both, [raised.scores(one), raised.scores(TWO), raised.scores(one)], rtol=1e-5)


def test_question_and_clauses_are_compared_together(world: Snapshot, words: Embedder) -> None:
    batches: list[list[str]] = []

    class Recording(Dense):
        def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
            batches.append(list(queries))
            return super().scores_many(queries)

    sparse, dense = BM25.over_passages(world), Dense.over_passages(world, words)
    near = CachedScores(Recording(**dense.__dict__), in_parts=True)
    apart, together = (
        Clauses(
            base=ScaledHybrid(sparse=sparse, dense=vectors, passage_of=world.passages.ids),
            sparse=sparse,
            dense=dense,
            near=cached,
        )
        for vectors, cached in ((dense, None), (near, near))
    )
    one = "Who directed Laughter in Hell?"
    np.testing.assert_allclose(together.scores_many([one, TWO]), apart.scores_many([one, TWO]), rtol=1e-5)
    assert batches == [[one, TWO, *clauses(TWO)]]
    np.testing.assert_allclose(near.scores_many([TWO, one]), dense.scores_many([TWO, one]), rtol=1e-5)


def test_question_and_clauses_are_encoded_together(world: Snapshot, words: Embedder) -> None:
    batches: list[list[str]] = []

    class Recording:
        name, fingerprint, dimension = words.name, words.fingerprint, words.dimension

        def embed(self, texts: Sequence[str], kind: str = "passage") -> object:
            batches.append(list(texts))
            return words.embed(texts)

    from triplebeam.embed.cached import CachedEmbedder

    dense = Dense.over_passages(world, CachedEmbedder(Recording()))  # type: ignore[arg-type]
    sparse = BM25.over_passages(world)
    base = ScaledHybrid(sparse=sparse, dense=dense, passage_of=world.passages.ids)
    Clauses(base=base, sparse=sparse, dense=dense).scores(TWO)
    assert batches == [[TWO, *clauses(TWO)]]
