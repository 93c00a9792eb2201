"""What a retriever, a scorer of chains and a store of triples keep: a store's replies are compared with the simplest
way to find them.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.source import TripleStore
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever, retrieve_many
from triplebeam.text.names import entity_key

#: A person types anything; none of it may be taken for syntax.
AWKWARD = (
    "",
    "   ",
    "?!",
    '"unbalanced (AND',
    "title:x OR NOT -y^2",
    "\N{GRINNING FACE} \x00 \u202e",
    "wordless " * 400,
)
_same = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6)


class RetrieverContract:
    """Fixture: ``retriever``, over passages that ``queries`` find something in.

    ``steady_up_to`` is the largest k whose ranking every smaller k is the head of.
    """

    queries: Sequence[str] = ("Who directed the film?", "lake", "Laughter in Hell")
    steady_up_to: int = 10

    def test_finds_something(self, retriever: Retriever) -> None:
        """Check that something is found: otherwise the other tests say nothing."""
        assert all(len(retriever.retrieve(query)) for query in self.queries)

    def test_gives_a_ranking_of_k_at_the_most(self, retriever: Retriever) -> None:
        """Check the length; `Ranking` itself checks order, duplicates and NaN."""
        for query in self.queries:
            for k in (1, 2, self.steady_up_to, 10_000):
                ranking = retriever.retrieve(query, k)
                assert isinstance(ranking, Ranking), f"{type(ranking).__name__} is not a Ranking"
                assert len(ranking) <= k, f"{len(ranking)} hits where {k} were asked for"

    def test_says_the_same_twice(self, retriever: Retriever) -> None:
        """Check that the same question has the same answer."""
        for query in self.queries:
            assert retriever.retrieve(query) == retriever.retrieve(query)

    def test_fewer_are_the_head_of_more(self, retriever: Retriever) -> None:
        """Check that asking for fewer passages changes none of them."""
        for query in self.queries:
            longest = retriever.retrieve(query, self.steady_up_to)
            for k in range(1, self.steady_up_to):
                assert retriever.retrieve(query, k) == longest.top(k), f"the best {k} for {query!r} are others"

    def test_takes_anything_a_person_types(self, retriever: Retriever) -> None:
        """Check that no query is a syntax error."""
        for query in AWKWARD:
            assert isinstance(retriever.retrieve(query, 3), Ranking)

    def test_many_queries_at_once_find_what_each_finds_alone(self, retriever: Retriever) -> None:
        """Check that a batch agrees with single queries; rounding may move passages of nearly equal scores."""
        queries = [*self.queries, *AWKWARD, self.queries[0]]
        alone = [retriever.retrieve(query, self.steady_up_to) for query in queries]
        for k in (1, self.steady_up_to):
            together = retrieve_many(retriever, queries, k)
            for found, expected in zip(together, alone, strict=True):
                _same([hit.score for hit in found], [hit.score for hit in expected.top(k)])
                scores = {hit.passage_id: hit.score for hit in expected}
                # A passage that is found in company alone must be as good as the last.
                _same([hit.score for hit in found], [scores.get(hit.passage_id, expected[-1].score) for hit in found])
        assert retrieve_many(retriever, [], 3) == []


class ChainScorerContract:
    """Fixtures: ``scorer``; ``store``, the triples it scores; ``passage_ids``, passages with some triples."""

    query: str = "Where did the director die?"

    def test_a_triple_alone_is_scored_by_its_stored_vector(
        self, scorer: ChainScorer, store: TripleStore, passage_ids: Sequence[str]
    ) -> None:
        """Check that nothing is encoded for a single triple, and every scorer agrees."""
        ids, query = store.triples_of(passage_ids), self._vector(scorer)
        scores = scorer.score(query, ids[:, None], np.zeros(len(ids), np.int64))
        assert np.allclose(scores, store.vectors(ids) @ query, atol=1e-5)

    def test_gives_a_score_per_chain(self, scorer: ChainScorer, store: TripleStore, passage_ids: Sequence[str]) -> None:
        """Check that a score is a cosine, or minus infinity if left out; each beam keeps at least one chain."""
        chains, beams = self._chains(store, passage_ids)
        scores = scorer.score(self._vector(scorer), chains, beams)
        assert scores.shape == (len(chains),)
        considered = scores[scores != -np.inf]
        assert np.all(np.abs(considered) <= 1 + 1e-4)
        assert set(beams[scores != -np.inf].tolist()) == set(beams.tolist())

    def test_says_the_same_twice(self, scorer: ChainScorer, store: TripleStore, passage_ids: Sequence[str]) -> None:
        """Check that the same chains have the same scores."""
        chains, beams = self._chains(store, passage_ids)
        first, second = (scorer.score(self._vector(scorer), chains, beams) for _ in range(2))
        assert np.array_equal(first, second)

    def _vector(self, scorer: ChainScorer) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = scorer.embedder.embed([self.query], kind="query")[0]
        return vector

    def _chains(self, store: TripleStore, passage_ids: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return two beams, each extended by the triples that are in neither."""
        first, second, *others = store.triples_of(passage_ids).tolist()
        chains = [(beam, other) for beam in (first, second) for other in others]
        return np.array(chains, np.int64), np.repeat([0, 1], len(others)).astype(np.int64)


class TripleStoreContract:
    """Fixtures: ``store``; ``passage_ids``, all its passages in order; ``embedder``, the one it was built with."""

    query: str = "Where did the director die?"

    def test_triples_of_follows_the_passages(self, store: TripleStore, passage_ids: Sequence[str]) -> None:
        """Check that triples follow the order of passages, and each triple leads back to its passage."""
        backwards = list(passage_ids)[::-1]
        owners = store.passage_of(store.triples_of(backwards))
        assert list(dict.fromkeys(owners)) == [id_ for id_ in backwards if len(store.triples_of([id_]))]
        for passage_id in passage_ids:
            ids = store.triples_of([passage_id])
            assert ids.dtype == np.int64
            assert store.passage_of(ids) == [passage_id] * len(ids)

    def test_no_passages_have_no_triples(self, store: TripleStore) -> None:
        """Check that an empty sequence is no error."""
        assert store.triples_of([]).shape == (0,)
        assert store.passage_of([]) == []

    def test_an_unknown_passage_is_named(self, store: TripleStore) -> None:
        """Check that an unknown passage is an error: one over another index must not seem to find nothing."""
        message = ""
        try:
            store.triples_of(["no such passage"])
        except BadInputError as error:
            message = str(error)
        assert "no such passage" in message, "an unknown passage id was taken without a word"

    def test_vectors_are_those_of_the_triples_texts(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """Check that a chain of one triple is scored by its stored vector, which may be quantized to bytes."""
        ids = store.triples_of(passage_ids)
        texts = [str(store.triple(triple_id)) for triple_id in ids.tolist()]
        assert np.allclose(store.vectors(ids), embedder.embed(texts), atol=5e-3)

    def test_neighbours_share_an_entity(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """Check that all triples that share an entity, in any position and normal form, are found, but not itself."""
        ids = store.triples_of(passage_ids)
        found = store.neighbours(ids, self._vector(embedder), len(ids))
        ends = {
            id_: {entity_key(store.triple(id_).subject), entity_key(store.triple(id_).object)} for id_ in ids.tolist()
        }
        for triple_id, neighbours in zip(ids.tolist(), found, strict=True):
            expected = [id_ for id_ in ends if id_ != triple_id and ends[id_] & ends[triple_id]]
            assert sorted(neighbours.tolist()) == sorted(expected)

    def test_neighbours_are_the_most_similar_to_the_query(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """Check that neighbours are sorted best first, and cut behind the best."""
        ids, query = store.triples_of(passage_ids), self._vector(embedder)
        everyone = store.neighbours(ids, query, len(ids))
        for best, neighbours in zip(store.neighbours(ids, query, 2), everyone, strict=True):
            similarity = store.vectors(neighbours) @ query
            assert np.all(np.diff(similarity) <= 1e-6)
            assert best.tolist() == neighbours[:2].tolist()

    def test_nearest_agrees_with_a_look_at_all(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """Check that there is a row per vector, best first."""
        ids, queries = store.triples_of(passage_ids), embedder.embed([self.query, "a film", "a lake"])
        found = store.nearest(queries, 3)
        assert found.shape == (3, min(3, len(ids)))
        for row, query in zip(found, queries, strict=True):
            expected = np.sort(store.vectors(ids) @ query)[::-1][: len(row)]
            assert np.allclose(store.vectors(row) @ query, expected, atol=1e-6)

    def test_nearest_to_nothing_is_nothing(self, store: TripleStore, embedder: Embedder) -> None:
        """Check that no vectors give no rows."""
        assert len(store.nearest(np.zeros((0, embedder.dimension), np.float32), 3)) == 0

    def _vector(self, embedder: Embedder) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = embedder.embed([self.query], kind="query")[0]
        return vector
