"""The neighbourhood of a query, as an index in memory: what walks and messages run on.

Five requests at the most fetch the passages that a walk from the query can reach in its first steps: those that its
words and its meaning find, those of the nearest triples and of the entities that it names, and then all that share an
entity with the best of them, unless too many do. Graphs are made of these passages by the code that makes those of an
index folder. What is rare is rare in the whole index: the cluster scores words, and entities know how many passages
mention them.

What is missing are longer ways: from a passage of the neighbourhood to one that only it leads to. docs/opensearch.md
has measurements of what that costs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import Keys, pack_keys
from triplebeam.index.content.content import Annotations, Content
from triplebeam.index.content.corrected import CorrectionApplier
from triplebeam.index.folder.generation import write_generation
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import decode, entity, key, number_of, passage_of, triple_of
from triplebeam.index.opensearch.fetched import Documents, FetchedDocuments
from triplebeam.index.opensearch.generation import Search
from triplebeam.index.opensearch.search import (
    NUMBERS_ALONE,
    ClusterTerms,
    ClusterTriples,
    ClusterVectors,
    build_similarity_query,
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
MAX_PASSAGES = 600
#: Entities of more passages lead everywhere.
_MAX_ENTITY_PASSAGES = 50
#: Words of a name in a question.
_MAX_NAME_WORDS = 6
_MAX_NAMES = 1000
#: What is needed of a hit at first: the columns of the cluster are read faster than its documents.
_COLUMNS: Json = {**NUMBERS_ALONE, "docvalue_fields": ["id", "entities"]}


class _Hit(NamedTuple):
    """A passage that was found, and the keys of the entities that it mentions."""

    id: str
    entities: Sequence[str]


@dataclass(frozen=True)
class Neighbourhoods:
    """Fetches neighbourhoods in one index."""

    fetched: FetchedDocuments
    passage_terms: ClusterTerms = field(repr=False)
    triple_terms: ClusterTerms = field(repr=False)
    passage_vectors: ClusterVectors = field(repr=False)
    triples: ClusterTriples = field(repr=False)
    passages: int = MAX_PASSAGES

    def of_query(self, query: Query) -> Snapshot:
        """Fetch what is near a query."""
        seeds, triples = self._search_seeds(query)
        found = {hit.id: hit for hits in seeds for hit in hits}
        ends = self._find_leading_entities([hit for hits in seeds for hit in hits[:_MAX_LEADING]], triples, query)
        others = [each["passage"] for each in triples if each["passage"] not in found]
        for hit in self._search_mentions(ends, query, others):
            if len(found) < self.passages:
                found.setdefault(hit.id, hit)
        return self._make(found.values(), [query.text, *query.clauses])

    def of_passages(self, passage_ids: Sequence[str], names: Sequence[str] = ()) -> Snapshot:
        """Fetch these passages and those that mention entities of these names, and all that share an entity with one
        of them, as far as they go.
        """
        named = {"query": {"terms": {"entities": list(map(entity, names))}}, "size": self.passages, **_COLUMNS}
        documents, replies = self.fetched.fetch(
            passage_ids, passage_ids, searches=[Search("passages", named)] if names else []
        )
        found = {id_: _Hit(id_, ()) for id_ in documents.passages}
        found |= {hit.id: hit for reply in replies for hit in _hits(reply)}
        leading = list(found)[:MAX_SEEDS]
        triples = self.fetched.fetch(triples_of=leading)[0].triples
        ends = {end for id_ in leading for triple in triples[id_] for end in triple["ends"]}
        for hit in self._search_mentions(ends):
            found.setdefault(hit.id, hit)
        return self._make(found.values())

    def _search_seeds(self, query: Query) -> tuple[list[list[_Hit]], list[Json]]:
        """Search passages by words, by meaning, by title and by the entities in the query; and the nearest triples."""
        phrases = _phrases(query.text)
        known = {"title_keys": phrases}, {"entities": list(map(key, phrases))}
        bodies = [
            self.passage_terms.build_body(query.text, MAX_SEEDS),
            self.passage_vectors.build_body(query.vector, MAX_SEEDS),
            *(
                {"query": build_similarity_query("passages", query.vector, {"terms": terms}), "size": MAX_SEEDS}
                for terms in known
            ),
        ]
        searches = [Search("passages", {**body, **_COLUMNS}, by_words=not place) for place, body in enumerate(bodies)]
        count = min(_MAX_SEED_TRIPLES, len(self.triples))
        near = self.triples.vector_search
        replies = self.fetched.published.search_all(
            [*searches, Search("triples", near.build_body(query.vector, count))] if count else searches
        )
        numbers = near.rank_reply(query.vector, replies[-1], count)[0] if count else np.zeros(0, np.int64)
        return [_hits(reply) for reply in replies[: len(bodies)]], self.triples.fetch_triples(numbers)

    def _find_leading_entities(self, leading: Sequence[_Hit], triples: Sequence[Json], query: Query) -> set[str]:
        """Find the entities that lead on, by their keys; how many passages mention them is fetched along."""
        ends = {end for triple in triples for end in triple["ends"]} | set(map(key, _phrases(query.text)))
        mentioned = {each for hit in leading for each in hit.entities}
        ids = [hit.id for hit in leading]
        documents, _ = self.fetched.fetch(triples_of=ids, entity_keys=sorted(ends | mentioned))
        return ends | {end for id_ in ids for triple in documents.triples[id_] for end in triple["ends"]}

    def _search_mentions(
        self, ends: Iterable[str], query: Query | None = None, others: Sequence[str] = ()
    ) -> list[_Hit]:
        """Search the other passages, then those that mention one of these entities; in turns, the most similar to a
        query and the best by its words.
        """
        keys = sorted(ends)
        known = self.fetched.fetch(entity_keys=keys)[0].entities
        rare = [each for each in keys if 0 < (known[each] or {"passages": 0})["passages"] <= _MAX_ENTITY_PASSAGES]
        sharing: Json = {"bool": {"filter": {"terms": {"entities": rare}}}}
        if query is None:
            return _hits(
                self.fetched.published.search("passages", {"query": sharing, "size": self.passages, **_COLUMNS})
            )
        words = self.passage_terms.build_body(query.text, 0)["query"]
        queries = (
            {"ids": {"values": list(map(key, others))}},
            build_similarity_query("passages", query.vector, sharing),
            {"bool": {"must": [words], "filter": [sharing]}},
        )
        searches = [
            Search("passages", {"query": each, "size": self.passages // 2, **_COLUMNS}, by_words=place == 2)
            for place, each in enumerate(queries)
        ]
        first, *turns = map(_hits, self.fetched.published.search_all(searches))
        return [*first, *(hit for pair in zip_longest(*turns) for hit in pair if hit)]

    def _make(self, hits: Collection[_Hit], texts: Sequence[str] = ()) -> Snapshot:
        """Make an index of these passages, whose words will be searched for these texts."""
        ids = [hit.id for hit in hits]
        numbers = sorted(map(number_of, ids))
        entities = sorted({each for hit in hits for each in hit.entities})
        searches = [self.passage_terms.restrict_search(text, numbers) for text in texts]
        documents, replies = self.fetched.fetch(ids, ids, entities, searches)
        return self._build(documents, dict(zip(texts, map(parse_scores, replies), strict=True)))

    def _build(self, documents: Documents, scores: Mapping[str, Found]) -> Snapshot:
        published = self.fetched.published
        sources = sorted(documents.passages.values(), key=lambda each: (each["document"], each["position"]))
        rows = {each["id"]: row for row, each in enumerate(sources)}
        triples = [triple for id_ in rows for triple in documents.triples.get(id_, ())]
        content = _content(sources, triples, rows, published.manifest)
        keys = [entity(name) for name in content.entity_names]
        entities = self.fetched.fetch(entity_keys=keys)[0].entities
        counted = np.array([(entities[each] or {"passages": 1})["passages"] for each in keys], np.int64)
        vectors = _FetchedVectors(sources, triples, [entities[each] for each in keys], published.dimension)
        arrays = MemoryArrays()
        write_generation(arrays, content, vectors, MemoryArrays(), in_whole=counted)
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
    """The vectors of documents that were fetched."""

    passages: Sequence[Json] = field(repr=False)
    triples: Sequence[Json] = field(repr=False)
    entities: Sequence[Json | None] = field(repr=False)
    dimension: int

    def keys(self, texts: Sequence[str]) -> Keys:
        """Return none: nothing is taken over from a neighbourhood."""
        return pack_keys([])

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return those of one kind, in their order."""
        if kind != "entity":
            sources = self.passages if kind == "passage" else self.triples
            return decode(f"{kind}s", [each["code"] for each in sources], self.dimension)
        # A term that is defined in these passages, and is no entity of the whole, has no vector.
        stored = np.zeros((len(texts), self.dimension), np.int8)
        there = [place for place, each in enumerate(self.entities) if each]
        stored[there] = decode("entities", [each["code"] for each in self.entities if each], self.dimension)
        return stored


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


def _hits(reply: Json) -> list[_Hit]:
    columns = (hit["fields"] for hit in reply["hits"]["hits"])
    return [_Hit(each["id"][0], each.get("entities", ())) for each in columns]
