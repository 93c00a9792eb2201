"""Token vectors, compressed as ColBERTv2 does: a folder beside an index's generations, for late interaction."""

from triplebeam.index.token_vectors.build import TokenBuildReport, TokenIndexBuilder
from triplebeam.index.token_vectors.manifest import TokenManifest, published_tokens
from triplebeam.index.token_vectors.opened import TokenVectorIndex

__all__ = ["TokenBuildReport", "TokenIndexBuilder", "TokenManifest", "TokenVectorIndex", "published_tokens"]
