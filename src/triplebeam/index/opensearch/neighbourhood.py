"""The neighbourhood of a question, as an index in memory: what walks and messages run on.

A few requests fetch the passages that a walk from the question can reach in its first steps: those that its words and
its meaning find, those of the nearest triples and of the entities that it names, and then all that share an entity with
the best of them, unless too many do. Graphs are made of these passages by the code that makes those of an index folder.
What is rare is rare in the whole index: the cluster scores words, and entities know how many passages mention them.

What is missing are longer ways: from a passage of the neighbourhood to one that only it leads to. docs/opensearch.md
has measurements of what that costs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.keys import Keys, as_keys
from triplebeam.index.content.annotations import Annotations
from triplebeam.index.content.content import Content
from triplebeam.index.content.corrected import Correcting
from triplebeam.index.content.references import REFERENCES
from triplebeam.index.folder.entity_graph import EntityGraph
from triplebeam.index.folder.generation import write_generation
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.index.folder.passages import PassageTable
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.triple_graph import TripleGraph
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.index.manifest import Manifest
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import decode, entity, key, passage_of, triple_of
from triplebeam.index.opensearch.generation import Published
from triplebeam.index.opensearch.search import ClusterTerms, ClusterVectors, similar
from triplebeam.index.opensearch.triples import ClusterTriples
from triplebeam.index.store.corrections import Corrections
from triplebeam.text.names import entity_key

#: Passages that each way of searching begins with.
SEEDS = 100
#: The best of each, whose entities lead on.
_LEADING = 20
#: The nearest triples, whose passages are there, and whose entities lead on.
_SEED_TRIPLES = 30
#: Passages in all.
PASSAGES = 600
#: Entities of more passages lead everywhere.
_MOST_PASSAGES = 50
#: Words of a name in a question.
_LONGEST_NAME = 6
_MOST_NAMES = 1000
_MOST_TRIPLES = 100_000


@dataclass(frozen=True)
class Neighbourhoods:
    """Fetches neighbourhoods in one index."""

    published: Published
    passage_terms: ClusterTerms = field(repr=False)
    triple_terms: ClusterTerms = field(repr=False)
    passage_vectors: ClusterVectors = field(repr=False)
    triples: ClusterTriples = field(repr=False)
    passages: int = PASSAGES

    def of_question(self, question: str, vector: NDArray[np.float32]) -> Snapshot:
        """What is near a question."""
        seeds = self._seeds(question, vector)
        triples = self.triples.known(self.triples.search(vector, _SEED_TRIPLES)[0])
        leading = [hit for hits in seeds for hit in hits[:_LEADING]]
        ends = {end for triple in triples for end in triple.ends}
        ends |= {end for triple in self._triples([hit["id"] for hit in leading]) for end in triple["ends"]}
        ends |= set(_named(question))
        found = {hit["id"]: hit for hits in seeds for hit in hits}
        found |= {
            each["id"]: each for each in self._passages(each.passage for each in triples if each.passage not in found)
        }
        for hit in self._mentioning(ends, question, vector):
            if len(found) < self.passages:
                found.setdefault(hit["id"], hit)
        return self._made(list(found.values()))

    def of_passages(self, passage_ids: Sequence[str], names: Sequence[str] = ()) -> Snapshot:
        """These passages and those that mention entities of these names, and all that share an entity with one of them,
        as far as they go.
        """
        found = {each["id"]: each for each in self._passages(passage_ids)}
        if names:
            body = {"query": {"terms": {"entities": list(map(entity, names))}}, "size": self.passages}
            found |= {hit["id"]: hit for hit in _sources(self.published.search("passages", body))}
        ends = {end for triple in self._triples(list(found)[:SEEDS]) for end in triple["ends"]}
        for hit in self._mentioning(ends):
            found.setdefault(hit["id"], hit)
        return self._made(list(found.values()))

    def _seeds(self, question: str, vector: NDArray[np.float32]) -> list[list[Json]]:
        """Passages by words, by meaning, by title and by the entities in the question."""
        bodies = [
            self.passage_terms.body(question, SEEDS),
            self.passage_vectors.body(vector, SEEDS),
            {"query": similar("passages", vector, {"terms": {"title_keys": _phrases(question)}}), "size": SEEDS},
            {"query": similar("passages", vector, {"terms": {"entities": _named(question)}}), "size": SEEDS},
        ]
        return [_sources(reply) for reply in self.published.search_many("passages", bodies)]

    def _passages(self, passage_ids: Iterable[str]) -> list[Json]:
        keys = [key(id_) for id_ in dict.fromkeys(passage_ids)]
        return [source for source in self.published.sources("passages", keys) if source]

    def _triples(self, passage_ids: Sequence[str]) -> list[Json]:
        body = {"query": {"terms": {"passage": list(dict.fromkeys(passage_ids))}}, "size": _MOST_TRIPLES}
        return _sources(self.published.search("triples", body))

    def _mentioning(
        self, ends: Iterable[str], question: str = "", vector: NDArray[np.float32] | None = None
    ) -> list[Json]:
        """Passages that mention one of these entities; in turns, the most similar to a question and the best by its
        words.
        """
        keys = sorted(ends)
        counts = [source["passages"] if source else 0 for source in self.published.sources("entities", keys)]
        rare = [each for each, count in zip(keys, counts, strict=True) if 0 < count <= _MOST_PASSAGES]
        sharing: Json = {"bool": {"filter": {"terms": {"entities": rare}}}}
        if vector is None:
            return _sources(self.published.search("passages", {"query": sharing, "size": self.passages}))
        words = self.passage_terms.body(question, 0)["query"]
        queries = similar("passages", vector, sharing), {"bool": {"must": [words], "filter": [sharing]}}
        bodies = [{"query": query, "size": self.passages // 2} for query in queries]
        found = map(_sources, self.published.search_many("passages", bodies))
        return [hit for pair in zip_longest(*found) for hit in pair if hit]

    def _made(self, sources: list[Json]) -> Snapshot:
        """An index of these passages."""
        sources.sort(key=lambda each: (each["document"], each["position"]))
        rows = {each["id"]: row for row, each in enumerate(sources)}
        triples = sorted(self._triples(list(rows)), key=lambda each: (rows[each["passage"]], each["place"]))
        contents = _contents(sources, triples, rows, self.published.manifest)
        keys = [entity(name) for name in contents.entity_names]
        known = dict(zip(keys, self.published.sources("entities", keys), strict=True))
        counted = np.array([(known[each] or {"passages": 1})["passages"] for each in keys], np.int64)
        vectors = _Fetched(sources, triples, known, self.published.dimension)
        arrays = MemoryArrays()
        write_generation(arrays, contents, vectors, MemoryArrays(), in_whole=counted)
        passages = PassageTable(arrays)
        graph = TripleGraph(arrays, passages)
        return Snapshot(
            folder=self.published.client.cluster.state,
            manifest=self.published.manifest,
            arrays=arrays,
            passages=passages,
            triples=graph,
            passage_terms=_NearbyTerms(self.passage_terms, sources),
            triple_terms=_NearbyTerms(self.triple_terms, triples),
            passage_vectors=VectorIndex(arrays, "passage_vectors"),
            entities=replace(EntityGraph.open(arrays, graph), counted=counted),
            passage_graph=PassageGraph.open(arrays),
            references=arrays.array(REFERENCES),
        )


class _NearbyTerms:
    """BM25 of the whole index, for the documents of a neighbourhood."""

    def __init__(self, whole: ClusterTerms, sources: Sequence[Json]) -> None:
        self._whole = whole
        self._local = {each["number"]: row for row, each in enumerate(sources)}
        self._stemmers = [each["stemmer"] for each in sources]

    def __len__(self) -> int:
        return len(self._local)

    def search(self, query: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best k rows."""
        numbers, scores = self._whole.search(query, min(k, len(self)), among=list(self._local))
        return np.array([self._local[number] for number in numbers.tolist()], np.int64), scores

    def stemmers_of(self, rows: Sequence[int]) -> list[str]:
        """The stemmers of the texts at these rows."""
        return [self._stemmers[row] for row in rows]


@dataclass(frozen=True)
class _Fetched:
    """The vectors of documents that were fetched."""

    passages: Sequence[Json] = field(repr=False)
    triples: Sequence[Json] = field(repr=False)
    entities: "dict[str, Json | None]" = field(repr=False)
    dimension: int

    def keys(self, texts: Sequence[str]) -> Keys:
        """Return none: nothing is taken over from a neighbourhood."""
        return as_keys([])

    def vectors(self, kind: str, texts: Sequence[str]) -> NDArray[Any]:
        """Return those of one kind; passages and triples come in their order, entities by name."""
        if kind != "entity":
            sources = self.passages if kind == "passage" else self.triples
            return decode(f"{kind}s", [each["code"] for each in sources], self.dimension)
        found = [self.entities.get(entity(name)) for name in texts]
        # A term that is defined in these passages, and is no entity of the whole, has no vector.
        stored = np.zeros((len(texts), self.dimension), np.int8)
        there = [place for place, each in enumerate(found) if each]
        stored[there] = decode("entities", [each["code"] for each in found if each], self.dimension)
        return stored


def _contents(sources: Sequence[Json], triples: Sequence[Json], rows: dict[str, int], whole: Manifest) -> Content:
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
        correcting=Correcting(Corrections()),
        in_context=whole.embedder.triples_in_context,
        keyword_passages=whole.keyword_passages,
    )


def _phrases(question: str) -> list[str]:
    """What may be a name in a question, in its normal form."""
    words = entity_key(question).split()
    spans = [
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    ]
    return list(dict.fromkeys(spans))[:_MOST_NAMES]


def _named(question: str) -> list[str]:
    return [key(phrase) for phrase in _phrases(question)]


def _sources(reply: Json) -> list[Json]:
    return [hit["_source"] for hit in reply["hits"]["hits"]]
