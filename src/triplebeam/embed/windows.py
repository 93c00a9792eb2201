"""Texts to encode, in windows: few enough to lose little, many enough to sort by length."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Span, SpanEmbedder, reads_tokens
from triplebeam.errors import EmbedderMismatchError


@dataclass(frozen=True)
class Window:
    """Texts, and for each of them, unless there are none, groups of spans that get vectors of their own."""

    texts: Sequence[str]
    spans: Sequence[Sequence[Sequence[Span]]] = ()


#: Encodes windows, each as `encoded` does, and yields their vectors in order, here or elsewhere.
EncodeWindows: TypeAlias = Callable[[Embedder, Iterable[Window]], Iterator[NDArray[np.float32]]]


def encode_here(embedder: Embedder, windows: Iterable[Window]) -> Iterator[NDArray[np.float32]]:
    """One window after the other, in this process."""
    return (encoded(embedder, window) for window in windows)


def encoded(embedder: Embedder, window: Window) -> NDArray[np.float32]:
    """A row per text, then a row per group of spans."""
    if not window.spans:
        return embedder.embed(window.texts)
    vectors, of_spans = _span_embedder(embedder).embed_spans(window.texts, window.spans)
    return np.concatenate([vectors, *of_spans])


def _span_embedder(embedder: Embedder) -> SpanEmbedder:
    if reads_tokens(embedder):
        return embedder
    raise EmbedderMismatchError(
        f"the triples of this index are encoded in the context of their passages, and the embedder {embedder.name!r}"
        " has no vectors of tokens: use the one the index was built with, or index into a new folder."
    )
