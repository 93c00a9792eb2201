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
        known = self._get_cached(texts)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            # Outside the lock: two threads may encode the same query, but none waits for another's.
            vectors = require_finite(self._embedder.embed(missing, kind), self)
            fresh = dict(zip(missing, vectors, strict=True))
            self._keep(fresh)
            known |= fresh
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), self.dimension)

    def _get_cached(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in known:
                self._vectors.move_to_end(text)
            return known

    def _keep(self, fresh: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            for text, vector in fresh.items():
                self._vectors[text] = vector.copy()  # not a view that would keep its whole batch alive
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
