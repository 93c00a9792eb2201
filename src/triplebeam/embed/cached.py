"""A cache of query vectors: a question is encoded once, though several retrievers ask for its vector."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Kind, require_finite
from triplebeam.errors import BadInputError


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
