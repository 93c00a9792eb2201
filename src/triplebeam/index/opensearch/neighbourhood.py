"""The neighbourhood of a query, as an index in memory: what walks and messages run on.

Five requests at the most fetch the passages that a walk from the query can reach in its first steps: those that its
words and its meaning find, those of the nearest triples and of the entities that it names, and then all that share an
entity with the best of them, unless too many do. Graphs are made of these passages by the code that makes those of an
index folder. What is rare is rare in the whole index: the cluster scores words, and entities know how many passages
mention them.

What is missing are longer ways: from a passage of the neighbourhood to one that only it leads to. docs/opensearch.md
has measurements of what that costs.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import Keys, pack_keys
from triplebeam.index.content.content import Annotations, Content
from triplebeam.index.content.corrected import CorrectionApplier
from triplebeam.index.folder.generation import write_generation
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import VECTORS, decode, encode, entity, key, number_of, passage_of, triple_of
from triplebeam.index.opensearch.fetched import Documents, FetchedDocuments
from triplebeam.index.opensearch.generation import Search
from triplebeam.index.opensearch.search import (
    NUMBERS_ALONE,
    ClusterTerms,
    ClusterTriples,
    ClusterVectors,
    parse_scores,
)
from triplebeam.index.source import Found, Manifest, Query
from triplebeam.text.names import entity_key

#: Passages that each way of searching begins with.
MAX_SEEDS = 100
#: The best of each, whose entities lead on.
_MAX_LEADING = 20
#: The nearest triples, whose passages are there, and whose entities lead on.
_MAX_SEED_TRIPLES = 30
#: Passages in all.
_MAX_PASSAGES = 600
#: Entities of more passages lead everywhere.
_MAX_ENTITY_PASSAGES = 50
#: Words of a name in a question.
_MAX_NAME_WORDS = 6
_MAX_NAMES = 1000
#: What is needed of a hit at first: the columns of the cluster are read faster than its documents.
_COLUMNS: Json = {**NUMBERS_ALONE, "docvalue_fields": ["id", "entities"]}
#: Ids of passages, and the keys of the entities that each mentions.
_Hits: TypeAlias = dict[str, Sequence[str]]


@dataclass(frozen=True)
class Neighbourhoods:
    """Fetches neighbourhoods in one index."""

    fetched: FetchedDocuments
    passage_terms: ClusterTerms = field(repr=False)
    triple_terms: ClusterTerms = field(repr=False)
    passage_vectors: ClusterVectors = field(repr=False)
    triples: ClusterTriples = field(repr=False)

    def of_query(self, query: Query) -> Snapshot:
        """Fetch what is near a query."""
        seeds, triples = self._search_seeds(query)
        found = {id_: hits[id_] for hits in seeds for id_ in hits}
        leading = {id_: hits[id_] for hits in seeds for id_ in list(hits)[:_MAX_LEADING]}
        ends = {end for triple in triples for end in triple["ends"]} | set(map(key, _phrases(query.text)))
        others = [each["passage"] for each in triples if each["passage"] not in found]
        for id_, entities in self._search_mentions(self._find_ends(leading, ends), query, others):
            if len(found) < _MAX_PASSAGES:
                found.setdefault(id_, entities)
        return self._make(found, [query.text, *query.clauses])

    def of_passages(self, passage_ids: Sequence[str], names: Sequence[str] = ()) -> Snapshot:
        """Fetch these passages, those that mention entities of these names, and those that share an entity with one
        of them, up to a limit.
        """
        named = {"query": {"terms": {"entities": list(map(entity, names))}}, "size": _MAX_PASSAGES, **_COLUMNS}
        documents, replies = self.fetched.fetch(
            passage_ids, passage_ids, searches=[Search("passages", named)] if names else []
        )
        found: _Hits = dict.fromkeys(documents.passages, ())
        for reply in replies:
            found |= _read_hits(reply)
        leading: _Hits = dict.fromkeys(list(found)[:MAX_SEEDS], ())
        return self._make({**found, **dict(self._search_mentions(self._find_ends(leading)))})

    def _search_seeds(self, query: Query) -> tuple[list[_Hits], list[Json]]:
        """Search passages by words, by meaning, by title and by the entities in the query; and the nearest triples."""
        phrases = _phrases(query.text)
        among = None, {"terms": {"title_keys": phrases}}, {"terms": {"entities": list(map(key, phrases))}}
        bodies = [
            self.passage_terms.build_body(query.text, MAX_SEEDS),
            *(self.passage_vectors.build_body(query.vector, MAX_SEEDS, each) for each in among),
        ]
        searches = [Search("passages", {**body, **_COLUMNS}, by_words=not place) for place, body in enumerate(bodies)]
        count = min(_MAX_SEED_TRIPLES, len(self.triples))
        near = self.triples.vector_search
        replies = self.fetched.published.search_all(
            [*searches, Search("triples", near.build_body(query.vector, count))] if count else searches
        )
        numbers = near.rank_reply(query.vector, replies[-1], count)[0] if count else np.zeros(0, np.int64)
        return [_read_hits(reply) for reply in replies[: len(bodies)]], self.triples.fetch_triples(numbers)

    def _find_ends(self, leading: _Hits, ends: Set[str] = frozenset()) -> Set[str]:
        """Find the entities that lead on from these passages, and more of them, by their keys; how many passages
        mention them is fetched along.
        """
        mentioned = {each for entities in leading.values() for each in entities}
        triples = self.fetched.fetch(triples_of=leading, entity_keys=sorted(ends | mentioned))[0].triples
        return ends | {end for id_ in leading for triple in triples[id_] for end in triple["ends"]}

    def _search_mentions(
        self, ends: Iterable[str], query: Query | None = None, others: Sequence[str] = ()
    ) -> list[tuple[str, Sequence[str]]]:
        """Search the other passages, then those that mention one of these entities; in turns, the most similar to a
        query and the best by its words.
        """
        keys = sorted(ends)
        known = self.fetched.fetch(entity_keys=keys)[0].entities
        rare = [each for each in keys if 0 < (known[each] or {"passages": 0})["passages"] <= _MAX_ENTITY_PASSAGES]
        sharing: Json = {"bool": {"filter": {"terms": {"entities": rare}}}}
        if query is None:
            body = {"query": sharing, "size": _MAX_PASSAGES, **_COLUMNS}
            return list(_read_hits(self.fetched.published.search("passages", body)).items())
        size = _MAX_PASSAGES // 2
        queries = (
            {"ids": {"values": list(map(key, others))}},
            self.passage_vectors.build_body(query.vector, size, sharing)["query"],
            self.passage_terms.build_body(query.text, size, sharing)["query"],
        )
        bodies = ({"query": each, "size": size, **_COLUMNS} for each in queries)
        searches = [Search("passages", body, by_words=place == 2) for place, body in enumerate(bodies)]
        first, *turns = (_read_hits(reply).items() for reply in self.fetched.published.search_all(searches))
        return [*first, *(hit for pair in zip_longest(*turns) for hit in pair if hit)]

    def _make(self, hits: _Hits, texts: Sequence[str] = ()) -> Snapshot:
        """Make an index of these passages, whose words will be searched for these texts."""
        numbers = sorted(map(number_of, hits))
        entities = sorted({each for of_one in hits.values() for each in of_one})
        searches = [self.passage_terms.restrict_search(text, numbers) for text in texts]
        documents, replies = self.fetched.fetch(hits, hits, entities, searches)
        return self._build(documents, dict(zip(texts, map(parse_scores, replies), strict=True)))

    def _build(self, documents: Documents, scores: Mapping[str, Found]) -> Snapshot:
        published = self.fetched.published
        dimension = published.manifest.embedder.dimension
        sources = sorted(documents.passages.values(), key=lambda each: (each["document"], each["position"]))
        rows = {each["id"]: row for row, each in enumerate(sources)}
        triples = [triple for id_ in rows for triple in documents.triples.get(id_, ())]
        content = _content(sources, triples, rows, published.manifest)
        keys = [entity(name) for name in content.entity_names]
        entities = self.fetched.fetch(entity_keys=keys)[0].entities
        # A term that is defined in these passages, and is no entity of the whole, has no vector.
        other: Json = {"passages": 1, "code": encode(np.zeros(dimension, np.int8))}
        known = [entities[each] or other for each in keys]
        counted = np.array([each["passages"] for each in known], np.int64)
        stored = {
            VECTORS[kind]: decode(kind, [each["code"] for each in found], dimension)
            for kind, found in (("passages", sources), ("triples", triples), ("entities", known))
        }
        arrays = MemoryArrays()
        write_generation(arrays, content, _FetchedVectors(stored), MemoryArrays(), in_whole=counted)
        terms = _TermsNearby(self.passage_terms, sources, scores), _TermsNearby(self.triple_terms, triples, {})
        found = Snapshot.read(published.client.cluster.state, published.manifest, arrays, terms)
        return replace(found, entities=replace(found.entities, counted=counted))


class _TermsNearby:
    """BM25 of the whole index, for the documents of a neighbourhood."""

    def __init__(self, whole: ClusterTerms, sources: Sequence[Json], known: Mapping[str, Found]) -> None:
        self._whole, self._known = whole, known
        self._local = {each["number"]: row for row, each in enumerate(sources)}
        self._stemmers = [each["stemmer"] for each in sources]

    def __len__(self) -> int:
        return len(self._local)

    def search(self, query: str, k: int) -> Found:
        """Find the best k rows."""
        numbers, scores = self._known.get(query) or self._whole.search_among(query, list(self._local))
        rows = np.array([self._local[number] for number in numbers[: max(k, 0)].tolist()], np.int64)
        return rows, scores[: max(k, 0)]

    def stemmers_of(self, rows: Sequence[int]) -> list[str]:
        """Return the stemmers of the texts at these rows."""
        return [self._stemmers[row] for row in rows]


@dataclass(frozen=True)
class _FetchedVectors:
    """The stored vectors of documents that were fetched, by their kind."""

    stored: Mapping[str, NDArray[Any]] = field(repr=False)

    def keys(self, texts: Sequence[str]) -> Keys:
        """Return none: nothing is taken over from a neighbourhood."""
        return pack_keys([])

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return those of one kind, in their order."""
        return self.stored[kind]


def _content(sources: Sequence[Json], triples: Sequence[Json], rows: dict[str, int], whole: Manifest) -> Content:
    contents = [each["content"] for each in sources]
    links = [(row, rows[there]) for row, content in enumerate(contents) for there in content["links"] if there in rows]
    return Content(
        passages=list(map(passage_of, sources)),
        triples=list(map(triple_of, triples)),
        triple_rows=[rows[each["passage"]] for each in triples],
        annotations=Annotations(
            extractors=[content["extractor"] for content in contents],
            names=[content["names"] for content in contents],
            keywords=[content["keywords"] for content in contents],
            links=np.array(sorted(links), np.int64).reshape(-1, 2),
        ),
        correcting=CorrectionApplier(),
        in_context=whole.embedder.triples_in_context,
        keyword_passages=whole.keyword_passages,
    )


def _phrases(question: str) -> list[str]:
    """Return phrases of a question that may be names, in normal form."""
    words = entity_key(question).split()
    spans = [
        " ".join(words[start : start + length])
        for length in range(1, _MAX_NAME_WORDS + 1)
        for start in range(len(words) - length + 1)
    ]
    return list(dict.fromkeys(spans))[:_MAX_NAMES]


def _read_hits(reply: Json) -> _Hits:
    columns = (hit["fields"] for hit in reply["hits"]["hits"])
    return {each["id"][0]: each.get("entities", ()) for each in columns}
