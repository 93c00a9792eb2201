"""Where an index is published: in its own folder, or on a cluster."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from triplebeam.index.content.content import Content
from triplebeam.index.content.vector_cache import VectorCache, remove_encoded
from triplebeam.index.folder.manifest import find_manifest
from triplebeam.index.folder.previous import PreviousGeneration
from triplebeam.index.folder.publish import publish_generation, withdraw
from triplebeam.index.manifest import Manifest, VectorSpace
from triplebeam.index.opensearch.address import Address
from triplebeam.index.store.store import Store
from triplebeam.system.progress import Progress


class Destination(Protocol):
    """What a build ends with."""

    @property
    def previous(self) -> PreviousGeneration:
        """What of the previous generation the next one may take over."""
        ...

    def check(self, store: Store) -> None:
        """Raise where this store may not be published here."""
        ...

    def current(self, store: Store) -> Manifest | None:
        """What is published, if it is whole and all that is in the store."""
        ...

    def publish(
        self, store: Store, contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Make a generation of what is in the store, and show it to readers."""
        ...

    def withdraw(self) -> None:
        """Publish nothing."""
        ...


@dataclass(frozen=True)
class InFolder:
    """A generation is files in the folder of the index."""

    folder: Path

    @cached_property
    def previous(self) -> PreviousGeneration:
        """The published generation."""
        return PreviousGeneration.of(self.folder)

    def check(self, store: Store) -> None:
        """A folder has one store."""

    def current(self, store: Store) -> Manifest | None:
        """Compares revisions, and checks every file."""
        found = find_manifest(self.folder)
        if not (found and found.revision == store.meta.revision and not self.previous.damaged):
            return None
        remove_encoded(self.folder)  # where a process was killed
        return found

    def publish(
        self, store: Store, contents: Content, encoded: VectorCache, space: VectorSpace, progress: Progress
    ) -> Manifest:
        """Takes over from the last generation what has not changed."""
        return publish_generation(self.folder, store, contents, encoded, self.previous.arrays, space, progress)

    def withdraw(self) -> None:
        """Removes the generation."""
        withdraw(self.folder)


def destination_of(folder: Path) -> Destination:
    """Where the index of this folder is published."""
    address = Address.of(folder)
    if address is None:
        return InFolder(folder)
    from triplebeam.index.opensearch.publish import OnCluster

    return OnCluster(address, folder)
