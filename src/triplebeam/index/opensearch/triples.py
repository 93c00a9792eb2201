"""Triples of a cluster: `TripleStore` by requests, each for as many triples as may be."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.arrays.quantize import dequantize
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import MAX_RESULTS, decode, entity, triple_of
from triplebeam.index.opensearch.fetched import ClusterPassages
from triplebeam.index.opensearch.generation import Published, Search
from triplebeam.index.opensearch.search import (
    ClusterVectors,
    build_similarity_query,
    compute_cosines,
    count_fetched_triples,
    sort_best_first,
)
from triplebeam.index.protocols import Found, Numbers
from triplebeam.triple import Triple

#: Triples that are kept in memory: a walk of a few steps meets some thousands.
_MAX_CACHED = 50_000


class Known(NamedTuple):
    """A triple that was fetched."""

    triple: Triple
    passage: str
    ends: tuple[str, ...]
    code: str


class ClusterTriples:
    """`SourceTriples` over a cluster."""

    def __init__(self, published: Published, passages: ClusterPassages) -> None:
        self._published = published
        self._passages = passages
        self._known: dict[int, Known] = {}
        self.vector_search = ClusterVectors(published, "triples", self.remember)

    def __len__(self) -> int:
        return self._published.manifest.counts["triples"]

    def remember(self, sources: Iterable[Json]) -> None:
        """Keep what a search showed."""
        if len(self._known) > _MAX_CACHED:
            self._known = {}
        self._known |= _read(sources)

    def fetch_triples(self, triple_ids: Iterable[int] | NDArray[np.int64]) -> list[Known]:
        """Return these triples; what is not in memory is fetched together."""
        numbers = [int(each) for each in triple_ids]
        found = {number: known for number in numbers if (known := self._known.get(number))}
        sources = self._published.fetch("triples", (number for number in numbers if number not in found))
        self.remember(sources)
        found |= _read(sources)  # other threads may have evicted them
        if len(found) < len(set(numbers)):
            raise BadInputError("a triple is not in this index: ids must be those that it returned.")
        return [found[number] for number in numbers]

    def triple(self, triple_id: int) -> Triple:
        """Return the triple itself."""
        return self.fetch_triples([triple_id])[0].triple

    def triples_of(self, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the triples of these passages."""
        numbers: dict[str, list[int]] = {}
        query = {"terms": {"passage": list(dict.fromkeys(passage_ids))}}
        for source in self._fetch_in_order(query) if passage_ids else ():
            numbers.setdefault(source["passage"], []).append(source["number"])
        self._passages.of([id_ for id_ in passage_ids if id_ not in numbers])  # those without triples must be there
        return np.array([number for id_ in passage_ids for number in numbers.get(id_, ())], np.int64)

    def find_by_entity(self, name: str) -> NDArray[np.int64]:
        """Find the triples with an entity, by its name, as subject or object, in the order of their passages."""
        sources = self._fetch_in_order({"term": {"ends": entity(name)}})
        return np.array([source["number"] for source in sources], np.int64)

    def _fetch_in_order(self, query: Json) -> list[Json]:
        """Fetch what a query finds, in the order of passages and of extraction."""
        body = {"query": query, "size": MAX_RESULTS, "sort": [{"passage": "asc"}, {"place": "asc"}]}
        sources = [hit["_source"] for hit in self._published.search("triples", body)["hits"]["hits"]]
        self.remember(sources)
        return sources

    def passage_of(self, triple_ids: Numbers) -> list[str]:
        """Return the passage of each triple."""
        return [each.passage for each in self.fetch_triples(triple_ids)]

    def vectors(self, triple_ids: Numbers) -> NDArray[np.float32]:
        """Return the stored unit vector of each triple."""
        return dequantize(
            decode("triples", [each.code for each in self.fetch_triples(triple_ids)], self._published.dimension)
        )

    def search(self, vector: NDArray[np.float32], k: int) -> Found:
        """Find the k triples nearest to one vector, with their cosines."""
        return self.vector_search.nearest(vector, k)

    def nearest(self, vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Find for each vector the k triples nearest to it, best first."""
        found = [numbers for numbers, _ in self.vector_search.nearest_many(vectors, k)]
        return np.array(found, np.int64).reshape(len(found), max(map(len, found), default=0))

    def neighbours(self, triple_ids: Numbers, query: NDArray[np.float32], limit: int) -> list[NDArray[np.int64]]:
        """Find the most similar to the query among the triples that share an entity with each of these.

        The cluster ranks the triples of each entity once; the two lists of a triple's ends are merged here.
        """
        ends = [each.ends for each in self.fetch_triples(triple_ids)]
        entities = list(dict.fromkeys(end for of_one in ends for end in of_one))
        around = dict(zip(entities, self._fetch_by_entity(entities, query, limit + 1), strict=True))
        return [
            _select_best({number: score for end in of_one for number, score in around[end].items()}, int(own), limit)
            for own, of_one in zip(triple_ids, ends, strict=True)
        ]

    def _fetch_by_entity(
        self, entities: Sequence[str], query: NDArray[np.float32], limit: int
    ) -> list[dict[int, float]]:
        """Fetch for each entity its triples that are most similar to the query, and some more, with their cosines."""
        size = count_fetched_triples(min(limit, MAX_RESULTS))
        similar = [build_similarity_query("triples", query, {"term": {"ends": each}}) for each in entities]
        searches = [Search("triples", sort_best_first(each, size)) for each in similar]
        found = []
        for reply in self._published.search_all(searches):
            sources = [hit["_source"] for hit in reply["hits"]["hits"]]
            self.remember(sources)
            scores = compute_cosines("triples", query, sources).tolist()
            found.append({source["number"]: score for source, score in zip(sources, scores, strict=True)})
        return found


def _read(sources: Iterable[Json]) -> dict[int, Known]:
    return {
        each["number"]: Known(triple_of(each), each["passage"], tuple(each["ends"]), each["code"]) for each in sources
    }


def _select_best(scores: dict[int, float], own: int, limit: int) -> NDArray[np.int64]:
    """Select the best of them except the triple itself, ties by number."""
    others = sorted((number for number in scores if number != own), key=lambda number: (-scores[number], number))
    return np.array(others[:limit], np.int64)
