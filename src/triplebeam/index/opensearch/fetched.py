"""What was fetched of a generation, which never changes: passages by id or number, and documents of neighbourhoods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import MAX_RESULTS, entity, fields_of, key, number_of, passage_of
from triplebeam.index.opensearch.generation import Published, Search
from triplebeam.passage import Passage

#: Size of the cache by number. 10,000 passages take about 50 MB; a walk of a few steps fetches thousands of triples.
_MAX_CACHED = {"passages": 10_000, "triples": 50_000}
#: Passages, those with triples, and entities that are kept, some 50 MB: neighbourhoods of related questions overlap.
_MAX_KEPT = {"passages": 5_000, "triples": 5_000, "entities": 20_000}


class CachedDocuments:
    """Documents of one kind, by number. Safe to use from many threads."""

    def __init__(self, published: Published, kind: str) -> None:
        self.published, self.kind = published, kind
        self._known: dict[int, Json] = {}

    def __len__(self) -> int:
        return self.published.manifest.counts[self.kind]

    def remember(self, sources: Iterable[Json]) -> None:
        """Keep what a search showed."""
        if len(self._known) > _MAX_CACHED[self.kind]:
            self._known = {}
        self._known |= {source["number"]: source for source in sources}

    def fetch(self, numbers: Iterable[int]) -> dict[int, Json]:
        """Return the documents of these numbers that are there; what is not in memory is fetched together."""
        wanted, known = list(numbers), self._known
        found = {number: known[number] for number in wanted if number in known}
        sources = self.published.fetch(self.kind, (number for number in wanted if number not in found))
        self.remember(sources)
        return found | {source["number"]: source for source in sources}

    def fetch_all(self, numbers: Iterable[int] | NDArray[np.int64]) -> list[Json]:
        """Return the documents of these numbers, which this generation had when it was searched."""
        wanted = [int(number) for number in numbers]
        known = self.fetch(wanted)
        if not known.keys() >= set(wanted):
            raise self.published.make_changed_error()
        return [known[number] for number in wanted]


class ClusterPassages(CachedDocuments):
    """`PassageLookup` over a cluster. The row of a passage is its number; there are more numbers than passages."""

    def __init__(self, published: Published) -> None:
        super().__init__(published, "passages")

    def rows(self, passage_ids: Iterable[str]) -> list[int]:
        """Return the numbers of these passages, which must be there: one request."""
        return [number_of(passage.id) for passage in self.of(list(passage_ids))]

    def __getitem__(self, passage_id: str) -> Passage:
        return self.of([passage_id])[0]

    def __contains__(self, passage_id: object) -> bool:
        return isinstance(passage_id, str) and bool(self.fetch([number_of(passage_id)]))

    def of(self, passage_ids: Sequence[str]) -> list[Passage]:
        """Return the passages of these ids, which must be there."""
        numbers = list(map(number_of, passage_ids))
        known = self.fetch(numbers)
        for passage_id, number in zip(passage_ids, numbers, strict=True):
            if number not in known:
                raise BadInputError(
                    f"there is no passage {passage_id!r} in this index: ids must be those that were indexed."
                )
        return [passage_of(known[number]) for number in numbers]

    def ids(self, rows: Iterable[int] | NDArray[np.int64]) -> list[str]:
        """Return the ids of these numbers."""
        return [source["id"] for source in self.fetch_all(rows)]

    # -- all of them, which takes as long as there are many

    def __iter__(self) -> Iterator[Passage]:
        return (passage_of(hit["_source"]) for hit in self._scan_in_order(_source=True))

    def _scan_in_order(self, **body: object) -> Iterator[Json]:
        return self.published.scan("passages", sort=[{"document": "asc"}, {"position": "asc"}], **body)

    @cached_property
    def _sources_in_order(self) -> list[Json]:
        """The document and the title of every passage."""
        return [hit["_source"] for hit in self._scan_in_order(_source=["document", "content.title"])]

    @cached_property
    def documents(self) -> Sequence[str]:
        """The document of every passage."""
        return [each["document"] for each in self._sources_in_order]

    @cached_property
    def titles(self) -> Sequence[str]:
        """The title of every passage."""
        return [each["content"]["title"] for each in self._sources_in_order]

    @cached_property
    def document_ids(self) -> dict[str, None]:
        """The ids of the documents, in their order."""
        return dict.fromkeys(self.documents)

    def of_document(self, document_id: str) -> list[Passage]:
        """Return the passages of a document, in their order."""
        body = {"query": {"term": {"document": document_id}}, "size": 10_000, "sort": [{"position": "asc"}]}
        return [passage_of(hit["_source"]) for hit in self.published.search("passages", body)["hits"]["hits"]]

    def fields(self) -> Iterator[dict[str, str]]:
        """Return what filters compare, of every passage, in their order."""
        return map(fields_of, self)


@dataclass(frozen=True)
class Documents:
    """What a neighbourhood is made of."""

    passages: Mapping[str, Json]
    """By id."""
    triples: Mapping[str, Sequence[Json]]
    """By the id of their passage, in the order of extraction."""
    entities: Mapping[str, Json | None]
    """By key; None where there is no such entity."""


class FetchedDocuments:
    """Fetches what is not here yet, in one request together with searches. Safe to use from many threads."""

    def __init__(self, shown: ClusterPassages) -> None:
        """``shown`` shows the texts of hits, which need not be fetched again."""
        self.published, self._shown = shown.published, shown
        self._kept: dict[str, dict[str, Any]] = {kind: {} for kind in _MAX_KEPT}

    def fetch(
        self,
        passage_ids: Iterable[str] = (),
        triples_of: Iterable[str] = (),
        entity_keys: Iterable[str] = (),
        searches: Sequence[Search] = (),
    ) -> tuple[Documents, list[Json]]:
        """Return these passages, the triples of these passages, and these entities; and the replies to searches."""
        found: dict[str, dict[str, Any]] = {}
        missing: dict[str, list[str]] = {}
        for kind, asked in zip(_MAX_KEPT, (passage_ids, triples_of, entity_keys), strict=True):
            wanted, known = dict.fromkeys(asked), self._kept[kind]
            found[kind] = {each: known[each] for each in wanted if each in known}
            missing[kind] = [each for each in wanted if each not in known]
        fetches = [_build_search(kind, ids) for kind, ids in missing.items() if ids]
        replies = self.published.search_all([*fetches, *searches])
        for search, reply in zip(fetches, replies, strict=False):
            found[search.kind] |= self._read(search.kind, missing[search.kind], reply)
        for kind, used in found.items():
            if len(self._kept[kind]) + len(used) > _MAX_KEPT[kind]:
                self._kept[kind] = {}  # another thread may read the old one
            self._kept[kind].update(used)
        return Documents(**found), replies[len(fetches) :]

    def _read(self, kind: str, asked: Sequence[str], reply: Json) -> dict[str, Any]:
        """Read the documents in a reply, by what they were asked for."""
        sources = [hit["_source"] for hit in reply["hits"]["hits"]]
        if kind == "passages":
            self._shown.remember(sources)
            return {source["id"]: source for source in sources}
        if kind == "entities":
            named = {entity(source["name"]): source for source in sources}
            return {each: named.get(each) for each in asked}
        by_passage: dict[str, list[Json]] = {id_: [] for id_ in asked}
        for source in sorted(sources, key=lambda source: source["place"]):
            by_passage[source["passage"]].append(source)
        return by_passage


def _build_search(kind: str, ids: Sequence[str]) -> Search:
    """Build the search for documents of one kind; triples are asked for by their passages."""
    size = len(ids)
    if kind == "triples":
        query, size = {"terms": {"passage": list(ids)}}, MAX_RESULTS
    else:
        query = {"ids": {"values": list(map(key, ids)) if kind == "passages" else list(ids)}}
    return Search(kind, {"query": query, "size": size})
