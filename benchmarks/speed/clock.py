"""Where the time goes inside a query: methods of the package, clocked while they run.

The clock is the processor's, of all threads together: on a shared machine the clock on the wall measures the others.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.index.folder.tables import PassageTable, TripleGraph
from triplebeam.index.folder.terms import TermIndex
from triplebeam.index.folder.vectors import VectorIndex
from triplebeam.methods.gear.beam_search import DiverseTripleBeamSearch
from triplebeam.methods.gnn_ret.propagate import MessagePassing
from triplebeam.retrieve.bases import Dense
from triplebeam.retrieve.blend.links import FactLinks
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank

now = time.process_time


class RecordingEmbedder:
    """An embedder that keeps the texts it encodes, so that they can be encoded again, all at once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.fingerprint, self.dimension = embedder.name, embedder.fingerprint, embedder.dimension
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One unit row per text, in order."""
        self.texts += texts
        return self._embedder.embed(texts, kind)


#: What is timed; time inside an inner part is not counted again in the outer one.
PARTS: dict[str, tuple[tuple[type, str], ...]] = {
    "encoding": ((RecordingEmbedder, "embed"),),
    "BM25": ((TermIndex, "search"),),
    "vector search": ((VectorIndex, "nearest"), (VectorIndex, "nearest_many"), (Dense, "scores_many")),
    "PageRank": ((PersonalizedPageRank, "probabilities"),),
    "passage graph": ((MessagePassing, "propagate"),),
    "neighbours": ((TripleGraph, "neighbours"),),
    "beam search": ((DiverseTripleBeamSearch, "search"),),
    "fact links": ((FactLinks, "follow"),),
    "text lookup": ((PassageTable, "__getitem__"),),
}


class Clock:
    """Self time of nested parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            start = now()
            try:
                return function(*args, **kwargs)
            finally:
                took = now() - start
                self.seconds[part] += took - self._inner.pop()
                self._inner[-1] += took

        return run


@contextmanager
def clocked() -> Iterator[Clock]:
    """Time the parts while this lasts, of retrievers that are made in it: some hold on to the methods they call."""
    clock = Clock()
    places = [(part, owner, name) for part, methods in PARTS.items() for owner, name in methods]
    originals = [getattr(owner, name) for _, owner, name in places]
    for (part, owner, name), original in zip(places, originals, strict=True):
        setattr(owner, name, clock.timed(part, original))
    try:
        yield clock
    finally:
        for (_, owner, name), original in zip(places, originals, strict=True):
            setattr(owner, name, original)


def seconds(function: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = now()
    function()
    return now() - start
