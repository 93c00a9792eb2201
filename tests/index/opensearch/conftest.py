"""One cluster of three nodes for all tests here."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import small_world
from opensearch_cluster.background import BackgroundCluster, is_running, wait_for_cluster
from opensearch_cluster.nodes import missing
from small_world import world_documents
from triplebeam.assemble import Index
from triplebeam.assemble.models import publisher_of
from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.location import Cluster, Location
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
    settings = Settings(state=tmp_path_factory.mktemp("state"))
    location = Cluster.parse(address("world"), settings.state)
    world_builder(location).build(world_documents())
    return Index(location, settings=settings, embedder=words)


def world_builder(location: Location) -> IndexBuilder:
    return replace(small_world.world_builder(location.state), publisher=publisher_of(location))
