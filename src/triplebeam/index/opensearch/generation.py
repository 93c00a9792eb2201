"""The published generation on a cluster: which indices it is, and what their mappings remember of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from triplebeam.errors import IndexChangedError, IndexDamagedError
from triplebeam.index.location import Cluster
from triplebeam.index.opensearch.client import Client, Json
from triplebeam.index.source import Manifest, check_format

#: What every document has.
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "passages": {
        **dict.fromkeys(("id", "document", "stemmer", "code"), str),
        "number": int,
        "position": int,
        "content": dict,
    },
    "triples": {"number": int, "passage": str, "triple": list, "ends": list, "stemmer": str, "code": str},
    "entities": {"name": str, "passages": int, "code": str},
}
_PAGE_DOCUMENTS = 2000
#: The most that a cluster takes.
_MAX_EXACT_COUNT = 40_000
#: Searches that go into one request.
_MAX_SEARCHES_PER_REQUEST = 100


def index_name(cluster: Cluster, kind: str, number: int) -> str:
    """Return the name of one index of a generation."""
    return f"{cluster.prefix}-{kind}-{number:06d}"


class Search(NamedTuple):
    """A search for documents of one kind."""

    kind: str
    body: Json
    by_words: bool = False
    """Whether words are scored, by their rarity."""


@dataclass(frozen=True)
class Published:
    """A generation that readers see, or some of its passages."""

    client: Client = field(repr=False)
    number: int
    owner: str
    stemmers: Sequence[str]
    manifest: Manifest = field(repr=False)
    filters: tuple[Json, ...] = ()
    """What holds for the passages that are seen; their triples have the same fields."""

    def restrict_to_visible(self, kind: str, query: Json) -> Json:
        """Restrict a query to documents that may be seen; entities alone say nothing of where they were read."""
        filters = [] if kind == "entities" else list(self.filters)
        return {"bool": {"must": [query], "filter": filters}} if filters else query

    def search(self, kind: str, body: Json) -> Json:
        """Send one search."""
        return self.search_all([Search(kind, body)])[0]

    def search_all(self, searches: Sequence[Search]) -> list[Json]:
        """Send several searches, in as few requests as may be."""
        replies: list[Json] = []
        for start in range(0, len(searches), _MAX_SEARCHES_PER_REQUEST):
            window = searches[start : start + _MAX_SEARCHES_PER_REQUEST]
            replies += self.client.searches([line for each in window for line in self._lines(each)])
        for each, reply in zip(searches, replies, strict=True):
            self._check(each, reply)
        return replies

    def _lines(self, search: Search) -> tuple[Json, Json]:
        header = {
            "index": index_name(self.client.cluster, search.kind, self.number),
            # Words are as rare as in all shards together, which takes a round of its own.
            "search_type": "dfs_query_then_fetch" if search.by_words else "query_then_fetch",
            "allow_partial_search_results": False,  # half of an answer would pass for all of it
        }
        return header, {**search.body, "query": self.restrict_to_visible(search.kind, search.body["query"])}

    def _check(self, search: Search, reply: Json) -> None:
        match reply:
            case {"error": {"type": "index_not_found_exception"}}:
                raise self.make_changed_error()
            case {"error": _}:
                raise self.client.error(reply.get("status", 0), reply)
            case {"hits": {"hits": list(hits)}}:
                if not _are_whole(search, hits):
                    raise IndexDamagedError(
                        f"documents at {self.client.cluster} are not as Triplebeam wrote them, so their mapping was"
                        " changed: run `triplebeam repair` where the index was made."
                    )
                return
        raise self.client.make_protocol_error()

    def make_changed_error(self) -> IndexChangedError:
        """Return the error for indices that are gone."""
        return IndexChangedError(f"the index at {self.client.cluster} has changed since it was opened: open it again.")

    def fetch(self, kind: str, numbers: Iterable[int]) -> list[Json]:
        """Fetch the documents of these numbers that the filter allows, in any order."""
        wanted, found = list(dict.fromkeys(numbers)), []
        for start in range(0, len(wanted), _PAGE_DOCUMENTS):
            window = wanted[start : start + _PAGE_DOCUMENTS]
            body = {"query": {"terms": {"number": window}}, "size": len(window)}
            found += [hit["_source"] for hit in self.search(kind, body)["hits"]["hits"]]
        return found

    def count(self, kind: str, **distinct: str) -> dict[str, int]:
        """Count the documents of a kind that may be seen, as ``found``, and the distinct values of some of their
        fields: exactly up to some ten thousand, above by an estimate of a few percent.
        """
        aggregations = {
            name: {"cardinality": {"field": field, "precision_threshold": _MAX_EXACT_COUNT}}
            for name, field in distinct.items()
        }
        body = {"query": {"match_all": {}}, "size": 0, "track_total_hits": True, "aggs": aggregations}
        reply = self.search(kind, body)
        counts = {name: int(reply["aggregations"][name]["value"]) for name in distinct}
        return {"found": int(reply["hits"]["total"]["value"]), **counts}

    def scan(self, kind: str, **body: object) -> Iterator[Json]:
        """Scan all documents that may be seen, in no order."""
        query = self.restrict_to_visible(kind, {"match_all": {}})
        return scan(self.client, index_name(self.client.cluster, kind, self.number), query=query, **body)


def _are_whole(search: Search, hits: Sequence[Any]) -> bool:
    """Return whether hits have what their search asks for: columns, numbers alone, or all."""
    fields: Mapping[Any, type] = _FIELDS[search.kind]
    match search.body:
        case {"docvalue_fields": _}:
            part, fields = "fields", {"id": list}
        case {"_source": False}:
            part, fields = "sort", {1: int} if "sort" in search.body else {}
        case _:
            part = "_source"
    try:
        return all(isinstance(hit[part][name], of) for hit in hits for name, of in fields.items())
    except (KeyError, IndexError, TypeError):
        return False


def find_published(client: Client) -> Published | None:
    """Find what is published at an address; None where nothing is."""
    alias = f"{client.cluster.prefix}-passages"
    found = client.find(f"/{alias}/_mapping")
    if found is None:
        return None
    try:
        [(name, description)] = found.items()
        meta = description["mappings"]["_meta"]
        check_format(f"the index at {client.cluster}", meta["manifest"]["format"])
        number, manifest = int(name.rpartition("-")[2]), Manifest.model_validate(meta["manifest"])
        return Published(client, number, meta["owner"], meta["stemmers"], manifest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexDamagedError(
            f"{alias} at {client.cluster} is not an alias of one index that Triplebeam has published: choose"
            " another prefix, or remove what has that name from the cluster and run `triplebeam index` again."
        ) from error


def scan(client: Client, index: str, **body: object) -> Iterator[Json]:
    """Scan all documents of an index that nobody writes to any more, page by page.

    Digests differ, and a page is what follows the last digest of the page before: it may be asked for twice. A scroll
    could not: where a reply is lost, the next one begins behind it.
    """
    asked: Json = {"size": _PAGE_DOCUMENTS, "sort": ["digest"], "_source": False, **body}
    while hits := client.request("POST", f"/{index}/_search", asked, allow_partial_search_results="false")["hits"][
        "hits"
    ]:
        yield from hits
        asked["search_after"] = hits[-1]["sort"]
