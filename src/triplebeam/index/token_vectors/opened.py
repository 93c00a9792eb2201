"""The token vectors of an index, memory-mapped, and the passages whose tokens are nearest to a query's.

The score is ColBERT's MaxSim: each token of the query takes its highest cosine with a token of the passage, and these
are added up. As in PLAID (Santhanam et al., 2022), passages are found by the centroids nearest to the query's tokens
and first scored as if every token were its centroid; the best of them are decompressed and scored in earnest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import IndexDamagedError
from triplebeam.index.token_vectors.codec import ResidualCodec
from triplebeam.index.token_vectors.manifest import TokenManifest, home, read_token_manifest
from triplebeam.index.token_vectors.ragged import blocks_of, lengths_of, offsets_of, places_of
from triplebeam.index.vectors import top

Vectors: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = NDArray[np.int64]

#: Tokens looked at together: what is decompressed at a time stays near a processor.
_TOKENS_AT_A_TIME = 1 << 13


@dataclass(frozen=True)
class TokenVectorIndex:
    """Every passage's tokens, by the row the passage has in the index."""

    manifest: TokenManifest
    codec: ResidualCodec
    starts: Rows
    """Where each passage's tokens begin; passages + 1."""
    codes: NDArray[Any]
    residuals: NDArray[np.uint8]
    list_starts: Rows
    """Where each centroid's passages begin; centroids + 1."""
    list_passages: NDArray[np.int32]
    text_hashes: NDArray[np.uint8]

    @classmethod
    def open(cls, folder: Path) -> "TokenVectorIndex":
        """Open those of the index at ``folder``. Nothing is written, so a read-only folder will do."""
        manifest = read_token_manifest(folder)
        files = home(folder) / manifest.files_in
        try:
            codec = ResidualCodec.load(files)
            # Offsets are read whole: every query looks at them all over.
            starts, list_starts = (np.load(files / f"{name}.npy") for name in ("starts", "list_starts"))
            names = ("codes", "residuals", "list_passages", "text_hashes")
            codes, residuals, passages, hashes = (np.load(files / f"{name}.npy", mmap_mode="r") for name in names)
        except (OSError, ValueError) as error:
            raise IndexDamagedError(
                f"a file in {files} cannot be read ({error}): run `triplebeam late-index {folder}`."
            ) from error
        return cls(manifest, codec, starts, codes, residuals, list_starts, passages, hashes)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def search(self, query: Vectors, *, nprobe: int, candidates: int) -> tuple[Rows, Vectors]:
        """The passages worth an exact look, rising, and their MaxSim with the query's token vectors."""
        cosines = query @ self.codec.centroids.T
        rows = self.passages_near(cosines, nprobe)
        if len(rows) > candidates:
            by_centroids = self._scores(rows, lambda places: np.take(cosines, self.codes[places], axis=1))
            rows = np.sort(rows[top(by_centroids, candidates)])
        return rows, self.max_sim(query, rows)

    def passages_near(self, cosines: Vectors, nprobe: int) -> Rows:
        """Passages that have a token of one of the ``nprobe`` centroids nearest to a token of the query, rising."""
        probed = min(nprobe, cosines.shape[1])
        nearest = np.unique(np.argpartition(-cosines, probed - 1, axis=1)[:, :probed])
        return np.unique(self.list_passages[places_of(self.list_starts, nearest)]).astype(np.int64)

    def max_sim(self, query: Vectors, rows: Rows) -> Vectors:
        """The MaxSim of passages, by what is left of their tokens' vectors after compression."""
        return self._scores(rows, lambda places: query @ self.vectors(places).T)

    def vectors(self, places: Rows) -> Vectors:
        """The decompressed vectors of tokens."""
        return self.codec.decompress(self.codes[places], self.residuals[places])

    def _scores(self, rows: Rows, similarities: Callable[[Rows], Vectors]) -> Vectors:
        """For each passage, the sum over the query's tokens of the highest similarity.

        ``similarities`` gives one row a token of the query and one column a token at these places.
        """
        scores = []
        for block in blocks_of(self.starts, rows, _TOKENS_AT_A_TIME):
            columns = similarities(places_of(self.starts, block))
            begins = offsets_of(lengths_of(self.starts, block))[:-1]
            scores.append(np.maximum.reduceat(columns, begins, axis=1).sum(axis=0))
        return np.concatenate(scores)
