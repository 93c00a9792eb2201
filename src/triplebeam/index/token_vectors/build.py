"""Building the token vectors of an index: encode, find centroids, compress, publish.

Passages are encoded in an order drawn once, a window at a time. The first windows, as many as training needs, are kept
as vectors; once the codec is trained the others are compressed as they come, so that memory is bounded and little is on
disk. A build that is stopped goes on with the next window. A later build takes over from the published one whatever has
the same text, with the same centroids, until the collection has doubled or halved: then it starts afresh.
"""

import datetime
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from triplebeam.embed.token_encoder import TokenEncoder
from triplebeam.errors import BadInputError, IndexBusyError
from triplebeam.index.manifest import MANIFEST, file_sizes
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.token_vectors.codec import ResidualCodec, check_nbits, sample_size
from triplebeam.index.token_vectors.manifest import (
    FORMAT,
    TokenManifest,
    digest,
    generation_of,
    home,
    published_tokens,
    text_hashes,
)
from triplebeam.index.token_vectors.opened import TokenVectorIndex
from triplebeam.index.token_vectors.windows import Unfinished, Window
from triplebeam.index.token_vectors.write import write_token_vectors
from triplebeam.progress import Progress, silent

#: Passages encoded between two files: few enough to lose little and to hold in memory, many enough to sort by length.
WINDOW = 256
#: Rows of the published token vectors that are copied at a time.
_COPIED_AT_A_TIME = 4096
_SEED = 20_22


@dataclass(frozen=True)
class TokenBuildReport:
    """What a build did, for whoever started it."""

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
        place = home(self.index.folder)
        lock = _locked(place)
        try:
            return self._build(place)
        finally:
            lock.release()

    def _build(self, place: Path) -> TokenBuildReport:
        hashes = list(text_hashes(self.index.passages))
        if not hashes:
            raise BadInputError(f"there are no passages in {self.index.folder}: index some first.")
        unfinished = Unfinished(place / "unfinished", f"{FORMAT} {self.encoder.fingerprint} {self.nbits}")
        unfinished.begin()
        published = self._published()
        codec = unfinished.codec()
        if codec is None and published and len(hashes) / 2 <= published.manifest.trained_on <= len(hashes) * 2:
            codec = published.codec
            unfinished.keep_codec(codec)
        # Codes mean nothing by other centroids than their own.
        if published and (codec is None or not np.array_equal(codec.centroids, published.codec.centroids)):
            published = None
        lengths = _lengths(published) | unfinished.lengths()
        waiting = self._waiting(hashes, lengths)
        encoded = len(waiting)
        codec = self._encode(unfinished, waiting, lengths, codec)
        trained_on = published.manifest.trained_on if published else len(hashes)
        manifest = self._publish(place, hashes, lengths, codec, _all_windows(published, unfinished, codec), trained_on)
        return TokenBuildReport(manifest, encoded)

    def _published(self) -> TokenVectorIndex | None:
        """What is there already and can be taken over."""
        there = published_tokens(self.index.folder)
        if there and (there.fingerprint, there.nbits) == (self.encoder.fingerprint, self.nbits):
            return TokenVectorIndex.open(self.index.folder)
        return None

    def _waiting(self, hashes: list[bytes], lengths: dict[bytes, int]) -> dict[bytes, int]:
        """The texts to encode, each with a row that has it, in an order drawn once: the first are the sample."""
        order = np.random.default_rng(_SEED).permutation(len(hashes)).tolist()
        return {hashes[row]: row for row in order if hashes[row] not in lengths}

    def _encode(
        self, unfinished: Unfinished, waiting: dict[bytes, int], lengths: dict[bytes, int], codec: ResidualCodec | None
    ) -> ResidualCodec:
        """Encode window by window; train as soon as there is enough to train on. ``lengths`` grows."""
        passages = self.index.passages
        total, remaining = len(lengths) + len(waiting), iter(waiting.items())
        while True:
            self.progress("encoding tokens", len(lengths), total)
            if codec is None and lengths:
                codec = self._train(unfinished, lengths, total)
            if not (window := list(islice(remaining, self.window))):
                break
            vectors, starts = self.encoder.encode([passages.at(row).searchable for _, row in window])
            done = [text_hash for text_hash, _ in window]
            if codec is None:
                unfinished.keep(done, starts, vectors=vectors.astype(np.float16))
            else:
                codes, residuals = codec.compress(vectors)
                unfinished.keep(done, starts, codes=codes, residuals=residuals)
            lengths |= zip(done, np.diff(starts).tolist(), strict=True)
        assert codec is not None  # there are passages, and all of them are enough to train on
        return codec

    def _train(self, unfinished: Unfinished, lengths: dict[bytes, int], total: int) -> ResidualCodec | None:
        """The codec, once enough is encoded for it."""
        encoded = sum(lengths.values())
        tokens = encoded * total // len(lengths)  # expected of the whole collection
        if encoded < sample_size(tokens) and len(lengths) < total:
            return None
        self.progress("finding centroids", 0, 0)
        codec = ResidualCodec.train(unfinished.sample()[: sample_size(tokens)], self.nbits, tokens)
        unfinished.keep_codec(codec)
        self.progress("finding centroids", 1, 1)
        return codec

    def _publish(
        self,
        place: Path,
        hashes: list[bytes],
        lengths: dict[bytes, int],
        codec: ResidualCodec,
        windows: Iterator[Window],
        trained_on: int,
    ) -> TokenManifest:
        numbered = [path for path in place.iterdir() if path.name.isdigit()]
        files = place / f"{max((int(path.name) for path in numbered), default=0) + 1:06d}"
        files.mkdir()
        write_token_vectors(files, hashes, lengths, codec, windows, self.progress)
        manifest = TokenManifest(
            triplebeam=version("triplebeam"),
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            files_in=files.name,
            encoder=self.encoder.name,
            label=self.encoder.label,
            fingerprint=self.encoder.fingerprint,
            dimension=self.encoder.dimension,
            nbits=self.nbits,
            counts={
                "passages": len(hashes),
                "tokens": sum(lengths[text_hash] for text_hash in hashes),
                "centroids": len(codec.centroids),
            },
            trained_on=trained_on,
            index=generation_of(self.index),
            passages=digest(self.index.passages, hashes),
            files=file_sizes(files),
        )
        manifest.publish(place / MANIFEST)
        for old in [*numbered, place / "unfinished"]:
            shutil.rmtree(old, ignore_errors=True)  # a reader that has one open keeps its files
        return manifest


def _lengths(published: TokenVectorIndex | None) -> dict[bytes, int]:
    if published is None:
        return {}
    return dict(zip(map(bytes, published.text_hashes), np.diff(published.starts).tolist(), strict=True))


def _all_windows(published: TokenVectorIndex | None, unfinished: Unfinished, codec: ResidualCodec) -> Iterator[Window]:
    """Everything that is encoded, a bounded part at a time."""
    if published is not None:
        yield from _windows(published)
    yield from unfinished.windows(codec)


def _windows(published: TokenVectorIndex) -> Iterator[Window]:
    for first in range(0, len(published), _COPIED_AT_A_TIME):
        rows = slice(first, first + _COPIED_AT_A_TIME)
        starts = published.starts[first : rows.stop + 1]
        tokens = slice(starts[0], starts[-1])
        hashes = list(map(bytes, published.text_hashes[rows]))
        yield Window(hashes, starts - starts[0], published.codes[tokens], published.residuals[tokens])


def _locked(place: Path) -> FileLock:
    """The folder, for one writer at a time."""
    lock = FileLock(place / "write.lock")
    try:
        place.mkdir(exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise IndexBusyError(f"another process is writing to {place}: wait until it is done, then try again.") from None
    except OSError as error:
        raise BadInputError(f"{place} cannot be written to ({error.strerror}): check its permissions.") from error
    return lock
