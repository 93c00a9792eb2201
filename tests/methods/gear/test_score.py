"""Scorers: what each computes, and what each encodes."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import Cascade, Exact, Pooled


class Noting:
    """Notes what another embedder encodes."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.fingerprint, self.dimension = inner.name, inner.fingerprint, inner.dimension
        self.passages: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        if kind == "passage":
            self.passages += texts
        return self._inner.embed(texts, kind)


@pytest.fixture
def noting(words: Embedder) -> Noting:
    return Noting(words)


@pytest.fixture
def query(words: Embedder) -> NDArray[np.float32]:
    return words.embed(["When did the director die?"], kind="query")[0]


CHAINS = np.array([[0, 2], [0, 3], [0, 1], [4, 0], [4, 5]])
BEAMS = np.array([0, 0, 0, 1, 1])


def test_exact_is_the_cosine_of_the_joined_text(world: Snapshot, noting: Noting, query: NDArray[np.float32]) -> None:
    scores = Exact(triples=world.triples, embedder=noting).score(query, CHAINS, BEAMS)
    texts = [f"{world.triples.triple(a)} {world.triples.triple(b)}" for a, b in CHAINS.tolist()]
    assert noting.passages == texts
    assert texts[1] == "Pat Brien starred in Laughter in Hell Milwaukee lies on Lake Michigan"
    assert scores == pytest.approx(noting.embed(texts) @ query)


@pytest.mark.parametrize("kind", [Exact, Pooled, Cascade])
def test_a_triple_alone_is_not_encoded(
    kind: type[Exact], world: Snapshot, noting: Noting, query: NDArray[np.float32]
) -> None:
    scores = kind(triples=world.triples, embedder=noting).score(query, np.arange(9)[:, None], np.zeros(9, np.int64))
    assert scores == pytest.approx(world.triples.vectors(range(9)) @ query, abs=1e-6)
    assert noting.passages == []


def test_pooled_is_the_cosine_of_the_mean(world: Snapshot, noting: Noting, query: NDArray[np.float32]) -> None:
    scores = Pooled(triples=world.triples, embedder=noting).score(query, CHAINS, BEAMS)
    first, second = world.triples.vectors([0, 2]).astype(np.float64)
    mean = (first + second) / 2
    assert scores[0] == pytest.approx(mean @ query / np.sqrt(mean @ mean), abs=1e-6)
    assert noting.passages == []


def test_pooled_gives_zero_where_the_vectors_cancel_out(words: Embedder) -> None:
    class Opposites:
        def vectors(self, triple_ids: NDArray[np.int64]) -> NDArray[np.float32]:
            return np.array([[1, 0], [-1, 0]], np.float32)[triple_ids]

    pooled = Pooled(triples=Opposites(), embedder=words)  # type: ignore[arg-type]
    query = np.array([1, 0], np.float32)
    assert pooled.score(query, np.array([[0, 1], [0, 0]]), np.array([0, 0])).tolist() == [0, 1]


@pytest.mark.parametrize("shortlist", [1, 2, 3, 50])
def test_cascade_is_exact_for_the_shortlist_of_each_beam(
    shortlist: int, world: Snapshot, noting: Noting, query: NDArray[np.float32]
) -> None:
    scores = Cascade(triples=world.triples, embedder=noting, shortlist=shortlist).score(query, CHAINS, BEAMS)
    assert len(noting.passages) == sum(min(shortlist, size) for size in (3, 2))
    exact = Exact(triples=world.triples, embedder=noting).score(query, CHAINS, BEAMS)
    pooled = Pooled(triples=world.triples, embedder=noting).score(query, CHAINS, BEAMS)
    for beam in (0, 1):
        rows = np.flatnonzero(beam == BEAMS)
        chosen = rows[np.argsort(-pooled[rows])][:shortlist]
        assert scores[chosen] == pytest.approx(exact[chosen])
        assert np.all(np.isneginf(scores[np.setdiff1d(rows, chosen)]))
