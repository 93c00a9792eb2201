"""What a build has encoded so far: one file a window of passages, so that a build that was stopped goes on.

Windows that came before the codec hold vectors in half precision, later ones hold what the codec made of them. Passages
are known by the hash of their text, whatever their row is by the time a build goes on.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.token_vectors.codec import ResidualCodec
from triplebeam.index.token_vectors.ragged import offsets_of

_CODEC = "codec"


class Window(NamedTuple):
    """Some passages' compressed tokens."""

    hashes: list[bytes]
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    residuals: NDArray[np.uint8]


@dataclass(frozen=True)
class Unfinished:
    """The folder of a build under way. ``purpose`` is what the build is for: work for another is thrown away."""

    folder: Path
    purpose: str

    def begin(self) -> None:
        """Make the folder, or find it as the last build left it."""
        said = self.folder / "purpose.txt"
        if not said.is_file() or said.read_text(encoding="utf-8") != self.purpose:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            said.write_text(self.purpose, encoding="utf-8")

    def codec(self) -> ResidualCodec | None:
        """The codec that compressed windows were made with, once there is one."""
        folder = self.folder / _CODEC
        return ResidualCodec.load(folder) if folder.is_dir() else None

    def keep_codec(self, codec: ResidualCodec) -> None:
        """From here on windows are compressed."""
        draft = self.folder / f"{_CODEC}.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        codec.save(draft)
        draft.rename(self.folder / _CODEC)

    def keep(self, hashes: list[bytes], starts: NDArray[np.int64], **arrays: NDArray[np.generic]) -> None:
        """Write a window: ``vectors``, or ``codes`` and ``residuals``."""
        draft = self.folder / "window.new"
        with draft.open("wb") as file:
            np.savez(
                file,
                allow_pickle=False,
                hashes=np.frombuffer(b"".join(hashes), np.uint8).reshape(len(hashes), -1),
                lengths=np.diff(starts),
                **arrays,
            )
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self.folder / f"{len(self._files()):06d}.npz")

    def lengths(self) -> dict[bytes, int]:
        """How many tokens each passage has that is done."""
        lengths: dict[bytes, int] = {}
        for file in self._files():
            with np.load(file) as window:
                lengths |= zip(map(bytes, window["hashes"]), window["lengths"].tolist(), strict=True)
        return lengths

    def sample(self) -> NDArray[np.float32]:
        """All vectors that were kept as such, for training."""
        vectors = [np.load(file)["vectors"] for file in self._files()]
        return np.concatenate(vectors).astype(np.float32)

    def windows(self, codec: ResidualCodec) -> Iterator[Window]:
        """One window after the other, compressed."""
        for file in self._files():
            with np.load(file) as window:
                made = (
                    codec.compress(window["vectors"].astype(np.float32))
                    if "vectors" in window
                    else (window["codes"], window["residuals"])
                )
                yield Window(list(map(bytes, window["hashes"])), offsets_of(window["lengths"]), *made)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.npz"))
