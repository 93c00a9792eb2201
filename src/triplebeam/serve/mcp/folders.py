"""Index folders as a shelf: each opened at once, and again when something new was published in it."""

from collections.abc import Mapping
from pathlib import Path

from triplebeam.assemble import Index, open_index
from triplebeam.index.manifest import read_manifest
from triplebeam.settings import Settings


class Folders:
    """Collections by name. A client stays connected for days; what is indexed meanwhile is found all the same."""

    def __init__(self, folders: Mapping[str, Path], settings: Settings) -> None:
        self._folders = folders
        self._settings = settings
        self._opened = {name: open_index(folder, settings=settings) for name, folder in folders.items()}

    def names(self) -> list[str]:
        """In the order given."""
        return list(self._folders)

    def collection(self, name: str) -> Index:
        """The collection of that name, of the generation that is published now."""
        known, folder = self._opened[name], self._folders[name]
        if read_manifest(folder).generation != known.snapshot.manifest.generation:
            # Two threads may both open it, which costs a moment and harms nobody.
            known = self._opened[name] = open_index(folder, settings=self._settings)
        return known
