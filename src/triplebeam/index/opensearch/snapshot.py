"""A published generation on a cluster, open for reading."""

import logging
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import ClusterError, IndexMissingError
from triplebeam.index.folder import manifest as manifests
from triplebeam.index.folder.entity_graph import EntityGraph
from triplebeam.index.folder.manifest import MANIFEST, find_manifest, is_index
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.index.folder.snapshot import Parts, Snapshot
from triplebeam.index.manifest import GraphStatistics, Manifest
from triplebeam.index.opensearch.address import Address
from triplebeam.index.opensearch.client import Client, client_of
from triplebeam.index.opensearch.filters import condition_of
from triplebeam.index.opensearch.generation import Published, published_generation, too_large
from triplebeam.index.opensearch.passages import ClusterPassages
from triplebeam.index.opensearch.search import ClusterTerms, ClusterVectors
from triplebeam.index.opensearch.triples import ClusterTriples
from triplebeam.where import Where

_LOG = logging.getLogger("triplebeam")
_SECONDS_TO_LOOK, _SECONDS_BETWEEN_LOOKS = 3.0, 1.0
#: When a folder may be brought up to date again.
_NEXT_LOOK: dict[Path, float] = {}
#: The most that a cluster takes.
_COUNTED_EXACTLY = 40_000


class ClusterSnapshot(Snapshot):
    """The search structures of a generation on a cluster. Its graphs are too large to hold: see `nearby`."""

    published: Published
    triples: ClusterTriples
    passage_terms: ClusterTerms
    triple_terms: ClusterTerms
    passage_vectors: ClusterVectors

    @classmethod
    def over(cls, folder: Path, published: Published) -> "ClusterSnapshot":
        """The structures of a generation, or of its passages that may be seen."""
        passages = ClusterPassages(published)
        triples = ClusterTriples(published, passages)
        made = cls.__new__(cls)
        made.__dict__.update(
            folder=folder,
            published=published,
            manifest=published.manifest,
            passages=passages,
            triples=triples,
            passage_terms=ClusterTerms(published, "passages", passages.remember),
            triple_terms=ClusterTerms(published, "triples", triples.remember),
            passage_vectors=ClusterVectors(published, "passages", passages.remember),
            whole=None,
            rows=np.zeros(0, np.int64),
        )
        return made

    @property
    def parts(self) -> Parts:
        """Views, and neighbourhoods."""
        from triplebeam.index.opensearch.nearby import Nearby  # which reads snapshots

        return Nearby(self)

    def where(self, where: Where) -> "ClusterSnapshot":
        """The passages for which a filter holds."""
        visible = self.published.filtered(condition_of(where, self.published))
        return self.over(self.folder, replace(visible, manifest=_manifest_of(visible)))

    def triples_about(self, name: str) -> NDArray[np.int64]:
        """The triples with an entity, by its name."""
        return self.triples.about(name)

    def entity_meant(self, name: str) -> str:
        """Not known: names are not searched by their letters."""
        return ""

    @property
    def entities(self) -> EntityGraph:
        """Not here."""
        raise too_large("the graph of entities")

    @property
    def passage_graph(self) -> PassageGraph:
        """Not here."""
        raise too_large("the graph of passages")


def open_cluster(address: Address, folder: Path) -> ClusterSnapshot:
    """Open what is published at an address."""
    published = refresh(folder, client_of(address))
    if published is None:
        raise IndexMissingError(
            f"there is no index at {address.place}: make one with `triplebeam index {address.place} SOURCE…`."
        )
    return ClusterSnapshot.over(folder, published)


def look(address: Address, folder: Path) -> None:
    """As `refresh`, before every search: at most once a second, and without waiting for long.

    Where the cluster does not reply, what is known stays: the search itself has more patience, and fails if it must.
    """
    if time.monotonic() < _NEXT_LOOK.get(folder, 0):
        return
    try:
        refresh(folder, client_of(address, tries=len(address.hosts) + 1, seconds=_SECONDS_TO_LOOK))
    except ClusterError as error:
        if not is_index(folder):
            raise
        _LOG.warning("whether there is a new generation is not known: %s", error)
    finally:
        _NEXT_LOOK[folder] = time.monotonic() + _SECONDS_BETWEEN_LOOKS


def refresh(folder: Path, client: Client) -> Published | None:
    """What is published now. The local folder gets its manifest, so that it is seen to change when that does."""
    published = published_generation(client)
    if published is None:
        (folder / MANIFEST).unlink(missing_ok=True)
    elif find_manifest(folder, whole=False) != published.manifest:
        manifests.publish_manifest(folder, published.manifest)
    return published


def _manifest_of(visible: Published) -> Manifest:
    """The manifest of the passages that may be seen. What is not counted on a cluster is left out.

    How much walks count in the default search is measured on the whole index, as the rarity of words is.
    """
    passages = _counted(visible, "passages", documents="document", entities="entities")
    triples = _counted(visible, "triples", passages="passage")
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
            "passage_graph": GraphStatistics(nodes=passages["found"], edges=0, edges_by_kind={}, nodes_without_edges=0),
        }
    )


def _counted(visible: Published, kind: str, **distinct: str) -> dict[str, int]:
    """How many documents of a kind may be seen, as ``found``, and how many distinct values some fields of them have:
    exactly up to some ten thousand, above by an estimate of a few percent.
    """
    aggregations = {
        name: {"cardinality": {"field": field, "precision_threshold": _COUNTED_EXACTLY}}
        for name, field in distinct.items()
    }
    body = {"query": {"match_all": {}}, "size": 0, "track_total_hits": True, "aggs": aggregations}
    reply = visible.search(kind, body)
    counts = {name: int(reply["aggregations"][name]["value"]) for name in distinct}
    return {"found": int(reply["hits"]["total"]["value"]), **counts}
