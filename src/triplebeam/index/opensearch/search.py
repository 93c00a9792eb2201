"""Words and vectors, searched by a cluster: what `TermIndex` and `VectorIndex` are for an index folder.

Documents are known by their numbers, which are the same in every generation.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.quantize import dequantize
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import MAX_RESULTS, SPACES, decode, round_vector
from triplebeam.index.opensearch.generation import Published, Search
from triplebeam.index.protocols import Found
from triplebeam.text.terms import ENGLISH, query_stems

#: Triples that are fetched beyond those that are wanted, at least.
_EXTRA_TRIPLES = 10
#: What of a hit is not read: its document, and its id, which is stored with it.
NUMBERS_ALONE: Json = {"_source": False, "stored_fields": "_none_"}
#: Words of a query that are searched for: a cluster takes 1,024 clauses, and a word may be two.
_MAX_WORDS = 500

#: Called with the documents of a reply, which may be asked for soon.
Remember: TypeAlias = Callable[[Sequence[Json]], None]


class ClusterTerms:
    """BM25 on a cluster. The rarity of words is that in the whole index, whatever the filter."""

    def __init__(self, published: Published, kind: str, remember: Remember) -> None:
        self._published, self._kind, self._remember = published, kind, remember

    def __len__(self) -> int:
        return self._published.manifest.counts[self._kind]

    def search(self, query: str, k: int) -> Found:
        """Find the best k documents and their scores."""
        if k <= 0:
            return _make_empty()
        [reply] = self._published.search_all([Search(self._kind, self.build_body(query, k), by_words=True)])
        self._remember([hit["_source"] for hit in reply["hits"]["hits"]])
        return parse_scores(reply)

    def search_among(self, query: str, numbers: Sequence[int]) -> Found:
        """Score these documents, as far as they have a word of the query."""
        return parse_scores(*self._published.search_all([self.restrict_search(query, numbers)]))

    def restrict_search(self, query: str, numbers: Sequence[int]) -> Search:
        """Build the search for the words of a query in the documents of these numbers alone."""
        body = self.build_body(query, len(numbers))
        found = {"bool": {"must": [body["query"]], "filter": {"terms": {"number": list(numbers)}}}}
        return Search(self._kind, {**body, "query": found, **NUMBERS_ALONE}, by_words=True)

    def stemmers_of(self, rows: Sequence[int]) -> list[str]:
        """Return the stemmers of the documents of these numbers."""
        body = {"query": {"terms": {"number": list(rows)}}, "size": len(rows), "_source": ["number", "stemmer"]}
        hits = self._published.search(self._kind, body)["hits"]["hits"] if rows else []
        found = {hit["_source"]["number"]: hit["_source"]["stemmer"] for hit in hits}
        if not found.keys() >= set(rows):
            raise self._published.make_changed_error()
        return [found[row] for row in rows]

    def build_body(self, query: str, k: int) -> Json:
        """Build the search for the words of a query."""
        return sort_best_first(_build_words_query(query_stems(query, self._published.stemmers)), k)


def parse_scores(reply: Json) -> Found:
    """Parse the numbers and the scores in the reply to a search for words."""
    hits = reply["hits"]["hits"]
    numbers = np.array([hit["sort"][1] for hit in hits], np.int64)
    return numbers, np.array([hit["_score"] for hit in hits], np.float32)


class ClusterVectors:
    """The documents nearest to a vector."""

    def __init__(self, published: Published, kind: str, remember: Remember) -> None:
        self._published, self._kind, self._remember = published, kind, remember

    def __len__(self) -> int:
        return self._published.manifest.counts[self._kind]

    def nearest(self, vector: NDArray[np.float32], k: int) -> Found:
        """Find the k documents of highest cosine, and their cosines."""
        return self.nearest_many(vector[np.newaxis], k)[0]

    def nearest_many(self, vectors: NDArray[np.float32], k: int) -> Sequence[Found]:
        """Find the same for each of several vectors, in one request: as many for each."""
        k = min(k, len(self))
        if k <= 0:
            return [_make_empty() for _ in vectors]
        searches = [Search(self._kind, self.build_body(vector, k)) for vector in vectors]
        replies = self._published.search_all(searches)
        return [self.rank_reply(vector, reply, k) for vector, reply in zip(vectors, replies, strict=True)]

    def rank_reply(self, vector: NDArray[np.float32], reply: Json, k: int) -> Found:
        """Rank the best k of a reply by their exact cosines."""
        sources = [hit["_source"] for hit in reply["hits"]["hits"]]
        self._remember(sources)
        scores = compute_cosines(self._kind, vector, sources)
        best = sorted(range(len(sources)), key=lambda place: (-scores[place], sources[place]["number"]))[:k]
        return np.array([sources[place]["number"] for place in best], np.int64), scores[best]

    def build_body(self, vector: NDArray[np.float32], k: int) -> Json:
        """Build the search for one vector, which compares every other one."""
        size = k if self._kind == "passages" else count_fetched_triples(k)
        return sort_best_first(build_similarity_query(self._kind, vector, {"match_all": {}}), size)


def count_fetched_triples(k: int) -> int:
    """Return how many triples to fetch: the cluster compares with a rounded query, and the best are chosen here."""
    return max(k, min(MAX_RESULTS, k + k // 4 + _EXTRA_TRIPLES))


def build_similarity_query(kind: str, vector: NDArray[np.float32], query: Json) -> Json:
    """Build a query that scores what another query finds by its similarity to a vector: every vector is compared.

    A vector of zeros has no direction: the cluster refuses to compare its angle, and nothing is nearer to it.
    """
    if not vector.any():
        return {"constant_score": {"filter": query}}
    space = SPACES["byte" if kind == "triples" else "float"]
    params = {"field": "vector", "query_value": round_vector(kind, vector), "space_type": space}
    return {"script_score": {"query": query, "script": {"lang": "knn", "source": "knn_score", "params": params}}}


def compute_cosines(kind: str, vector: NDArray[np.float32], sources: Sequence[Json]) -> NDArray[np.float32]:
    """Compute the cosines of documents and a vector, as in an index folder, from the stored vectors."""
    stored = decode(kind, [source["code"] for source in sources], len(vector))
    return np.asarray(dequantize(stored) @ vector, np.float32)


def _build_words_query(words: Sequence[Mapping[str, str]]) -> Json:
    """Build a query for any of these words: by English stem in any text, or by another in texts of that stemmer."""
    clauses: list[Json] = []
    for word, count in Counter(tuple(sorted(word.items())) for word in words).most_common(_MAX_WORDS):
        stems = dict(word)
        english: Json = {"term": {"words": {"value": stems[ENGLISH], "boost": count}}}
        others = [
            {
                "bool": {
                    "must": {"term": {"words": {"value": stem, "boost": count}}},
                    "filter": {"term": {"stemmer": name}},
                }
            }
            for name, stem in word
            if stem != stems[ENGLISH]
        ]
        clauses.append({"dis_max": {"queries": [english, *others]}} if others else english)
    return {"bool": {"should": clauses, "minimum_should_match": 1}} if clauses else {"match_none": {}}


def sort_best_first(query: Json, size: int) -> Json:
    """Sort what a query finds by score, ties by number, so that two searches agree."""
    return {"query": query, "size": size, "sort": [{"_score": "desc"}, {"number": "asc"}], "track_scores": True}


def _make_empty() -> Found:
    return np.zeros(0, np.int64), np.zeros(0, np.float32)
