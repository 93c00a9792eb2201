"""Many queries at once: batches are cut, and what has no batch goes one by one."""

from collections.abc import Sequence

import numpy as np
import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import quantize
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.vectors import VectorIndex, write_vectors
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import Dense, Hybrid
from triplebeam.retrieve.retriever import BATCH, retrieve_many


class OneByOne:
    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append((query, k))
        return Ranking(Hit(f"{query} {rank}", 1 / rank) for rank in range(1, 51)).top(k)


class Batches(OneByOne):
    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        self.sizes.append(len(queries))
        return [self.retrieve(query, k) for query in queries]


QUERIES = [f"query {number}" for number in range(2 * BATCH + 3)]


def test_batches_are_cut_and_stay_in_order_and_what_has_none_goes_one_by_one() -> None:
    retriever, alone = Batches(), retrieve_many(OneByOne(), QUERIES, 2)
    assert retrieve_many(retriever, QUERIES, 2) == alone
    assert [ranking.ids[0] for ranking in alone] == [f"{query} 1" for query in QUERIES]
    assert retriever.sizes == [BATCH, BATCH, 3]


def test_the_queries_of_a_batch_are_encoded_in_one_call(world: Snapshot, words: Embedder) -> None:
    calls: list[int] = []

    class Counting:
        name, fingerprint, dimension = words.name, words.fingerprint, words.dimension

        def embed(self, texts: Sequence[str], kind: str = "passage") -> object:
            calls.append(len(texts))
            return words.embed(texts)

    dense = Dense.over_passages(world, Counting())  # type: ignore[arg-type]
    retrieve_many(Hybrid(dense, OneByOne()), QUERIES[:5])
    assert calls == [5]


@pytest.mark.parametrize("exact_up_to", [10_000, 100])
def test_many_vectors_find_what_each_finds_alone(exact_up_to: int) -> None:
    """Where all rows are compared, and where one-bit codes choose them."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((600, 32)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    write_vectors(arrays := MemoryArrays(), "vectors", quantize(rows), exact_up_to)
    index, queries = VectorIndex(arrays, "vectors"), random.standard_normal((5, 32)).astype(np.float32)
    for k in (0, 3, 600):
        for (found, cosines), query in zip(index.nearest_many(queries, k), queries, strict=True):
            alone, expected = index.nearest(query, k)
            np.testing.assert_array_equal(found, alone)
            np.testing.assert_allclose(cosines, expected, rtol=1e-5, atol=1e-6)
