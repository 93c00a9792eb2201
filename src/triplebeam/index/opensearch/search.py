"""Words, vectors and triples, searched by a cluster: what `TermIndex`, `VectorIndex` and `TripleGraph` are in a folder.

Documents are known by their numbers, which are the same in every generation. Each request is for as many as may be.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.arrays.rows import dequantize
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import MAX_RESULTS, decode, round_vector, triple_of
from triplebeam.index.opensearch.fetched import CachedDocuments, ClusterPassages
from triplebeam.index.opensearch.generation import Search
from triplebeam.index.source import Found, Numbers
from triplebeam.text.terms import ENGLISH, query_stems
from triplebeam.triple import Triple

#: Triples that are fetched beyond those that are wanted, at least.
_EXTRA_TRIPLES = 10
#: What of a hit is not read: its document, and its id, which is stored with it.
NUMBERS_ALONE: Json = {"_source": False, "stored_fields": "_none_"}
#: Words of a query that are searched for: a cluster takes 1,024 clauses, and a word may be two.
_MAX_WORDS = 500


class _ClusterSearch:
    """Documents of one kind."""

    def __init__(self, documents: CachedDocuments) -> None:
        self._documents, self._published, self._kind = documents, documents.published, documents.kind

    def __len__(self) -> int:
        return len(self._documents)


class ClusterTerms(_ClusterSearch):
    """BM25 on a cluster. The rarity of words is that in the whole index, whatever the filter."""

    def search(self, query: str, k: int) -> Found:
        """Find the best k documents and their scores."""
        if k <= 0:
            return make_empty()
        [reply] = self._published.search_all([Search(self._kind, self.build_body(query, k), by_words=True)])
        self._documents.remember([hit["_source"] for hit in reply["hits"]["hits"]])
        return parse_scores(reply)

    def search_among(self, query: str, numbers: Sequence[int]) -> Found:
        """Score those of these documents that have a term of the query."""
        return parse_scores(*self._published.search_all([self.restrict_search(query, numbers)]))

    def restrict_search(self, query: str, numbers: Sequence[int]) -> Search:
        """Build the search for the words of a query in the documents of these numbers alone."""
        body = self.build_body(query, len(numbers), {"terms": {"number": list(numbers)}})
        return Search(self._kind, {**body, **NUMBERS_ALONE}, by_words=True)

    def stemmers_of(self, rows: Sequence[int]) -> list[str]:
        """Return the stemmers of the documents of these numbers."""
        return [source["stemmer"] for source in self._documents.fetch_all(rows)]

    def build_body(self, query: str, k: int, among: Json | None = None) -> Json:
        """Build the search for the words of a query among what another query finds, or among all."""
        words = _build_words_query(query_stems(query, self._published.stemmers))
        return sort_best_first({"bool": {"must": [words], "filter": among}} if among else words, k)


def parse_scores(reply: Json) -> Found:
    """Parse the numbers and the scores in a reply whose hits are sorted by both: none need be computed again."""
    found = [hit["sort"] for hit in reply["hits"]["hits"]]
    return np.array([each[1] for each in found], np.int64), np.array([each[0] for each in found], np.float32)


class ClusterVectors(_ClusterSearch):
    """The documents nearest to a vector."""

    def nearest(self, vector: NDArray[np.float32], k: int) -> Found:
        """Find the k documents of highest cosine, and their cosines."""
        return self.nearest_many(vector[np.newaxis], k)[0]

    def nearest_many(self, vectors: NDArray[np.float32], k: int) -> Sequence[Found]:
        """Find the same for each of several vectors, in one request: as many for each."""
        k = min(k, len(self))
        if k <= 0:
            return [make_empty() for _ in vectors]
        searches = [Search(self._kind, self.build_body(vector, k)) for vector in vectors]
        replies = self._published.search_all(searches)
        return [self.rank_reply(vector, reply, k) for vector, reply in zip(vectors, replies, strict=True)]

    def rank_reply(self, vector: NDArray[np.float32], reply: Json, k: int) -> Found:
        """Rank the best k of a reply by their exact cosines."""
        sources = [hit["_source"] for hit in reply["hits"]["hits"]]
        self._documents.remember(sources)
        scores = compute_cosines(self._kind, vector, sources)
        best = sorted(range(len(sources)), key=lambda place: (-scores[place], sources[place]["number"]))[:k]
        return np.array([sources[place]["number"] for place in best], np.int64), scores[best]

    def build_body(self, vector: NDArray[np.float32], k: int, among: Json | None = None) -> Json:
        """Build the search for one vector among what another query finds, or among all.

        More triples are fetched than are wanted: the cluster compares with a rounded vector, and the best are chosen
        here.
        """
        extra = k // 4 + _EXTRA_TRIPLES if self._kind == "triples" else 0
        similar = build_similarity_query(self._kind, vector, among or {"match_all": {}})
        return sort_best_first(similar, max(k, min(k + extra, MAX_RESULTS)))


def build_similarity_query(kind: str, vector: NDArray[np.float32], query: Json) -> Json:
    """Build a query that scores what another query finds by its similarity to a vector: every vector is compared.

    Unit vectors are compared by their product, stored numbers by their angle. A vector of zeros has no direction: the
    cluster refuses to compare its angle, and nothing is nearer to it.
    """
    if not vector.any():
        return {"constant_score": {"filter": query}}
    space = "cosinesimil" if kind == "triples" else "innerproduct"
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
    return {"query": query, "size": size, "sort": [{"_score": "desc"}, {"number": "asc"}]}


def make_empty() -> Found:
    return np.zeros(0, np.int64), np.zeros(0, np.float32)


class ClusterTriples(CachedDocuments):
    """`SourceTriples` over a cluster."""

    def __init__(self, passages: ClusterPassages) -> None:
        super().__init__(passages.published, "triples")
        self._passages = passages
        self.vector_search = ClusterVectors(self)

    def fetch_triples(self, triple_ids: Iterable[int] | NDArray[np.int64]) -> list[Json]:
        """Return the documents of these triples."""
        numbers = [int(each) for each in triple_ids]
        found = self.fetch(numbers)
        if len(found) < len(set(numbers)):
            raise BadInputError("a triple is not in this index: ids must be those that it returned.")
        return [found[number] for number in numbers]

    def triple(self, triple_id: int) -> Triple:
        """Return the triple itself."""
        return triple_of(self.fetch_triples([triple_id])[0])

    def triples_of(self, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the triples of these passages."""
        numbers: dict[str, list[int]] = {}
        query = {"terms": {"passage": list(dict.fromkeys(passage_ids))}}
        for source in self.fetch_in_order(query) if passage_ids else ():
            numbers.setdefault(source["passage"], []).append(source["number"])
        self._passages.of([id_ for id_ in passage_ids if id_ not in numbers])  # those without triples must be there
        return np.array([number for id_ in passage_ids for number in numbers.get(id_, ())], np.int64)

    def fetch_in_order(self, query: Json) -> list[Json]:
        """Fetch what a query finds, in the order of passages and of extraction."""
        body = {"query": query, "size": MAX_RESULTS, "sort": [{"passage": "asc"}, {"place": "asc"}]}
        sources = [hit["_source"] for hit in self.published.search("triples", body)["hits"]["hits"]]
        self.remember(sources)
        return sources

    def passage_of(self, triple_ids: Numbers) -> list[str]:
        """Return the passage of each triple."""
        return [each["passage"] for each in self.fetch_triples(triple_ids)]

    def vectors(self, triple_ids: Numbers) -> NDArray[np.float32]:
        """Return the stored unit vector of each triple."""
        codes = [each["code"] for each in self.fetch_triples(triple_ids)]
        return dequantize(decode("triples", codes, self.published.manifest.embedder.dimension))

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
        k, ends = min(limit + 1, MAX_RESULTS), [each["ends"] for each in self.fetch_triples(triple_ids)]
        entities = list(dict.fromkeys(end for of_one in ends for end in of_one))
        bodies = (self.vector_search.build_body(query, k, {"term": {"ends": each}}) for each in entities)
        replies = self.published.search_all([Search("triples", body) for body in bodies])
        ranked = (self.vector_search.rank_reply(query, reply, k) for reply in replies)
        around = {each: dict(zip(*found, strict=True)) for each, found in zip(entities, ranked, strict=True)}
        return [
            _select_best({number: score for end in of_one for number, score in around[end].items()}, int(own), limit)
            for own, of_one in zip(triple_ids, ends, strict=True)
        ]


def _select_best(scores: Mapping[int, float], own: int, limit: int) -> NDArray[np.int64]:
    """Select the best of them except the triple itself, ties by number."""
    others = sorted((number for number in scores if number != own), key=lambda number: (-scores[number], number))
    return np.array(others[:limit], np.int64)
