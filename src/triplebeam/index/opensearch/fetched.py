"""Documents of a generation that were fetched, and are kept: a published generation never changes."""

from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import MAX_RESULTS, entity, key
from triplebeam.index.opensearch.generation import Published, Search
from triplebeam.index.opensearch.passages import ClusterPassages

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
