"""What a build of token vectors has encoded so far, so that a build that was stopped can continue."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.token_vectors.codec import ResidualCodec
from triplebeam.index.token_vectors.token_index import offsets_of


class Window(NamedTuple):
    """The compressed tokens of some passages."""

    hashes: list[bytes]
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    residuals: NDArray[np.uint8]


@dataclass(frozen=True)
class EncodedWindows:
    """Vectors encoded so far, in half precision, one file per window; passages are known by the hash of their text."""

    folder: Path

    @classmethod
    def at(cls, folder: Path, fingerprint: str) -> "EncodedWindows":
        """What an earlier build left in the folder; the vectors of another encoder are removed."""
        encoder = folder / "encoder.txt"
        if not encoder.is_file() or encoder.read_text(encoding="utf-8") != fingerprint:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            encoder.write_text(fingerprint, encoding="utf-8")
        return cls(folder)

    def keep(self, hashes: list[bytes], lengths: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Write a window."""
        draft = self.folder / "window.new"
        with draft.open("wb") as file:
            np.savez(file, hashes=as_array(hashes), lengths=lengths, vectors=vectors.astype(np.float16))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / f"{len(self._files()):06d}.npz")

    def lengths(self) -> dict[bytes, int]:
        """How many tokens each encoded passage has."""
        lengths: dict[bytes, int] = {}
        for file in self._files():
            with np.load(file) as window:
                lengths |= zip(map(bytes, window["hashes"]), window["lengths"].tolist(), strict=True)
        return lengths

    def sample(self, size: int) -> NDArray[np.float32]:
        """The first ``size`` vectors."""
        vectors, found = [], 0
        for file in self._files():
            if found < size:
                vectors.append(np.load(file)["vectors"])
                found += len(vectors[-1])
        return np.concatenate(vectors)[:size].astype(np.float32)

    def windows(self, codec: ResidualCodec) -> "Iterator[Window]":
        """One window after the other, compressed."""
        for file in self._files():
            with np.load(file) as window:
                compressed = codec.compress(window["vectors"].astype(np.float32))
                yield Window(list(map(bytes, window["hashes"])), offsets_of(window["lengths"]), *compressed)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.npz"))


def as_array(hashes: list[bytes]) -> NDArray[np.uint8]:
    """Hashes of equal length as rows of bytes."""
    return np.frombuffer(b"".join(hashes), np.uint8).reshape(len(hashes), -1)
