"""The token vectors of an index, memory-mapped, and the passages whose tokens are nearest to those of a query.

The score is ColBERT's MaxSim: each token of the query takes its highest cosine with a token of the passage, and these
are added up. As in PLAID (Santhanam et al., 2022), passages are found by the centroids nearest to the query's tokens
and first scored as if every token were its centroid; the best of them are decompressed and scored exactly.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from triplebeam.embed.token_encoder import TokenEncoder
from triplebeam.errors import EmbedderMismatchError, IndexDamagedError, IndexFormatError, IndexMissingError
from triplebeam.index.columns import loaded, mapped
from triplebeam.index.generation_files import check_files
from triplebeam.index.manifest import MANIFEST, load_manifest
from triplebeam.index.passages import PassageTable
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.token_vectors.codec import ResidualCodec
from triplebeam.index.vectors import top

Vectors: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = NDArray[np.int64]

#: Tokens scored together: what is decompressed at a time stays in a processor's cache.
_TOKENS_AT_A_TIME = 1 << 13
_HASH_BYTES = 16


class TokenManifest(BaseModel):
    """What ``INDEX/late_interaction/manifest.json`` holds."""

    model_config = ConfigDict(frozen=True)

    format: int = 1
    triplebeam: str
    created: str
    files_in: str
    """The folder of the files, beside the manifest."""
    encoder: str
    label: str
    fingerprint: str
    dimension: int
    nbits: int
    counts: dict[str, int]
    trained_on: int
    """Passages the index had when the centroids were found."""
    index: str
    """The generation of the index it was made from."""
    passages: str
    """A hash of every passage's id and text, in order. The hashes of the texts alone are in ``text_hashes.npy``."""
    files: dict[str, int]
    """Each file with its size in bytes."""

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(self.files.values())

    def check_encoder(self, folder: Path, encoder: TokenEncoder) -> None:
        """Raise where the vectors of a query would be of another space than these."""
        if (self.fingerprint, self.dimension) != (encoder.fingerprint, encoder.dimension):
            raise EmbedderMismatchError(
                f"the token vectors in {home(folder)} are of the encoder {self.encoder!r}, not of {encoder.name!r}"
                f" ({encoder.dimension} dimensions, fingerprint {encoder.fingerprint[:12]}): use that encoder, or run"
                f" `triplebeam late-index {folder} --encoder {encoder.name}`."
            )

    def check_passages(self, index: Snapshot) -> None:
        """Raise where the index has other passages now. They are only read where it was published since."""
        if self.index != generation_of(index) and self.passages != digest(index.passages, text_hashes(index.passages)):
            raise IndexMissingError(
                f"the passages of {index.folder} have changed since their token vectors were made:"
                f" run `triplebeam late-index {index.folder}`, which encodes what is new."
            )


def home(folder: Path) -> Path:
    """Where the token vectors of an index are."""
    return folder / "late_interaction"


def generation_of(index: Snapshot) -> str:
    """The generation of an open index, by a name no other has."""
    return f"{index.manifest.generation} of {index.manifest.created}"


def text_hashes(passages: PassageTable) -> Iterator[bytes]:
    """A hash of the text of every passage, in the order of their rows."""
    return (_hash(passages.at(row).searchable) for row in range(len(passages)))


def digest(passages: PassageTable, hashes: Iterable[bytes]) -> str:
    """One hash of all ids and texts, in order."""
    total = hashlib.blake2b(digest_size=32)
    for id_, text_hash in zip(passages.ids(range(len(passages))), hashes, strict=True):
        total.update(_hash(id_) + text_hash)
    return total.hexdigest()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def published_tokens(folder: Path) -> TokenManifest | None:
    """What is published now; what cannot be read counts as nothing, since it can be made again."""
    try:
        return _read_manifest(folder)
    except (IndexMissingError, IndexDamagedError, IndexFormatError):
        return None


def _read_manifest(folder: Path) -> TokenManifest:
    command = f"`triplebeam late-index {folder}`"
    try:
        manifest = load_manifest(home(folder) / MANIFEST, TokenManifest, f"run {command}.")
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissingError(f"{folder} has no token vectors: make them with {command}.") from None
    check_files(home(folder) / manifest.files_in, manifest.files, f"run {command}.")
    return manifest


@dataclass(frozen=True)
class TokenVectorIndex:
    """The tokens of every passage, by the row the passage has in the index."""

    manifest: TokenManifest
    codec: ResidualCodec
    starts: Rows
    """Where the tokens of each passage begin; passages + 1."""
    codes: NDArray[Any]
    residuals: NDArray[np.uint8]
    list_starts: Rows
    """Where the passages of each centroid begin; centroids + 1."""
    list_passages: NDArray[np.int32]
    text_hashes: NDArray[np.uint8]

    @classmethod
    def open(cls, folder: Path) -> "TokenVectorIndex":
        """Open those of the index at ``folder``. Nothing is written, so a read-only folder will do."""
        manifest = _read_manifest(folder)
        files = home(folder) / manifest.files_in
        try:
            codec = ResidualCodec.load(files)
            # Offsets are read whole: every query looks at them all over.
            starts, list_starts = (loaded(files / f"{name}.npy") for name in ("starts", "list_starts"))
            names = ("codes", "residuals", "list_passages", "text_hashes")
            codes, residuals, passages, hashes = (mapped(files / f"{name}.npy") for name in names)
        except (OSError, ValueError) as error:
            raise IndexDamagedError(
                f"a file in {files} cannot be read ({error}): run `triplebeam late-index {folder}`."
            ) from error
        return cls(manifest, codec, starts, codes, residuals, list_starts, passages, hashes)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def at(self, rows: Rows) -> "TokenVectorIndex":
        """Those of some passages, in rising order, which get the rows 0, 1, 2 and so on; the centroids stay."""
        places, listed = places_of(self.starts, rows), np.isin(self.list_passages, rows)
        return replace(
            self,
            starts=offsets_of(self.starts[rows + 1] - self.starts[rows]),
            codes=self.codes[places],
            residuals=self.residuals[places],
            list_starts=offsets_of(listed.astype(np.int64))[self.list_starts],
            list_passages=np.searchsorted(rows, self.list_passages[listed]).astype(np.int32),
            text_hashes=self.text_hashes[rows],
        )

    def search(self, query: Vectors, *, nprobe: int, candidates: int) -> tuple[Rows, Vectors]:
        """The candidates for the query's token vectors, in rising order of rows, and their MaxSim."""
        cosines = query @ self.codec.centroids.T
        rows = self.passages_near(cosines, nprobe)
        if len(rows) > candidates:
            by_centroids = self._scores(rows, lambda places: np.take(cosines, self.codes[places], axis=1))
            rows = np.sort(rows[top(by_centroids, candidates)])
        return rows, self.max_sim(query, rows)

    def passages_near(self, cosines: Vectors, nprobe: int) -> Rows:
        """Passages that have a token of one of the ``nprobe`` centroids nearest to a token of the query, rising.

        Centroids of no passage, as in a view, are passed over.
        """
        filled = np.flatnonzero(np.diff(self.list_starts))
        probed = min(nprobe, len(filled))
        nearest = filled[np.unique(np.argpartition(-cosines[:, filled], probed - 1, axis=1)[:, :probed])]
        return np.unique(self.list_passages[places_of(self.list_starts, nearest)]).astype(np.int64)

    def max_sim(self, query: Vectors, rows: Rows) -> Vectors:
        """The MaxSim of passages, from the decompressed vectors of their tokens."""
        return self._scores(rows, lambda places: query @ self.vectors(places).T)

    def vectors(self, places: Rows) -> Vectors:
        """The decompressed vectors of tokens."""
        return self.codec.decompress(self.codes[places], self.residuals[places])

    def _scores(self, rows: Rows, similarities: Callable[[Rows], Vectors]) -> Vectors:
        """For each passage, the sum over the query's tokens of the highest similarity.

        ``similarities`` returns one row per token of the query and one column per token at these places.
        """
        scores = []
        for block in blocks_of(self.starts, rows, _TOKENS_AT_A_TIME):
            columns = similarities(places_of(self.starts, block))
            begins = offsets_of(self.starts[block + 1] - self.starts[block])[:-1]
            scores.append(np.maximum.reduceat(columns, begins, axis=1).sum(axis=0))
        return np.concatenate(scores)


# -- spans of unequal length in one array: the tokens of a passage, the passages of a centroid


def offsets_of(lengths: Rows) -> Rows:
    """Where spans begin when they are laid end to end; the last entry is where all of them end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def places_of(starts: Rows, rows: Rows) -> Rows:
    """The positions of everything in these spans, one span after the other."""
    lengths = starts[rows + 1] - starts[rows]
    return np.repeat(starts[rows] - offsets_of(lengths)[:-1], lengths) + np.arange(lengths.sum())


def blocks_of(starts: Rows, rows: Rows, most: int) -> Iterator[Rows]:
    """The rows in runs that together hold about ``most`` or fewer."""
    filled = np.cumsum(starts[rows + 1] - starts[rows]) // most
    yield from np.split(rows, np.flatnonzero(np.diff(filled)) + 1)
