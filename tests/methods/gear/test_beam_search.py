"""Algorithm 1 against its transcription, on random graphs; and its scorers: what each computes and encodes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles.diverse_triple_beam_search import diverse_triple_beam_search
from trials import examples
from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import Cascade, Exact, Pooled
from triplebeam.methods.gear.beam_search import DiverseTripleBeamSearch


class GraphOfNumbers:
    """A triple store that knows neighbours and nothing else."""

    def __init__(self, neighbours: dict[int, list[int]]) -> None:
        self._neighbours = neighbours

    def neighbours(self, triple_ids: NDArray[np.int64], query: object, limit: int) -> list[NDArray[np.int64]]:
        return [np.array(self._neighbours[int(id_)][:limit], np.int64) for id_ in triple_ids]


class TableScorer:
    """A score for each chain, drawn from a seed; coarse, so that ties happen."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def of(self, chain: tuple[int, ...]) -> float:
        draw = np.random.default_rng([self._seed, *chain]).integers(-4, 9)
        return float(draw) / 4

    def score(self, query: object, chains: NDArray[np.int64], beams: object) -> NDArray[np.float64]:
        return np.array([self.of(tuple(chain)) for chain in chains.tolist()])


@st.composite
def graphs(draw: st.DrawFn) -> dict[int, list[int]]:
    size = draw(st.integers(1, 12))
    ids = st.integers(0, size - 1)
    return {
        id_: draw(st.lists(ids.filter(lambda n, own=id_: n != own), unique=True, max_size=8)) if size > 1 else []
        for id_ in range(size)
    }


@settings(max_examples=examples(300), deadline=None)
@given(
    graph=graphs(),
    data=st.data(),
    width=st.integers(1, 5),
    length=st.integers(1, 4),
    neighbours=st.integers(1, 8),
    gamma=st.sampled_from([1.0, 3.0, 10.0, math.inf]),
    seed=st.integers(0, 1000),
)
def test_agrees_with_the_paper(
    graph: dict[int, list[int]], data: st.DataObject, width: int, length: int, neighbours: int, gamma: float, seed: int
) -> None:
    initial = data.draw(st.lists(st.sampled_from(sorted(graph)), unique=True, max_size=6))
    scorer: Any = TableScorer(seed)
    expected = diverse_triple_beam_search(initial, width, length, gamma, scorer.of, lambda t: graph[t][:neighbours])
    triples: Any = GraphOfNumbers(graph)
    limits = {"width": width, "length": length, "neighbours": neighbours, "diversity": gamma}
    search = DiverseTripleBeamSearch(triples=triples, scorer=scorer, **limits)
    beams = search.search(np.zeros(1, np.float32), np.array(initial, np.int64))
    assert [tuple(chain) for chain in beams.chains.tolist()] == [chain for _, chain in expected]
    assert beams.scores == pytest.approx([score for score, _ in expected])


def test_gamma_is_twice_the_width_unless_given() -> None:
    graph = {0: [1, 2, 3], 1: [], 2: [], 3: []}
    scorer = TableScorer(7)
    plain, given = (
        DiverseTripleBeamSearch(triples=GraphOfNumbers(graph), scorer=scorer, width=3, diversity=gamma)  # type: ignore[arg-type]
        for gamma in (None, 6.0)
    )
    query, initial = np.zeros(1, np.float32), np.array([0])
    assert plain.search(query, initial).scores == pytest.approx(given.search(query, initial).scores)


@pytest.mark.parametrize(("wrong", "message"), [({"diversity": 0.0}, "above 0"), ({"width": 0}, "1 or more")])
def test_what_it_cannot_search_with_is_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        DiverseTripleBeamSearch(triples=GraphOfNumbers({}), scorer=TableScorer(0), **wrong)  # type: ignore[arg-type]


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
