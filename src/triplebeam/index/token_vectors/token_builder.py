"""Building the token vectors of an index: encode, find centroids, compress, publish.

Passages are encoded in a random but fixed order, one file per window, so that a build that was stopped continues with
the next window and the first windows are a sample to train the codec on. Memory is bounded by that sample. A later
build takes over from the published one whatever has the same text, with the same centroids, until the index has doubled
or halved: then it starts afresh.
"""

import datetime
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.durable import explained, flush_tree, make_folder, reserve
from triplebeam.embed.token_encoder import TokenEncoder
from triplebeam.errors import BadInputError
from triplebeam.index.generation_files import file_sizes, new_generation, remove_generations
from triplebeam.index.manifest import publish, removed_on_error
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.token_vectors.codec import ResidualCodec, check_nbits, sample_size
from triplebeam.index.token_vectors.encoded_windows import EncodedWindows, Window, as_array
from triplebeam.index.token_vectors.token_index import (
    TokenManifest,
    TokenVectorIndex,
    digest,
    generation_of,
    home,
    offsets_of,
    places_of,
    published_tokens,
    text_hashes,
)
from triplebeam.index.writing import write_lock
from triplebeam.progress import Progress, silent

#: Passages encoded between two files: few enough to lose little and to hold in memory, many enough to sort by length.
WINDOW = 256
#: Rows of the published token vectors that are copied at a time.
_COPIED_AT_A_TIME = 4096
_SEED = 20_22


@dataclass(frozen=True)
class TokenBuildReport:
    """What a build did."""

    manifest: TokenManifest
    passages_encoded: int


@dataclass(frozen=True, kw_only=True)
class TokenIndexBuilder:
    """Makes the token vectors of an open index, or brings them up to date."""

    index: Snapshot
    encoder: TokenEncoder
    nbits: int = 2
    window: int = WINDOW
    progress: Progress = field(default=silent, repr=False)

    def build(self) -> TokenBuildReport:
        """Encode what is not encoded yet, and publish."""
        check_nbits(self.nbits, self.encoder.dimension)
        if not len(self.index.passages):
            raise BadInputError(f"there are no passages in {self.index.folder}: index some first.")
        place = home(self.index.folder)
        with explained(place):
            make_folder(place)
            with write_lock(place):
                return self._build(place)

    def _build(self, place: Path) -> TokenBuildReport:
        hashes = list(text_hashes(self.index.passages))
        encoded = EncodedWindows.at(place / "unfinished", self.encoder.fingerprint)
        before = self._published(len(hashes))
        lengths = _lengths(before) | encoded.lengths()
        count = self._encode(encoded, hashes, lengths)
        codec = before.codec if before else self._train(encoded, sum(lengths[each] for each in hashes))
        files = new_generation(place)
        windows = _windows(before, encoded, codec)
        with removed_on_error(files, self._published_generation):
            _write(files, hashes, lengths, codec, windows, self.progress)
            flush_tree(files)
            manifest = self._describe(files, hashes, lengths, codec, before)
            publish(place, manifest)
        remove_generations(place, keep=files.name)
        shutil.rmtree(encoded.folder, ignore_errors=True)
        return TokenBuildReport(manifest, count)

    def _describe(
        self,
        files: Path,
        hashes: list[bytes],
        lengths: dict[bytes, int],
        codec: ResidualCodec,
        before: TokenVectorIndex | None,
    ) -> TokenManifest:
        counts = {"tokens": sum(lengths[each] for each in hashes), "centroids": len(codec.centroids)}
        return TokenManifest(
            triplebeam=version("triplebeam"),
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            files_in=files.name,
            encoder=self.encoder.name,
            label=self.encoder.label,
            fingerprint=self.encoder.fingerprint,
            dimension=self.encoder.dimension,
            nbits=self.nbits,
            counts={"passages": len(hashes), **counts},
            trained_on=before.manifest.trained_on if before else len(hashes),
            index=generation_of(self.index),
            passages=digest(self.index.passages, hashes),
            files=file_sizes(files),
        )

    def _published_generation(self) -> str | None:
        there = published_tokens(self.index.folder)
        return there.files_in if there else None

    def _published(self, passages: int) -> TokenVectorIndex | None:
        """What is there already, if it can be taken over."""
        there = published_tokens(self.index.folder)
        if not there or (there.fingerprint, there.nbits) != (self.encoder.fingerprint, self.nbits):
            return None
        return TokenVectorIndex.open(self.index.folder) if passages / 2 <= there.trained_on <= passages * 2 else None

    def _encode(self, encoded: EncodedWindows, hashes: list[bytes], lengths: dict[bytes, int]) -> int:
        """Encode what is missing, window by window; ``lengths`` grows. Returns how many texts that were."""
        order = np.random.default_rng(_SEED).permutation(len(hashes)).tolist()
        missing = {hashes[row]: row for row in order if hashes[row] not in lengths}
        total, remaining = len(lengths) + len(missing), iter(missing.items())
        self.progress("encoding tokens", len(lengths), total)
        while window := dict(islice(remaining, self.window)):
            texts = [self.index.passages.at(row).searchable for row in window.values()]
            vectors, starts = self.encoder.encode(texts)
            encoded.keep(list(window), np.diff(starts), vectors)
            lengths |= zip(window, np.diff(starts).tolist(), strict=True)
            self.progress("encoding tokens", len(lengths), total)
        return len(missing)

    def _train(self, encoded: EncodedWindows, tokens: int) -> ResidualCodec:
        self.progress("finding centroids", 0, 0)
        codec = ResidualCodec.train(encoded.sample(sample_size(tokens)), self.nbits, tokens)
        self.progress("finding centroids", 1, 1)
        return codec


def _lengths(published: TokenVectorIndex | None) -> dict[bytes, int]:
    if published is None:
        return {}
    return dict(zip(map(bytes, published.text_hashes), np.diff(published.starts).tolist(), strict=True))


def _windows(published: TokenVectorIndex | None, encoded: EncodedWindows, codec: ResidualCodec) -> Iterator[Window]:
    """Everything that is encoded, a bounded part at a time."""
    for first in range(0, len(published) if published else 0, _COPIED_AT_A_TIME):
        assert published is not None
        starts = published.starts[first : first + _COPIED_AT_A_TIME + 1]
        tokens = slice(starts[0], starts[-1])
        hashes = list(map(bytes, published.text_hashes[first : first + _COPIED_AT_A_TIME]))
        yield Window(hashes, starts - starts[0], published.codes[tokens], published.residuals[tokens])
    yield from encoded.windows(codec)


def _write(
    folder: Path,
    hashes: list[bytes],
    lengths: dict[bytes, int],
    codec: ResidualCodec,
    windows: Iterable[Window],
    progress: Progress,
) -> None:
    """Write the files of a generation: the passages with these text hashes, in this order."""
    starts = offsets_of(np.array([lengths[text_hash] for text_hash in hashes], np.int64))
    codec.save(folder)
    np.save(folder / "starts.npy", starts)
    np.save(folder / "text_hashes.npy", as_array(hashes))
    number = np.uint16 if len(codec.centroids) <= 1 << 16 else np.uint32
    shape = (int(starts[-1]), codec.centroids.shape[1] * codec.nbits // 8)
    codes = np.lib.format.open_memmap(folder / "codes.npy", mode="w+", dtype=number, shape=shape[:1])
    residuals = np.lib.format.open_memmap(folder / "residuals.npy", mode="w+", dtype=np.uint8, shape=shape)
    reserve(folder / "codes.npy")
    reserve(folder / "residuals.npy")
    rows_of: dict[bytes, list[int]] = {}
    for row, text_hash in enumerate(hashes):
        rows_of.setdefault(text_hash, []).append(row)
    written = 0
    for window in windows:
        # A text that several passages share was encoded once; one that no passage has any more is left out.
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
    # A centroid and a passage in one number: sorting these groups them by centroid, and equal ones are adjacent.
    pairs = np.unique(codes.astype(np.int64) * (len(starts) - 1) + passage_of)
    owners, passages = np.divmod(pairs, len(starts) - 1)
    np.save(folder / "list_starts.npy", offsets_of(np.bincount(owners, minlength=centroids)))
    np.save(folder / "list_passages.npy", passages.astype(np.int32))
