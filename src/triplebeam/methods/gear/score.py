"""GeAR, score(q, T): how well a chain of triples matches a query, the cost of Algorithm 1.

The paper takes the cosine between the embeddings of the query and of the chain. `Exact` does that, and encodes up to
width x neighbours chains per query. The two others are ours: `Pooled` encodes nothing but the query, `Cascade` lets the
pooled score choose the few chains that are encoded. A chain's text is its triples joined by spaces; a chain of one
triple is the triple, whose vector is stored, so no scorer encodes it again.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.vectors import select_top
from triplebeam.index.protocols import TripleStore
from triplebeam.retrieve.retriever import check_fields


class ChainScorer(Protocol):
    """Scores chains against a query."""

    @property
    def embedder(self) -> Embedder:
        """Encodes queries, proximal triples and chains."""
        ...

    def score(
        self, query: NDArray[np.float32], chains: NDArray[np.int64], beams: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return one score per row of ``chains`` (triple ids); ``beams`` says which beam the row extends.

        A score of minus infinity leaves the chain out of the search.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Exact:
    """The paper's: the cosine of the query and of the chain's own embedding."""

    triples: TripleStore = field(repr=False)
    embedder: Embedder = field(repr=False)

    def score(
        self, query: NDArray[np.float32], chains: NDArray[np.int64], beams: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Encode every chain of more than one triple."""
        if chains.shape[1] == 1:
            return self.triples.vectors(chains[:, 0]) @ query
        return self.embedder.embed(self._texts(chains)) @ query

    def _texts(self, chains: NDArray[np.int64]) -> list[str]:
        names = {triple_id: str(self.triples.triple(triple_id)) for triple_id in np.unique(chains).tolist()}
        return [" ".join(names[triple_id] for triple_id in chain) for chain in chains.tolist()]


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """The cosine of the query and of the mean of the triples' stored vectors."""

    triples: TripleStore = field(repr=False)
    embedder: Embedder = field(repr=False)

    def score(
        self, query: NDArray[np.float32], chains: NDArray[np.int64], beams: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Encode nothing."""
        distinct, places = np.unique(chains, return_inverse=True)
        mean: NDArray[np.float32] = self.triples.vectors(distinct)[places.reshape(chains.shape)].mean(axis=1)
        length = np.linalg.norm(mean, axis=1)
        # Opposite vectors cancel out: such a chain points nowhere, so its cosine is 0.
        cosine: NDArray[np.float32] = np.divide(mean @ query, length, out=np.zeros_like(length), where=length > 0)
        return cosine


@dataclass(frozen=True, kw_only=True)
class Cascade:
    """Pooled first, then exact for the best ``shortlist`` chains of each beam; the others are left out."""

    triples: TripleStore = field(repr=False)
    embedder: Embedder = field(repr=False)
    shortlist: int = 8

    def __post_init__(self) -> None:
        check_fields(self)

    def score(
        self, query: NDArray[np.float32], chains: NDArray[np.int64], beams: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Encode the shortlist of each beam."""
        exact = Exact(triples=self.triples, embedder=self.embedder)
        if chains.shape[1] == 1:
            return exact.score(query, chains, beams)
        pooled = Pooled(triples=self.triples, embedder=self.embedder).score(query, chains, beams)
        chosen = np.concatenate([_select_best(beam, beams, pooled, self.shortlist) for beam in np.unique(beams)])
        scores = np.full(len(chains), -np.inf, np.float32)
        scores[chosen] = exact.score(query, chains[chosen], beams[chosen])
        return scores


def _select_best(beam: int, beams: NDArray[np.int64], scores: NDArray[np.float32], shortlist: int) -> NDArray[np.int64]:
    """Select the rows of a beam with the best scores."""
    rows = np.flatnonzero(beams == beam)
    return rows[select_top(scores[rows], shortlist)]
