"""What every embedder offers, and how texts are encoded in windows: few enough to lose little, many enough to sort by
length. Vectors of queries are cached: a question is encoded once, though several retrievers ask for its vector.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError, EmbedderMismatchError

#: Some models encode questions and passages differently; the others ignore it.
Kind: TypeAlias = Literal["passage", "query"]
#: Where something begins in a text, and where it ends.
Span: TypeAlias = tuple[int, int]


class Embedder(Protocol):
    """Turns texts into rows of unit length. ``name`` and ``fingerprint`` identify the vector space in an index."""

    @property
    def name(self) -> str:
        """What a user would type to get this embedder again."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors would: a hash of the weights, or the endpoint's model name."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return one unit row per text, in order. For an empty sequence, an array of no rows."""
        ...


@runtime_checkable
class SpanEmbedder(Embedder, Protocol):
    """An embedder that may also return vectors of parts of a text, from one reading of the whole."""

    @property
    def reads_tokens(self) -> bool:
        """Whether this model can."""
        ...

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[Sequence[Span]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return the passage vectors of `embed`, and for each text a unit row per group of spans: their tokens' mean.

        A group without a token gets the mean of all.
        """
        ...


def require_finite(vectors: NDArray[np.float32], embedder: Embedder) -> NDArray[np.float32]:
    """Return the vectors of an embedder; raises where one of them is not finite."""
    if not np.isfinite(vectors).all():
        raise BadInputError(
            f"The embedder {embedder.name!r} returned a vector with numbers that are not finite: its model or the text"
            " it was given is damaged, so check both, or index into a new folder with another embedder."
        )
    return vectors


def has_token_vectors(embedder: Embedder) -> TypeGuard[SpanEmbedder]:
    """Return whether an embedder returns vectors of parts of a text."""
    return isinstance(embedder, SpanEmbedder) and embedder.reads_tokens


@dataclass(frozen=True)
class Window:
    """Texts, and for each of them, unless there are none, groups of spans that get vectors of their own."""

    texts: Sequence[str]
    spans: Sequence[Sequence[Sequence[Span]]] = ()


#: Encodes windows, each as `embed_window` does, and yields their vectors in order, here or elsewhere.
EncodeWindows: TypeAlias = Callable[[Embedder, Iterable[Window]], Iterator[NDArray[np.float32]]]


def encode_here(embedder: Embedder, windows: Iterable[Window]) -> Iterator[NDArray[np.float32]]:
    """Encode one window after the other, in this process."""
    return (embed_window(embedder, window) for window in windows)


def embed_window(embedder: Embedder, window: Window) -> NDArray[np.float32]:
    """Return a row per text, then a row per group of spans."""
    if not window.spans:
        return embedder.embed(window.texts)
    if not has_token_vectors(embedder):
        raise EmbedderMismatchError(
            "the triples of this index are encoded in the context of their passages, and the embedder"
            f" {embedder.name!r} has no vectors of tokens: use the one the index was built with, or index into a new"
            " folder."
        )
    vectors, of_spans = embedder.embed_spans(window.texts, window.spans)
    return np.concatenate([vectors, *of_spans])


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


class CachedEmbedder:
    """An embedder that caches the vectors of the last ``size`` queries. Passages are not cached."""

    def __init__(self, embedder: Embedder, size: int = 1024) -> None:
        if size < 1:
            raise BadInputError(f"the size of the query cache must be at least 1, got {size}.")
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"CachedEmbedder({self._embedder!r}, size={self._size})"

    @property
    def name(self) -> str:
        """The name of the wrapped embedder."""
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the wrapped embedder."""
        return self._embedder.fingerprint

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return one unit row per text, in order; queries seen before are not encoded again."""
        if kind != "query":
            return require_finite(self._embedder.embed(texts, kind), self)
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        # Outside the lock: two threads may encode the same query, but none waits for another's.
        if missing := list(dict.fromkeys(text for text in texts if text not in known)):
            vectors = require_finite(self._embedder.embed(missing, kind), self)
            # Copies: a view would keep its whole batch alive.
            known |= {text: vector.copy() for text, vector in zip(missing, vectors, strict=True)}
        with self._lock:
            for text, vector in known.items():
                self._vectors[text] = vector
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), self.dimension)
