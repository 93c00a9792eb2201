"""Shards: what was extracted and encoded elsewhere, for an index to take instead of doing it again.

A shard is a folder that is written once. It has vectors and extractions by keys, which are hashes of what they were
made from: a text and the fingerprint of the embedder, a passage and the name of the extractor. So it does not matter
which machine made a shard, in which order shards come, or whether two of them overlap: a text has one vector, a passage
one extraction. Vectors are stored as an index stores them (`triplebeam.index.vectors`), so that taking one from a shard
changes no bit of an index.
"""

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from triplebeam.durable import flush, flush_tree
from triplebeam.errors import BadInputError, EmbedderMismatchError, IndexDamagedError
from triplebeam.index.columns import StringColumn, write_strings
from triplebeam.index.contents import Contents
from triplebeam.index.encoded import EncodedTexts
from triplebeam.index.generation_files import checksums
from triplebeam.index.keys import Keys, as_keys, read_keys, rows_of, write_keys
from triplebeam.index.manifest import MANIFEST, LastGeneration, VectorSpace, load_manifest, publish

#: Rows of JSON, one per passage; the file is a file of JSON lines.
_EXTRACTIONS, _KEYS = "extractions", "extraction_keys.npy"
_NAME = "shard-"
_AGAIN = "copy the shard again from where it was encoded, or remove it and encode it again."


class ShardManifest(BaseModel):
    """What ``manifest.json`` of a shard holds."""

    model_config = ConfigDict(frozen=True)

    format: int = 1
    triplebeam: str
    embedder: VectorSpace
    extractor: str | None
    checksums: dict[str, int]


@dataclass(frozen=True)
class Shard:
    """One shard, open for reading, with all files as they were written."""

    folder: Path
    manifest: ShardManifest = field(repr=False)

    @classmethod
    def open(cls, folder: Path) -> "Shard":
        """Read and check every file."""
        try:
            manifest = load_manifest(folder / MANIFEST, ShardManifest, _AGAIN)
        except FileNotFoundError:
            raise IndexDamagedError(f"{folder / MANIFEST} is missing, so the shard is not whole: {_AGAIN}") from None
        found = checksums(folder)
        for name, expected in manifest.checksums.items():
            if found.get(name) != expected:
                state = "not as it was written" if name in found else "missing"
                raise IndexDamagedError(f"{folder / name} is {state}: {_AGAIN}")
        return cls(folder, manifest)

    @property
    def vectors(self) -> LastGeneration:
        """Where its vectors are."""
        return LastGeneration(self.folder, frozenset(self.manifest.checksums))

    def extractions(self, keys: Keys) -> dict[int, str]:
        """What was extracted from the passages with these keys, as JSON, by their places, as far as it is here."""
        rows = rows_of(keys, self._keys)
        return {place: self._extractions[rows[place]] for place in np.flatnonzero(rows >= 0).tolist()}

    @cached_property
    def _keys(self) -> Keys:
        return read_keys(self.folder / _KEYS)

    @cached_property
    def _extractions(self) -> StringColumn:
        return StringColumn(self.folder / _EXTRACTIONS)


@dataclass(frozen=True)
class Shards:
    """The shards of a folder, in the order of their names."""

    folder: Path = Path()
    all: tuple[Shard, ...] = ()

    @classmethod
    def open(cls, folder: Path) -> "Shards":
        """All shards directly below a folder; there must be one."""
        found = cls.found(folder)
        if not found.all:
            raise BadInputError(
                f"there are no shards in {folder}: name the folder that `triplebeam encode --out` wrote to."
            )
        return found

    @classmethod
    def found(cls, folder: Path) -> "Shards":
        """All shards directly below a folder, if any. One of which only a part was copied is an error."""
        files = [path for name in (MANIFEST, _KEYS) for path in folder.glob(f"[!.]*/{name}")]
        named = [path for path in folder.glob(f"{_NAME}*") if path.is_dir()]
        return cls(folder, tuple(map(Shard.open, sorted({*named, *(path.parent for path in files)}))))

    @property
    def vectors(self) -> list[LastGeneration]:
        """Where all their vectors are."""
        return [shard.vectors for shard in self.all]

    def check(self, space: VectorSpace) -> None:
        """Raise where a shard was encoded into another space than this one."""
        for shard in self.all:
            other = shard.manifest.embedder
            if (other.fingerprint, other.dimension) != (space.fingerprint, space.dimension):
                raise EmbedderMismatchError(
                    f"{shard.folder} was encoded with the embedder {other}, not with {space}: name `--embedder"
                    f" {other.name}` for a new index, or encode the sources again with {space.name!r}."
                )
            if other.triples_in_context != space.triples_in_context:
                raise EmbedderMismatchError(
                    f"{shard.folder} was encoded with triples_in_context ="
                    f" {str(other.triples_in_context).lower()}, unlike the index: encode the sources again with the"
                    " setting of the index."
                )

    def extractions(self, keys: Keys) -> dict[int, str]:
        """What was extracted from the passages with these keys, as JSON, by their places, as far as it is there."""
        found: dict[int, str] = {}
        for shard in self.all:
            found |= shard.extractions(keys)
        return found

    def extractors(self) -> set[str]:
        """Who extracted."""
        return {shard.manifest.extractor for shard in self.all if shard.manifest.extractor}


def write_shard(
    draft: Path,
    shards: Shards,
    space: VectorSpace,
    extractor: str | None,
    extractions: Mapping[bytes, str],
    contents: Contents,
    encoded: EncodedTexts,
) -> Path | None:
    """Write a shard of what is in none of the shards yet; None where that is nothing.

    It is written at ``draft``, on the same disk, and appears beside the others in one step, whole.
    """
    known = shards.extractions(as_keys(extractions))
    new = {key: row for place, (key, row) in enumerate(extractions.items()) if place not in known}
    texts = {kind: encoded.unwritten(kind, all_) for kind, all_ in contents.texts().items()}
    if not new and not any(texts.values()):
        return None
    shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
    draft.mkdir()
    write_keys(draft / _KEYS, as_keys(new))
    write_strings(draft / _EXTRACTIONS, (f"{row}\n" for row in new.values()))
    for kind, unwritten in texts.items():
        encoded.write(draft, kind, unwritten)
    made_by = version("triplebeam")
    publish(draft, ShardManifest(triplebeam=made_by, embedder=space, extractor=extractor, checksums=checksums(draft)))
    flush_tree(draft)
    shard = draft.rename(shards.folder / f"{_NAME}{secrets.token_hex(8)}")
    flush(shards.folder)
    return shard
