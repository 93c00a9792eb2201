"""Token vectors, compressed as in ColBERTv2: a folder beside an index's generations, for late interaction."""

from triplebeam.index.token_vectors.token_builder import TokenBuildReport, TokenIndexBuilder
from triplebeam.index.token_vectors.token_index import TokenManifest, TokenVectorIndex, published_tokens

__all__ = ["TokenBuildReport", "TokenIndexBuilder", "TokenManifest", "TokenVectorIndex", "published_tokens"]
