"""Where an index is published, and opened: in its own folder, or on a cluster. No other module names both."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from triplebeam.index.content.content import Content
from triplebeam.index.content.vector_cache import VectorCache, remove_encoded
from triplebeam.index.folder.manifest import MANIFEST, PreviousGeneration, find_manifest, is_index
from triplebeam.index.folder.publish import publish_generation, withdraw
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import Cluster, Location
from triplebeam.index.manifest import Manifest, VectorSpace
from triplebeam.index.protocols import Source
from triplebeam.system.progress import Progress

if TYPE_CHECKING:
    from triplebeam.index.store.store import Store


class Publisher(Protocol):
    """What a build ends with."""

    @property
    def previous(self) -> PreviousGeneration:
        """What of the previous generation the next one may take over."""
        ...

    def check(self, store: "Store") -> None:
        """Raise where this store may not be published here."""
        ...

    def read_current(self, store: "Store") -> Manifest | None:
        """Return what is published, if it is whole and all that is in the store."""
        ...

    def read_revision(self) -> int | None:
        """Return the revision of the store that is published; None where nothing is."""
        ...

    def publish(
        self, store: "Store", contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Make a generation of what is in the store, and show it to readers."""
        ...

    def withdraw(self) -> None:
        """Publish nothing."""
        ...


@dataclass(frozen=True)
class FolderPublisher:
    """A generation is files in the folder of the index."""

    folder: Path

    @cached_property
    def previous(self) -> PreviousGeneration:
        """The published generation."""
        return PreviousGeneration.of(self.folder)

    def check(self, store: "Store") -> None:
        """Check that the folder has one store."""

    def read_current(self, store: "Store") -> Manifest | None:
        """Compare revisions, and check every file."""
        found = find_manifest(self.folder)
        if not (found and found.revision == store.meta.revision and not self.previous.damaged):
            return None
        remove_encoded(self.folder)  # where a process was killed
        return found

    def read_revision(self) -> int | None:
        """Read the manifest."""
        found = find_manifest(self.folder)
        return found.revision if found else None

    def publish(
        self, store: "Store", contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Take over from the last generation what has not changed."""
        return publish_generation(self.folder, store, contents, encoded, self.previous.arrays, space, progress)

    def withdraw(self) -> None:
        """Remove the generation."""
        withdraw(self.folder)


class Watch(Protocol):
    """Says whether an index has changed, cheaply enough to be asked before every search."""

    def version(self) -> object:
        """Return what changes with a generation; None where nothing is published."""
        ...


@dataclass(frozen=True)
class FolderWatch:
    """Looks at the manifest, which is a new file with each generation."""

    folder: Path

    def version(self) -> object:
        """Return what the file system says of the manifest."""
        try:
            stat = (self.folder / MANIFEST).stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def open_source(location: Location) -> Source:
    """Open what is published at a location."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.source import open_cluster  # who searches a folder need not load it

        return open_cluster(location)
    return Snapshot.open(location.state)


def is_published(location: Location) -> bool:
    """Return whether there is an index to search at a location."""
    return watch(location).version() is not None if isinstance(location, Cluster) else is_index(location.state)


def watch(location: Location) -> Watch:
    """Return what says whether the index at a location has changed."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.source import ClusterWatch

        return ClusterWatch(location)
    return FolderWatch(location.state)


def publisher_of(location: Location) -> Publisher:
    """Return what publishes to a location."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.publish import ClusterPublisher

        return ClusterPublisher(location)
    return FolderPublisher(location.state)
