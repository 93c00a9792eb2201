"""What a retriever keeps."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever, retrieve_many

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
    """Fixture: ``retriever``, over a collection that ``queries`` find something in.

    ``steady_up_to`` is the largest k whose ranking every smaller k is the head of.
    """

    queries: Sequence[str] = ("Who directed the film?", "lake", "Laughter in Hell")
    steady_up_to: int = 10

    def test_finds_something(self, retriever: Retriever) -> None:
        """Otherwise the other tests say nothing."""
        assert all(len(retriever.retrieve(query)) for query in self.queries)

    def test_gives_a_ranking_of_k_at_the_most(self, retriever: Retriever) -> None:
        """`Ranking` itself checks order, duplicates and NaN."""
        for query in self.queries:
            for k in (1, 2, self.steady_up_to, 10_000):
                ranking = retriever.retrieve(query, k)
                assert isinstance(ranking, Ranking), f"{type(ranking).__name__} is not a Ranking"
                assert len(ranking) <= k, f"{len(ranking)} hits where {k} were asked for"

    def test_says_the_same_twice(self, retriever: Retriever) -> None:
        """The same question has the same answer."""
        for query in self.queries:
            assert retriever.retrieve(query) == retriever.retrieve(query)

    def test_fewer_are_the_head_of_more(self, retriever: Retriever) -> None:
        """Asking for fewer passages changes none of them."""
        for query in self.queries:
            longest = retriever.retrieve(query, self.steady_up_to)
            for k in range(1, self.steady_up_to):
                assert retriever.retrieve(query, k) == longest.top(k), f"the best {k} for {query!r} are others"

    def test_takes_anything_a_person_types(self, retriever: Retriever) -> None:
        """No query is a syntax error."""
        for query in AWKWARD:
            assert isinstance(retriever.retrieve(query, 3), Ranking)

    def test_many_queries_at_once_find_what_each_finds_alone(self, retriever: Retriever) -> None:
        """Scores may differ by rounding, and so may the places of passages whose scores differ by no more."""
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
