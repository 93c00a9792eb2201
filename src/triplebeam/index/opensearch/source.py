"""A published generation on a cluster, open for reading, and filters as its queries.

Every field of a passage is one term, its name and its value. What a comparison holds for is decided here, by the code
that filters an index folder, for each value that the field has; the cluster then looks for these terms. So numbers and
dates are compared in the same way in both kinds of index.

A value that is too long for a term cannot be compared. A passage that has one in a field of the filter is not shown,
whatever the filter says: that a comparison fails for it would let `not …` show it.
"""

import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError, ClusterError, IndexMissingError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import Cluster
from triplebeam.index.opensearch.client import Client, Json
from triplebeam.index.opensearch.documents import FIELD_END, TOO_LONG, entity
from triplebeam.index.opensearch.fetched import ClusterPassages, FetchedDocuments
from triplebeam.index.opensearch.generation import Published, find_published
from triplebeam.index.opensearch.hybrid import ClusterHybrid
from triplebeam.index.opensearch.neighbourhood import Neighbourhoods
from triplebeam.index.opensearch.search import ClusterTerms, ClusterTriples, ClusterVectors
from triplebeam.index.source import Found, GraphStatistics, Manifest, Query
from triplebeam.where import Where
from triplebeam.where.conditions import AllOf, AnyOf, Comparison, Condition, Not

_LOG = logging.getLogger("triplebeam")
_SECONDS_TO_LOOK, _SECONDS_BETWEEN_LOOKS = 3.0, 1.0
#: The most values of one field that a filter may have to look at; also what a cluster takes in one query.
_MAX_VALUES = 60_000


@dataclass(frozen=True)
class ClusterSource:
    """A generation on a cluster, or its passages that may be seen. Graphs are made around a question."""

    published: Published

    @property
    def location(self) -> Cluster:
        """The cluster."""
        return self.published.client.cluster

    @property
    def manifest(self) -> Manifest:
        """What is in it."""
        return self.published.manifest

    @cached_property
    def passages(self) -> ClusterPassages:
        """Its passages."""
        return ClusterPassages(self.published)

    @cached_property
    def triples(self) -> ClusterTriples:
        """Its triples."""
        return ClusterTriples(self.passages)

    @cached_property
    def passage_terms(self) -> ClusterTerms:
        """BM25 over passages."""
        return ClusterTerms(self.passages)

    @cached_property
    def triple_terms(self) -> ClusterTerms:
        """BM25 over triples."""
        return ClusterTerms(self.triples)

    @cached_property
    def passage_vectors(self) -> ClusterVectors:
        """The vectors of passages."""
        return ClusterVectors(self.passages)

    @cached_property
    def _neighbourhoods(self) -> Neighbourhoods:
        fetched = FetchedDocuments(self.passages)
        return Neighbourhoods(fetched, self.passage_terms, self.triple_terms, self.passage_vectors, self.triples)

    def filter(self, where: Where) -> "ClusterSource":
        """Return the passages for which a filter holds, on the cluster as before."""
        condition = condition_of(where, self.published)
        visible = replace(self.published, filters=(*self.published.filters, condition))
        return ClusterSource(replace(visible, manifest=_build_manifest(visible)))

    def graph(
        self, query: Query | None = None, *, passages: Sequence[str] = (), entities: Sequence[str] = ()
    ) -> Snapshot:
        """Return what is near a query, or near passages and entities, in memory."""
        if query is not None:
            return self._neighbourhoods.of_query(query)
        if not (passages or entities):
            raise BadInputError(
                "this needs the graph of the whole index, and an index on OpenSearch does not have that in memory: use"
                " an index in a folder for it."
            )
        return self._neighbourhoods.of_passages(passages, entities)

    def search_hybrid(self, query: Query, k: int, matches: int) -> Found:
        """Return the best k passages by the mean of scaled BM25 and scaled cosines."""
        return ClusterHybrid(self.passages, self.passage_terms, self.passage_vectors).search(query, k, matches)

    def triples_about(self, name: str) -> NDArray[np.int64]:
        """Return the triples with an entity, by its name, as subject or object, in the order of their passages."""
        sources = self.triples.fetch_in_order({"term": {"ends": entity(name)}})
        return np.array([source["number"] for source in sources], np.int64)

    def suggest_entity(self, name: str) -> str:
        """Return nothing: names are not searched by their letters."""
        return ""


def open_cluster(cluster: Cluster) -> ClusterSource:
    """Open what is published on a cluster."""
    published = find_published(Client(cluster))
    if published is None:
        raise IndexMissingError(f"there is no index at {cluster}: make one with `triplebeam index {cluster} SOURCE…`.")
    return ClusterSource(published)


@dataclass
class ClusterWatch:
    """Looks which generation is published: at most once a second, and without waiting for long."""

    cluster: Cluster
    _known: object = field(default=None, init=False)
    _next_look: float = field(default=0.0, init=False)

    @cached_property
    def _client(self) -> Client:
        return Client(self.cluster, tries=len(self.cluster.hosts) + 1, seconds=_SECONDS_TO_LOOK)

    def version(self) -> object:
        """Return what changes with a generation; None where nothing is published.

        Where the cluster does not reply, what is known stays: the search itself has more patience, and fails if it
        must.
        """
        if self._known is not None and time.monotonic() < self._next_look:
            return self._known
        try:
            there = find_published(self._client)
            self._known = there and (there.number, there.manifest.created)
        except ClusterError as error:
            if self._known is None:
                raise
            _LOG.warning("cannot check for a new generation: %s", error)
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        return self._known


def _build_manifest(visible: Published) -> Manifest:
    """Build the manifest of the passages that may be seen. What is not counted on a cluster is left out.

    How much walks count in the default search is measured on the whole index, as the rarity of words is.
    """
    passages = visible.count("passages", documents="document", entities="entities")
    triples = visible.count("triples", passages="passage")
    return visible.manifest.model_copy(
        update={
            "counts": {
                "documents": passages["documents"],
                "passages": passages["found"],
                "triples": triples["found"],
                "passages_without_extraction": 0,
                "passages_failed": 0,
                "passages_without_triples": max(0, passages["found"] - triples["passages"]),
                "triples_rejected": 0,
                "entities": passages["entities"],
            },
            "triples_by_extractor": {},
            "unread_languages": {},
            "corrections": None,
            "passage_graph": GraphStatistics(nodes=passages["found"]),
        }
    )


def condition_of(where: Where, published: Published) -> Json:
    """Return the filter as a query; there must be a passage that it finds."""
    names = _terms(published, "field_names", ".*")
    compared = {each.name for each in where.condition.comparisons()}
    known = {name: (name in compared and _values(published, name)) or {""} for name in names}
    where.check(known)
    unknown = {"terms": {"fields": [f"{name}{TOO_LONG}" for name in sorted(compared)]}}
    query: Json = {"bool": {"filter": [_query(where.condition, known)], "must_not": [unknown]}}
    found = published.search("passages", {"query": {"bool": {"filter": [query]}}, "size": 1, "_source": False})
    if not found["hits"]["hits"]:
        meant = "".join(f" (did you mean {value!r}?)" for value in where.find_case_mismatches(known)[:1])
        raise BadInputError(f"no passage matches the filter {str(where)!r}{meant}: change a value or drop a condition.")
    return query


def _query(condition: Condition, known: dict[str, set[str]]) -> Json:
    match condition:
        case AllOf(parts):
            return {"bool": {"filter": [_query(part, known) for part in parts]}}
        case AnyOf(parts):
            return {"bool": {"should": [_query(part, known) for part in parts], "minimum_should_match": 1}}
        case Not(part):
            return {"bool": {"must_not": [_query(part, known)]}}
        case Comparison(name):
            values = sorted(value for value in known[name] if condition.matches({name: value}))
            return {"terms": {"fields": [f"{name}{FIELD_END}{value}" for value in values]}}
        case _:
            raise BadInputError(f"the condition {condition} cannot be used with an index on OpenSearch.")


def _values(published: Published, name: str) -> set[str]:
    """Return the values that passages have in a field."""
    escaped = re.sub(r'([.?+*|{}\[\]()"\\#@&<>~^$-])', r"\\\1", name)
    return {term.partition(FIELD_END)[2] for term in _terms(published, "fields", f"{escaped}{FIELD_END}(.|\n)*")}


def _terms(published: Published, field: str, pattern: str) -> list[str]:
    counted = {"terms": {"field": field, "include": pattern, "size": _MAX_VALUES}}
    reply = published.search("passages", {"query": {"match_all": {}}, "size": 0, "aggs": {"found": counted}})
    found = reply["aggregations"]["found"]
    if found["sum_other_doc_count"]:
        raise BadInputError(
            f"a field of the filter has more than {_MAX_VALUES:,} values, too many for an index on OpenSearch:"
            " filter by another field."
        )
    return [bucket["key"] for bucket in found["buckets"]]
