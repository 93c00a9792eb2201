"""The cache of query vectors: it saves work and changes nothing else."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from triplebeam.embed.cached import CachedEmbedder
from triplebeam.embed.embedder import Kind
from triplebeam.errors import BadInputError


class Counting:
    """Vectors that tell texts and kinds apart, and a record of what was asked for."""

    name = "counting"
    fingerprint = "1"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[tuple[str, Kind]] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.asked += [(text, kind) for text in texts]
        angles = np.array([sum(map(ord, text)) + (kind == "query") for text in texts], dtype=np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_a_query_is_encoded_once_and_a_passage_each_time() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner)
    first = embedder.embed(["who?", "when?", "who?"], "query")
    assert np.array_equal(first[1:2], embedder.embed(["when?"], "query"))
    for _ in range(2):
        embedder.embed(["who?"])
    assert inner.asked == [("who?", "query"), ("when?", "query"), ("who?", "passage"), ("who?", "passage")]


def test_the_oldest_query_is_forgotten_first() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embedder.embed([text], "query")
    assert [text for text, _ in inner.asked] == ["a", "b", "c", "b"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=8), st.integers(1, 4))
def test_vectors_are_those_of_the_embedder_within(asked: list[list[str]], size: int) -> None:
    embedder = CachedEmbedder(Counting(), size=size)
    for texts in asked:
        vectors = embedder.embed(texts, "query")
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(texts), 2)
        assert not texts or np.array_equal(vectors, Counting().embed(texts, "query"))


def test_what_a_caller_does_to_its_rows_is_not_remembered() -> None:
    embedder = CachedEmbedder(Counting())
    embedder.embed(["a"], "query")[:] = 0
    assert np.array_equal(embedder.embed(["a"], "query"), Counting().embed(["a"], "query"))


def test_several_threads_may_ask_at_once() -> None:
    embedder = CachedEmbedder(Counting(), size=3)
    texts = [chr(97 + number % 7) for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(lambda text: embedder.embed([text], "query")[0], texts))
    assert np.array_equal(np.array(vectors), Counting().embed(texts, "query"))


@pytest.mark.parametrize("kind", ["query", "passage"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(kind: Kind, number: float) -> None:
    class Broken(Counting):
        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
            return np.full((len(texts), self.dimension), number, np.float32)

    with pytest.raises(BadInputError, match="numbers that are not finite"):
        CachedEmbedder(Broken()).embed(["a"], kind)


def test_a_memory_of_nothing_is_refused() -> None:
    with pytest.raises(BadInputError, match="query cache must be at least 1, got 0"):
        CachedEmbedder(Counting(), size=0)
