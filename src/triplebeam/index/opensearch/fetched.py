"""What was fetched of a generation, which never changes: passages by id or number, and documents of neighbourhoods."""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import MAX_RESULTS, entity, fields_of, key, passage_number, passage_of
from triplebeam.index.opensearch.generation import Published, Search
from triplebeam.passage import Passage

#: Passages that are kept in memory.
_MAX_CACHED = 20_000


class ClusterPassages:
    """`PassageLookup` over a cluster. The row of a passage is its number; there are more numbers than passages."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self._known: dict[int, Passage] = {}

    def __len__(self) -> int:
        return self._published.manifest.counts["passages"]

    def remember(self, sources: Sequence[Json]) -> None:
        """Keep what a search showed."""
        if len(self._known) > _MAX_CACHED:
            self._known.clear()
        self._known |= {source["number"]: passage_of(source) for source in sources}

    def rows(self, passage_ids: Iterable[str]) -> list[int]:
        """Return the numbers of these passages, which must be there: one request."""
        return [passage_number(passage.id) for passage in self.of(list(passage_ids))]

    def __getitem__(self, passage_id: str) -> Passage:
        return self.of([passage_id])[0]

    def __contains__(self, passage_id: object) -> bool:
        return isinstance(passage_id, str) and self._fetch_passages([passage_id])[0] is not None

    def of(self, passage_ids: Sequence[str]) -> list[Passage]:
        """Return the passages of these ids, which must be there."""
        found = self._fetch_passages(passage_ids)
        for passage_id, passage in zip(passage_ids, found, strict=True):
            if passage is None:
                raise BadInputError(
                    f"there is no passage {passage_id!r} in this index: ids must be those that were indexed."
                )
        return [passage for passage in found if passage is not None]

    def _fetch_passages(self, passage_ids: Sequence[str]) -> list[Passage | None]:
        known = dict(self._known)
        missing = [id_ for id_ in dict.fromkeys(passage_ids) if passage_number(id_) not in known]
        sources = [source for source in self._published.sources("passages", list(map(key, missing))) if source]
        self.remember(sources)
        known |= {source["number"]: passage_of(source) for source in sources}
        return [known.get(passage_number(id_)) for id_ in passage_ids]

    def ids(self, rows: Iterable[int] | NDArray[np.int64]) -> list[str]:
        """Return the ids of these numbers."""
        numbers = [int(row) for row in rows]
        known = dict(self._known)
        if missing := [number for number in dict.fromkeys(numbers) if number not in known]:
            body = {"query": {"terms": {"number": missing}}, "size": len(missing)}
            sources = [hit["_source"] for hit in self._published.search("passages", body)["hits"]["hits"]]
            known |= {source["number"]: passage_of(source) for source in sources}
            self.remember(sources)
        if not known.keys() >= set(numbers):
            raise self._published.make_changed_error()
        return [known[number].id for number in numbers]

    # -- all of them, which takes as long as there are many

    def __iter__(self) -> Iterator[Passage]:
        in_order = [{"document": "asc"}, {"position": "asc"}]
        return (passage_of(hit["_source"]) for hit in self._published.scan("passages", _source=True, sort=in_order))

    @cached_property
    def _listed(self) -> list[tuple[str, int, str, str]]:
        """Document, position, title and id of every passage, in their order."""
        hits = self._published.scan("passages", _source=["id", "document", "position", "content.title"])
        sources = (hit["_source"] for hit in hits)
        return sorted((each["document"], each["position"], each["content"]["title"], each["id"]) for each in sources)

    @cached_property
    def documents(self) -> Sequence[str]:
        """The document of every passage."""
        return [document for document, *_ in self._listed]

    @cached_property
    def titles(self) -> Sequence[str]:
        """The title of every passage."""
        return [title for _, _, title, _ in self._listed]

    @cached_property
    def document_ids(self) -> dict[str, None]:
        """The ids of the documents, in their order."""
        return dict.fromkeys(self.documents)

    def of_document(self, document_id: str) -> list[Passage]:
        """Return the passages of a document, in their order."""
        body = {"query": {"term": {"document": document_id}}, "size": 10_000, "sort": [{"position": "asc"}]}
        return [passage_of(hit["_source"]) for hit in self._published.search("passages", body)["hits"]["hits"]]

    def fields(self) -> Iterator[dict[str, str]]:
        """Return what filters compare, of every passage, in their order."""
        by_id = {passage.id: fields_of(passage) for passage in self}
        return (by_id[id_] for *_, id_ in self._listed)


#: Passages and entities that are kept in memory, some 50 MB: neighbourhoods of related questions overlap.
MAX_PASSAGES, MAX_ENTITIES = 5_000, 20_000
#: What no neighbourhood is made of.
_SOURCE_FILTER: Json = {"excludes": ["digest"]}

T = TypeVar("T")


@dataclass(frozen=True)
class Documents:
    """What a neighbourhood is made of."""

    passages: Mapping[str, Json]
    """By id."""
    triples: Mapping[str, Sequence[Json]]
    """By the id of their passage, in the order of extraction."""
    entities: Mapping[str, Json | None]
    """By key; None where there is no such entity."""


@dataclass(frozen=True)
class FetchedDocuments:
    """Fetches what is not here yet, in one request together with searches. Safe to use from many threads."""

    published: Published
    shown: ClusterPassages = field(repr=False)
    """Shows the texts of hits, which need not be fetched again."""
    _passages: dict[str, Json] = field(default_factory=dict, init=False, repr=False)
    _triples: dict[str, Sequence[Json]] = field(default_factory=dict, init=False, repr=False)
    _entities: dict[str, Json | None] = field(default_factory=dict, init=False, repr=False)

    def fetch(
        self,
        passage_ids: Iterable[str] = (),
        triples_of: Iterable[str] = (),
        entity_keys: Iterable[str] = (),
        searches: Sequence[Search] = (),
    ) -> tuple[Documents, list[Json]]:
        """Return these passages, the triples of these passages, and these entities; and the replies to searches."""
        ids, owners, keys = (dict.fromkeys(each) for each in (passage_ids, triples_of, entity_keys))
        passages, new_ids = _look_up(self._passages, ids)
        triples, new_owners = _look_up(self._triples, owners)
        entities, new_keys = _look_up(self._entities, keys)
        asked = [*_passage_search(new_ids), *_triple_search(new_owners), *_entity_search(new_keys)]
        replies = self.published.search_all([*asked, *searches])
        answers = iter(replies)
        if new_ids:
            found = _sources(next(answers))
            self.shown.remember(found)
            passages |= {source["id"]: source for source in found}
        if new_owners:
            triples |= _group_by_passage(new_owners, _sources(next(answers)))
        if new_keys:
            named = {entity(source["name"]): source for source in _sources(next(answers))}
            entities |= {each: named.get(each) for each in new_keys}
        _keep(self._passages, passages, MAX_PASSAGES)
        _keep(self._triples, triples, MAX_PASSAGES)
        _keep(self._entities, entities, MAX_ENTITIES)
        return Documents(passages, triples, entities), replies[len(asked) :]


def _look_up(kept: Mapping[str, T], wanted: Iterable[str]) -> tuple[dict[str, T], list[str]]:
    """Look up what is here, and list what is not."""
    known = dict(kept)  # a copy: another thread may make room meanwhile
    return {each: known[each] for each in wanted if each in known}, [each for each in wanted if each not in known]


def _keep(kept: dict[str, T], used: Mapping[str, T], limit: int) -> None:
    if len(kept) + len(used) > limit:
        kept.clear()
    kept.update(used)


def _passage_search(ids: Sequence[str]) -> list[Search]:
    body = {"query": {"ids": {"values": list(map(key, ids))}}, "size": len(ids), "_source": _SOURCE_FILTER}
    return [Search("passages", body)] if ids else []


def _triple_search(ids: Sequence[str]) -> list[Search]:
    body = {"query": {"terms": {"passage": list(ids)}}, "size": MAX_RESULTS, "_source": _SOURCE_FILTER}
    return [Search("triples", body)] if ids else []


def _entity_search(keys: Sequence[str]) -> list[Search]:
    body = {"query": {"ids": {"values": list(keys)}}, "size": len(keys), "_source": _SOURCE_FILTER}
    return [Search("entities", body)] if keys else []


def _group_by_passage(ids: Sequence[str], sources: Iterable[Json]) -> dict[str, Sequence[Json]]:
    found: dict[str, list[Json]] = {id_: [] for id_ in ids}
    for source in sources:
        found[source["passage"]].append(source)
    return {id_: sorted(each, key=lambda source: source["place"]) for id_, each in found.items()}


def _sources(reply: Json) -> list[Json]:
    """Return the documents in a reply, with their vectors as bytes."""
    return [{**hit["_source"], "code": b64decode(hit["_source"]["code"])} for hit in reply["hits"]["hits"]]
