"""Algorithm 1 against its transcription, on random graphs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles.diverse_triple_beam_search import diverse_triple_beam_search
from trials import examples
from triplebeam.errors import BadInputError
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
    scorer = TableScorer(seed)
    expected = diverse_triple_beam_search(initial, width, length, gamma, scorer.of, lambda t: graph[t][:neighbours])
    search = DiverseTripleBeamSearch(
        triples=GraphOfNumbers(graph),  # type: ignore[arg-type]
        scorer=scorer,  # type: ignore[arg-type]
        width=width,
        length=length,
        neighbours=neighbours,
        diversity=gamma,
    )
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
