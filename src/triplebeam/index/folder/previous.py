"""The published generation, as far as its files are whole: what the next one takes over from it."""

from dataclasses import dataclass, field
from pathlib import Path

from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.folder.manifest import find_manifest, generation_folder


@dataclass(frozen=True)
class PreviousGeneration:
    """Arrays that are whole, and the names of files that are not."""

    arrays: ArraySet = field(default_factory=MemoryArrays)
    damaged: frozenset[str] = frozenset()

    @classmethod
    def of(cls, folder: Path) -> "PreviousGeneration":
        """Open the previous generation of an index; it is empty where there is none, or one of another format."""
        manifest = find_manifest(folder, whole=False)
        if manifest is None:
            return cls()
        generation = generation_folder(folder, manifest.generation)
        found = FolderArrays(generation).checksums()
        whole = frozenset(name for name, expected in manifest.checksums.items() if found.get(name) == expected)
        return cls(FolderArrays(generation, whole=whole), frozenset(manifest.files) - whole)


def find_damaged_files(folder: Path) -> list[str]:
    """Find all files of the published generation that have changed since they were written."""
    return sorted(PreviousGeneration.of(folder).damaged)
