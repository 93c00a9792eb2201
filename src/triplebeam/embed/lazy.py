"""An embedder that is loaded late."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Kind, Span, SpanEmbedder, has_token_vectors


@dataclass(frozen=True)
class LazyEmbedder:
    """An embedder that is loaded when it is first needed: bm25 needs none."""

    load: Callable[[], Embedder]

    @property
    def name(self) -> str:
        return self.load().name

    @property
    def fingerprint(self) -> str:
        return self.load().fingerprint

    @property
    def dimension(self) -> int:
        return self.load().dimension

    @property
    def reads_tokens(self) -> bool:
        return has_token_vectors(self.load())

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return self.load().embed(texts, kind)

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[Sequence[Span]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        return cast("SpanEmbedder", self.load()).embed_spans(texts, spans)
