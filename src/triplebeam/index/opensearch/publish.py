"""Publishing to a cluster: three new indices, filled, checked, and then shown to readers by one change of aliases.

A generation that follows another begins as its clone, which takes no copying, and only what differs is written to it:
every document has a digest of what it was made from. Readers see the old indices or the new ones, never some of each.
The previous generation is kept for readers that have it open, until the next publication begins.
"""

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from triplebeam.errors import BadInputError, ClusterError, IndexChangedError
from triplebeam.index.content.content import Content
from triplebeam.index.content.encoding import VectorCache, remove_encoded
from triplebeam.index.folder.manifest import PreviousGeneration
from triplebeam.index.folder.publish import describe
from triplebeam.index.location import Cluster
from triplebeam.index.opensearch.client import Client, Json, Write
from triplebeam.index.opensearch.documents import KINDS, VECTORS, Drafts, add_vectors, build_mapping, build_settings
from triplebeam.index.opensearch.generation import Published, find_published, index_name, scan
from triplebeam.index.source import GraphStatistics, Manifest, VectorSpace
from triplebeam.index.store.store import Store
from triplebeam.system.work import Progress

_LOG = logging.getLogger("triplebeam")
#: Documents whose vectors are read from the folder at a time: each time, all that were encoded are gone through.
_WINDOW_DOCUMENTS = 100_000
_SECONDS_TO_COPY = "15s"
_SECONDS_FOR_FILES = 600
_OWNER = "opensearch_owner"


@dataclass(frozen=True)
class ClusterPublisher:
    """A generation is three indices of a cluster; the folder keeps documents, triples and vectors."""

    cluster: Cluster

    @cached_property
    def _client(self) -> Client:
        return Client(self.cluster)

    @property
    def previous(self) -> PreviousGeneration:
        """Nothing: vectors stay in the folder, where they were encoded."""
        return PreviousGeneration()

    def check(self, store: Store) -> None:
        """Raise where the index was published from another folder: its documents are not in this store."""
        there = find_published(self._client)
        if there and there.owner != _owner(store):
            raise BadInputError(
                f"the index at {self.cluster} was published from another machine or folder, where its documents"
                " are: write to it from there, or choose another prefix."
            )

    def read_current(self, store: Store) -> Manifest | None:
        """Compare revisions, and count the documents on the cluster."""
        there = find_published(self._client)
        if there is None or there.manifest.revision != store.meta.revision:
            return None
        counts = there.manifest.counts
        try:
            return there.manifest if all(there.count(kind)["found"] == counts[kind] for kind in KINDS) else None
        except IndexChangedError:  # one of its indices is gone
            return None

    def read_revision(self) -> int | None:
        """Return the revision of the published generation."""
        there = find_published(self._client)
        return there.manifest.revision if there else None

    def publish(
        self, store: Store, contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Write what differs from the last generation."""
        client, before = self._client, find_published(self._client)
        number = _remove_generations(client, before) + 1
        drafts = Drafts(contents)
        parts = _read_shards(before) if before else self.cluster
        made = _Publishing(client, encoded, space.dimension, before, number, parts)
        progress("publish", 0, len(KINDS))
        for done, kind in enumerate(KINDS, 1):
            made.write(kind, drafts)
            progress("publish", done, len(KINDS))
        manifest = describe(store, contents, space, f"{made.number:06d}", GraphStatistics(nodes=len(contents.passages)))
        made.remember(_owner(store), drafts.stemmers, manifest)
        _show(client, made.number)
        self.cluster.write_address()
        return manifest

    def withdraw(self) -> None:
        """Remove the index: readers find none any more, and no removed text stays on the cluster."""
        _remove_generations(self._client, None)
        remove_encoded(self.cluster.state)


def _owner(store: Store) -> str:
    """Return what a store is known by on the cluster."""
    known = store.meta.get(_OWNER)
    if known is None:
        known = secrets.token_hex(16)
        store.meta.set(_OWNER, known)
    return known


def _read_shards(before: Published) -> Cluster:
    """Read the shards and copies that the published index has: those in the address are for a new index."""
    cluster = before.client.cluster
    path = f"/{index_name(cluster, 'passages', before.number)}/_settings"
    [found] = before.client.request("GET", path, flat_settings="true").values()
    known = found["settings"]
    expands = known.get("index.auto_expand_replicas", "false") != "false"
    replicas = None if expands else int(known["index.number_of_replicas"])
    return replace(cluster, shards=int(known["index.number_of_shards"]), replicas=replicas)


@dataclass(frozen=True)
class _Publishing:
    """A generation that readers do not see yet."""

    client: Client
    encoded: VectorCache
    dimension: int
    before: Published | None
    number: int
    parts: Cluster
    """How an index that is made from nothing is divided and copied."""

    def name(self, kind: str) -> str:
        return index_name(self.client.cluster, kind, self.number)

    def write(self, kind: str, drafts: Drafts) -> None:
        """Make an index of one kind, from the one before where there is one, and check that all is there."""
        source = index_name(self.client.cluster, kind, self.before.number) if self.before else ""
        known = self._clone(kind, source) if source and self.client.find(f"/{source}") else self._create(kind)
        self.client.write(self._differences(kind, drafts, known))
        self.client.request("POST", f"/{self.name(kind)}/_refresh")
        self._wait_for_files(kind)
        self.client.request("PUT", f"/{self.name(kind)}/_settings", {"index": {"refresh_interval": None}})
        self._check(kind, drafts.counts()[kind])

    def remember(self, owner: str, stemmers: Sequence[str], manifest: Manifest) -> None:
        """Keep with the indices what a reader has to know."""
        known = {"owner": owner, "stemmers": sorted(set(stemmers)), "layouts": dict.fromkeys(KINDS, "exact")}
        meta = {**known, "manifest": manifest.model_dump(mode="json")}
        self.client.request("PUT", f"/{self.name('passages')}/_mapping", {"_meta": meta})

    def _create(self, kind: str) -> dict[str, str]:
        body = {
            "settings": {"index": build_settings(self.parts.shards, self.parts.replicas)},
            "mappings": build_mapping(kind, self.dimension),
        }
        self.client.make(f"/{self.name(kind)}", body)
        self._wait_for_copies(kind)
        return {}

    def _clone(self, kind: str, source: str) -> dict[str, str]:
        """Clone the index before, which is not written to any more; returns the digests of its documents."""
        self.client.request("PUT", f"/{source}/_settings", {"index": {"blocks.write": True}})
        unblocked = {"index.blocks.write": None, "index.refresh_interval": "-1"}
        self.client.make(f"/{source}/_clone/{self.name(kind)}", {"settings": unblocked})
        self._wait_for_copies(kind)
        return {hit["_id"]: hit["fields"]["digest"][0] for hit in scan(self.client, source, docvalue_fields=["digest"])}

    def _wait_for_copies(self, kind: str) -> None:
        """Wait until every shard has its copies, so that acknowledged writes survive a node; one node has no copies."""
        try:
            self.client.request(
                "GET", f"/_cluster/health/{self.name(kind)}", wait_for_status="green", timeout=_SECONDS_TO_COPY
            )
        except ClusterError as error:
            if error.status != 408:
                raise
            _LOG.warning("%s has fewer copies than it should: documents may be lost if a node fails.", self.name(kind))

    def _wait_for_files(self, kind: str) -> None:
        """Wait until the copies have the files that were made from what was written: then all show the same."""
        _wait_for(
            self.client,
            f"/{self.name(kind)}/_stats/segments",
            lambda reply: _bytes_behind(reply) == 0 and not reply["_shards"]["failed"],
            f"a copy of {self.name(kind)} does not receive its files",
        )

    def _differences(self, kind: str, drafts: Drafts, known: dict[str, str]) -> Iterator[Write]:
        """Yield what is new or has changed, with its vector; then what is gone."""
        gone = dict(known)
        changed = (each for each in drafts.of(kind) if gone.pop(each.id, None) != each.digest)
        while window := list(islice(changed, _WINDOW_DOCUMENTS)):
            vectors = self.encoded.vectors(VECTORS[kind], [each.text for each in window])
            documents = add_vectors(kind, window, vectors)
            yield from (Write(self.name(kind), each.id, found) for each, found in zip(window, documents, strict=True))
        yield from (Write(self.name(kind), id_, None) for id_ in gone)

    def _check(self, kind: str, expected: int) -> None:
        found = _count_documents(self.client, self.name(kind))
        if found != expected:
            raise ClusterError(
                f"{self.client.cluster} has {found:,} {kind} where {expected:,} were written, so nothing was"
                " published: run the same command again."
            )


def _count_documents(client: Client, index: str) -> int:
    """Count once every shard replies: a count leaves out a shard that has not started, without an error."""
    reply = _wait_for(
        client,
        f"/{index}/_count",
        lambda reply: bool(reply["_shards"]["successful"] == reply["_shards"]["total"]),
        f"a shard of {index} does not start",
    )
    return int(reply["count"])


def _wait_for(client: Client, path: str, is_ready: Callable[[Json], bool], problem: str) -> Json:
    """Ask until the reply shows what is waited for; returns it."""
    for _ in range(_SECONDS_FOR_FILES):
        reply = client.request("GET", path)
        if is_ready(reply):
            return reply
        time.sleep(1)
    raise ClusterError(
        f"{problem}, so nothing was published: look at the cluster's health, and run the same command again."
    )


def _bytes_behind(statistics: Json) -> int | None:
    """Return how many bytes copies lack; None where no shard says, as in a cluster that copies documents."""
    segments = statistics["_all"]["total"].get("segments")
    return None if segments is None else segments.get("segment_replication", {}).get("total_bytes_behind", 0)


def _show(client: Client, number: int) -> None:
    """Point the aliases to the new indices, all at once."""
    actions: list[Json] = []
    for kind in KINDS:
        alias = f"{client.cluster.prefix}-{kind}"
        actions.append({"remove": {"index": f"{alias}-*", "alias": alias, "must_exist": False}})
        actions.append({"add": {"index": index_name(client.cluster, kind, number), "alias": alias}})
    client.request("POST", "/_aliases", {"actions": actions})


def _remove_generations(client: Client, keep: Published | None) -> int:
    """Remove the indices of all generations but the published one: older ones, and those that were never finished.

    Returns the highest number that was there. The next is above it: documents that somebody sent to a generation, and
    gave up on, do not get into another.
    """
    pattern = re.compile(rf"{re.escape(client.cluster.prefix)}-({'|'.join(KINDS)})-(\d{{6,}})")
    found = client.request("GET", f"/{client.cluster.prefix}-*/_mapping", expand_wildcards="all")
    numbers = {name: int(match[2]) for name in found if (match := pattern.fullmatch(name))}
    for name, number in numbers.items():
        if not (keep and number == keep.number) and _is_ours(found[name]):
            client.request("DELETE", f"/{name}", ignore_unavailable="true")
    return max(numbers.values(), default=0)


def _is_ours(description: Json) -> bool:
    """Return whether an index holds our documents. Another program may have one of a similar name."""
    match description:
        case {"mappings": {"properties": {"digest": _, "code": _}}}:
            return True
    return False
