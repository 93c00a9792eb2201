"""Where an index is published, and opened: in its own folder, or on a cluster. No other module names both."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from triplebeam.index.folder.manifest import is_index, read_version
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import Cluster, Location
from triplebeam.index.source import Source

if TYPE_CHECKING:
    from triplebeam.index.folder.publish import Publisher

#: Returns what changes with a generation, cheaply enough to be called before every search; None: nothing is published.
Watch: TypeAlias = Callable[[], object]


def open_source(location: Location) -> Source:
    """Open what is published at a location."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.source import open_cluster  # who searches a folder need not load it

        return open_cluster(location)
    return Snapshot.open(location.state)


def is_published(location: Location) -> bool:
    """Return whether there is an index to search at a location."""
    return watch(location)() is not None if isinstance(location, Cluster) else is_index(location.state)


def watch(location: Location) -> Watch:
    """Return what says whether the index at a location has changed."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.source import ClusterWatch

        return ClusterWatch(location).version
    return partial(read_version, location.state)


def publisher_of(location: Location) -> "Publisher":
    """Return what publishes to a location; who only searches need not load it."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.publish import ClusterPublisher

        return ClusterPublisher(location)
    from triplebeam.index.folder.publish import FolderPublisher

    return FolderPublisher(location.state)
