"""One cluster of three nodes for all tests here."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from opensearch_cluster.background import BackgroundCluster, is_running, wait_for_cluster
from opensearch_cluster.nodes import missing
from small_world import TRIPLES, TableExtractor, world_documents
from triplebeam.assemble import Index
from triplebeam.assemble.place import index_folder
from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.settings import Settings


@pytest.fixture(scope="session")
def nodes() -> Iterator[dict[str, Any]]:
    """The hosts and the process ids of the cluster; it started with the run, or starts now."""
    if reason := missing():
        pytest.skip(reason)
    own = None if is_running() else BackgroundCluster()
    try:
        found = wait_for_cluster()
        if isinstance(found, str):
            pytest.skip(f"OpenSearch could not be started: {found}")
        yield found
    finally:
        if own:
            own.stop()


@pytest.fixture(scope="session")
def address(nodes: dict[str, Any]) -> Callable[[str], str]:
    """The address of an index by its prefix: two shards, each on two nodes."""
    run = secrets.token_hex(4)
    return lambda prefix: f"opensearch://{','.join(nodes['hosts'])}/{run}-{prefix}?shards=2&replicas=1"


@pytest.fixture(scope="session")
def remote(address: Callable[[str], str], words: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The small world, on the cluster."""
    settings = Settings(state=tmp_path_factory.mktemp("state"))
    folder: Path = index_folder(address("world"), settings)
    IndexBuilder(folder=folder, embedder=words, extractor=TableExtractor(TRIPLES)).build(world_documents())
    return Index(folder, settings, words)
