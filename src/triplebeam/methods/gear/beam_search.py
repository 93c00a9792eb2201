"""GeAR, Algorithm 1: diverse triple beam search, and score(q, T), how well a chain of triples matches a query.

Followed to the letter: the cumulative score of line 13, the diversity weight of line 18 (also where a score is
negative, where it raises the score), `exists` over all triples of the last beams (line 11). Decided where the paper is
silent:

- neighbours of a hub are ranked by similarity to the query before they are cut at ``neighbours``;
- `exists` compares triple ids, so the same fact from another passage is another triple;
- when every beam is at a dead end, the last beams are kept (as printed, the algorithm would return nothing);
- between equal scores the one found first stays in front.

The oracle in ``tests/oracles/diverse_triple_beam_search.py`` is a slow transcription with the paper's line numbers.

The score is the cost of Algorithm 1. The paper takes the cosine between the embeddings of the query and of the chain.
`Exact` does that, and encodes up to width x neighbours chains per query. The two others are ours: `Pooled` encodes
nothing but the query, `Cascade` lets the pooled score choose the few chains that are encoded. A chain's text is its
triples joined by spaces; a chain of one triple is the triple, whose vector is stored, so no scorer encodes it again.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.vectors import select_top
from triplebeam.index.source import TripleStore
from triplebeam.retrieve.retriever import check_fields
from triplebeam.system.work import check_cancelled


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
        names = {triple_id: str(self.triples.triple(triple_id)) for triple_id in np.unique(chains).tolist()}
        texts = [" ".join(names[triple_id] for triple_id in chain) for chain in chains.tolist()]
        return self.embedder.embed(texts) @ query


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
        rows = (np.flatnonzero(beams == beam) for beam in np.unique(beams))
        chosen = np.concatenate([each[select_top(pooled[each], self.shortlist)] for each in rows])
        scores = np.full(len(chains), -np.inf, np.float32)
        scores[chosen] = exact.score(query, chains[chosen], beams[chosen])
        return scores


class Beams(NamedTuple):
    """The sequences kept after a step, best first: a score and a row of triple ids for each."""

    scores: NDArray[np.float64]
    chains: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class DiverseTripleBeamSearch:
    """Grows chains of neighbouring triples from initial triples towards a query."""

    triples: TripleStore = field(repr=False)
    scorer: ChainScorer
    width: int = 10
    """b: beams kept at each step."""
    length: int = 2
    """l: triples in a chain."""
    neighbours: int = 100
    """Neighbours of a beam's last triple that are looked at."""
    diversity: float | None = None
    """γ: twice the width unless given; infinity switches diversity off."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.diversity is not None and not self.diversity > 0:
            raise BadInputError(f"diversity must be above 0, got {self.diversity}: infinity switches it off.")

    def search(self, query: NDArray[np.float32], initial: NDArray[np.int64]) -> Beams:
        """Algorithm 1: the best chains that begin with one of the initial triples."""
        beams = self._start(query, initial)
        for _ in range(self.length - 1):  # line 6
            check_cancelled()
            grown = self._grow(query, beams)
            if not len(grown.scores):
                return beams
            beams = grown
        return beams  # line 21

    def _start(self, query: NDArray[np.float32], initial: NDArray[np.int64]) -> Beams:
        """Lines 1-5: the best of the initial triples, each a chain of one."""
        chains = np.asarray(initial, np.int64).reshape(-1, 1)
        if not len(chains):
            return Beams(np.zeros(0), chains)
        scores = self.scorer.score(query, chains, np.zeros(len(chains), np.int64)).astype(np.float64)
        return _keep_best(Beams(scores, chains), self.width)

    def _grow(self, query: NDArray[np.float32], beams: Beams) -> Beams:
        """Lines 7-20: every beam with every neighbour of its last triple, the best of them all."""
        if not len(beams.chains):
            return beams
        parents, chains = self._candidates(query, beams)
        if not len(chains):
            return Beams(np.zeros(0), chains)
        scores = beams.scores[parents] + self.scorer.score(query, chains, parents)  # line 13
        considered = np.isfinite(scores)
        parents, chains, scores = parents[considered], chains[considered], scores[considered]
        return _keep_best(Beams(self._diversify(scores, parents), chains), self.width)  # line 20

    def _candidates(self, query: NDArray[np.float32], beams: Beams) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lines 8-12 and the concatenation of line 13: the extended chains, and which beam each extends."""
        near = self.triples.neighbours(beams.chains[:, -1], query, self.neighbours)  # line 10
        fresh = [ids[~np.isin(ids, beams.chains)] for ids in near]  # lines 11, 12
        parents = np.repeat(np.arange(len(fresh)), [len(ids) for ids in fresh])
        return parents, np.column_stack([beams.chains[parents], np.concatenate(fresh)])

    def _diversify(self, scores: NDArray[np.float64], parents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Lines 15-19: within a beam, the n-th best candidate is weighted by exp(-min(n, γ) / γ)."""
        gamma = 2 * self.width if self.diversity is None else self.diversity
        order = np.lexsort((-scores, parents))  # line 15, stable
        begins = np.searchsorted(parents[order], parents[order])
        place = np.empty(len(scores))
        place[order] = np.arange(len(scores)) - begins  # line 16: n
        return scores * np.exp(-np.minimum(place, gamma) / gamma)  # line 18


def _keep_best(beams: Beams, width: int) -> Beams:
    """Keep top(B, b)."""
    order = np.argsort(-beams.scores, kind="stable")[:width]
    return Beams(beams.scores[order], beams.chains[order])
