"""The manifest: which generation of an index is published, and what is in it.

A generation is a folder of files written once. Publishing is one atomic rename of ``manifest.json``, so a reader sees
the old generation or the new one, whole.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from triplebeam.errors import IndexDamagedError, IndexFormatError, IndexMissingError
from triplebeam.index.passage_graph import GraphStatistics
from triplebeam.index.space import VectorSpace

FORMAT = 2
MANIFEST = "manifest.json"


class Manifest(BaseModel):
    """What ``manifest.json`` holds."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    triplebeam: str
    created: str
    generation: str
    revision: int
    embedder: VectorSpace
    counts: dict[str, int]
    triples_by_extractor: dict[str, int]
    passage_graph: GraphStatistics
    files: dict[str, int]
    """Each file of the generation with its size in bytes: a missing or cut-off file is noticed when the index is
    opened.
    """


def generation_folder(folder: Path, generation: str) -> Path:
    """Where a generation's files are."""
    return folder / "generations" / generation


def file_sizes(generation: Path) -> dict[str, int]:
    """Every file under a generation with its size."""
    files = sorted(path for path in generation.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path.relative_to(generation).as_posix(): path.stat().st_size for path in files}


def publish(folder: Path, manifest: Manifest) -> None:
    """Make a generation the one that readers open."""
    draft = folder / f"{MANIFEST}.new"
    with draft.open("w", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / MANIFEST)


def is_index(folder: Path) -> bool:
    """Is there a published index in this folder?"""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest, and that the files it names are there."""
    path = folder / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        unfinished = (folder / "store.sqlite").exists()
        hint = "its first indexing did not finish: run the same" if unfinished else "make one with"
        raise IndexMissingError(f"there is no index at {folder}: {hint} `triplebeam index {folder} SOURCE…`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise IndexDamagedError(f"{path} cannot be read ({error}): check its permissions, or {_REPAIR}") from error
    manifest = _parse(path, text)
    _check_files(generation_folder(folder, manifest.generation), manifest.files.items())
    return manifest


def published(folder: Path) -> Manifest | None:
    """What is published now; a damaged generation counts as none, since it can be derived again."""
    try:
        return read_manifest(folder) if is_index(folder) else None
    except IndexDamagedError:
        return None


def _parse(path: Path, text: str) -> Manifest:
    try:
        content = json.loads(text)
        version = content["format"]
        if version != FORMAT:
            raise IndexFormatError(
                f"the index at {path.parent} has format {version}, this Triplebeam reads format {FORMAT}: use the"
                " Triplebeam that made it, or index into a new folder."
            )
        return Manifest.model_validate(content)
    except (json.JSONDecodeError, KeyError, TypeError, ValidationError) as error:
        raise IndexDamagedError(f"{path} cannot be read ({type(error).__name__}): {_REPAIR}") from error


def _check_files(generation: Path, files: Iterable[tuple[str, int]]) -> None:
    for name, size in files:
        path = generation / name
        if not path.is_file():
            raise IndexDamagedError(f"{path} is missing: {_REPAIR}")
        if path.stat().st_size != size:
            raise IndexDamagedError(f"{path} has {path.stat().st_size} bytes where {size} were written: {_REPAIR}")


_REPAIR = "run `triplebeam index` on the same sources again; what was extracted and encoded is kept."
