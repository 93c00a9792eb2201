"""What a scorer of chains keeps."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.triple_store import TripleStore
from triplebeam.methods.gear.score import ChainScorer


class ChainScorerContract:
    """Fixtures: ``scorer``; ``store``, the triples it scores; ``passage_ids``, passages with some triples."""

    query: str = "Where did the director die?"

    def test_a_triple_alone_is_scored_by_its_stored_vector(
        self, scorer: ChainScorer, store: TripleStore, passage_ids: Sequence[str]
    ) -> None:
        """Nothing is encoded for it, and every scorer agrees."""
        ids, query = store.triples_of(passage_ids), self._vector(scorer)
        scores = scorer.score(query, ids[:, None], np.zeros(len(ids), np.int64))
        assert np.allclose(scores, store.vectors(ids) @ query, atol=1e-5)

    def test_gives_a_score_a_chain(self, scorer: ChainScorer, store: TripleStore, passage_ids: Sequence[str]) -> None:
        """A cosine, or minus infinity for a chain that is left out; of each beam one chain stays at least."""
        chains, beams = self._chains(store, passage_ids)
        scores = scorer.score(self._vector(scorer), chains, beams)
        assert scores.shape == (len(chains),)
        considered = scores[scores != -np.inf]
        assert np.all(np.abs(considered) <= 1 + 1e-4)
        assert set(beams[scores != -np.inf].tolist()) == set(beams.tolist())

    def test_says_the_same_twice(self, scorer: ChainScorer, store: TripleStore, passage_ids: Sequence[str]) -> None:
        """The same chains have the same scores."""
        chains, beams = self._chains(store, passage_ids)
        first, second = (scorer.score(self._vector(scorer), chains, beams) for _ in range(2))
        assert np.array_equal(first, second)

    def _vector(self, scorer: ChainScorer) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = scorer.embedder.embed([self.query], kind="query")[0]
        return vector

    def _chains(self, store: TripleStore, passage_ids: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Two beams, each extended by the triples that are in neither."""
        first, second, *others = store.triples_of(passage_ids).tolist()
        chains = [(beam, other) for beam in (first, second) for other in others]
        return np.array(chains, np.int64), np.repeat([0, 1], len(others)).astype(np.int64)
