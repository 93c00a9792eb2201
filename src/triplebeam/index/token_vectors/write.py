"""The files of a finished build: everything that is encoded, put in the order of the index's rows."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.token_vectors.codec import ResidualCodec
from triplebeam.index.token_vectors.ragged import offsets_of, places_of
from triplebeam.index.token_vectors.windows import Window
from triplebeam.progress import Progress


def write_token_vectors(
    folder: Path,
    hashes: list[bytes],
    lengths: dict[bytes, int],
    codec: ResidualCodec,
    windows: Iterable[Window],
    progress: Progress,
) -> None:
    """Write the passages of these text hashes, in this order."""
    starts = offsets_of(np.array([lengths[text_hash] for text_hash in hashes], np.int64))
    codec.save(folder)
    np.save(folder / "starts.npy", starts)
    np.save(folder / "text_hashes.npy", np.frombuffer(b"".join(hashes), np.uint8).reshape(len(hashes), -1))
    codes = np.lib.format.open_memmap(
        folder / "codes.npy", mode="w+", dtype=_smallest(len(codec.centroids)), shape=(int(starts[-1]),)
    )
    residuals = np.lib.format.open_memmap(
        folder / "residuals.npy",
        mode="w+",
        dtype=np.uint8,
        shape=(int(starts[-1]), codec.centroids.shape[1] * codec.nbits // 8),
    )
    rows_of: dict[bytes, list[int]] = {}
    for row, text_hash in enumerate(hashes):
        rows_of.setdefault(text_hash, []).append(row)
    written = 0
    for window in windows:
        # A text that several passages share was encoded once; one that no passage has any more goes nowhere.
        pairs = [(at, row) for at, text_hash in enumerate(window.hashes) for row in rows_of.pop(text_hash, ())]
        if pairs:
            taken, rows = np.array(pairs, np.int64).T
            source, target = places_of(window.starts, taken), places_of(starts, rows)
            codes[target], residuals[target] = window.codes[source], window.residuals[source]
        written += len(pairs)
        progress("writing token vectors", written, len(hashes))
    codes.flush()
    residuals.flush()
    _write_lists(folder, codes, starts, len(codec.centroids))


def _write_lists(folder: Path, codes: NDArray[np.unsignedinteger], starts: NDArray[np.int64], centroids: int) -> None:
    """For each centroid, the passages that have a token of it, rising."""
    passage_of = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    # A centroid and a passage in one number: sorting these groups by centroid, and equals stand together.
    pairs = np.unique(codes.astype(np.int64) * (len(starts) - 1) + passage_of)
    owners, passages = np.divmod(pairs, len(starts) - 1)
    np.save(folder / "list_starts.npy", offsets_of(np.bincount(owners, minlength=centroids)))
    np.save(folder / "list_passages.npy", passages.astype(np.int32))


def _smallest(count: int) -> type[np.unsignedinteger]:
    return np.uint16 if count <= 1 << 16 else np.uint32
