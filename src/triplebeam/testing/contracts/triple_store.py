"""What a store of triples keeps: every answer is compared with the plainest way to find it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.triple_store import TripleStore
from triplebeam.triple import entity_key


class TripleStoreContract:
    """Fixtures: ``store``; ``passage_ids``, all its passages in order; ``embedder``, the one it was built with."""

    query: str = "Where did the director die?"

    def test_triples_of_follows_the_passages(self, store: TripleStore, passage_ids: Sequence[str]) -> None:
        """Passages in the order given, and each triple leads back to its passage."""
        backwards = list(passage_ids)[::-1]
        owners = store.passage_of(store.triples_of(backwards))
        assert list(dict.fromkeys(owners)) == [id_ for id_ in backwards if len(store.triples_of([id_]))]
        for passage_id in passage_ids:
            ids = store.triples_of([passage_id])
            assert ids.dtype == np.int64
            assert store.passage_of(ids) == [passage_id] * len(ids)

    def test_no_passages_have_no_triples(self, store: TripleStore) -> None:
        """An empty sequence is no error."""
        assert store.triples_of([]).shape == (0,)
        assert store.passage_of([]) == []

    def test_an_unknown_passage_is_named(self, store: TripleStore) -> None:
        """A retriever over another collection must not pass for one that finds nothing."""
        message = ""
        try:
            store.triples_of(["no such passage"])
        except BadInputError as error:
            message = str(error)
        assert "no such passage" in message, "an unknown passage id was taken without a word"

    def test_vectors_are_those_of_the_triples_texts(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """A chain of one triple is scored by its stored vector."""
        ids = store.triples_of(passage_ids)
        texts = [str(store.triple(triple_id)) for triple_id in ids.tolist()]
        assert np.allclose(store.vectors(ids), embedder.embed(texts), atol=1e-5)

    def test_neighbours_share_an_entity(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """All that share one, in either position and under its normal form, but not the triple itself."""
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
        """Best first, and cut behind the best."""
        ids, query = store.triples_of(passage_ids), self._vector(embedder)
        everyone = store.neighbours(ids, query, len(ids))
        for best, neighbours in zip(store.neighbours(ids, query, 2), everyone, strict=True):
            similarity = store.vectors(neighbours) @ query
            assert np.all(np.diff(similarity) <= 1e-6)
            assert best.tolist() == neighbours[:2].tolist()

    def test_nearest_agrees_with_a_look_at_all(
        self, store: TripleStore, passage_ids: Sequence[str], embedder: Embedder
    ) -> None:
        """A row a vector, best first."""
        ids, queries = store.triples_of(passage_ids), embedder.embed([self.query, "a film", "a lake"])
        found = store.nearest(queries, 3)
        assert found.shape == (3, min(3, len(ids)))
        for row, query in zip(found, queries, strict=True):
            expected = np.sort(store.vectors(ids) @ query)[::-1][: len(row)]
            assert np.allclose(store.vectors(row) @ query, expected, atol=1e-6)

    def test_nearest_to_nothing_is_nothing(self, store: TripleStore, embedder: Embedder) -> None:
        """No vectors give no rows."""
        assert len(store.nearest(np.zeros((0, embedder.dimension), np.float32), 3)) == 0

    def _vector(self, embedder: Embedder) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = embedder.embed([self.query], kind="query")[0]
        return vector
