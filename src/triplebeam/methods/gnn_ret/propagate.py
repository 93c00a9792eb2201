"""GNN-Ret, Eq. 1 and 2, and RGNN-Ret, Eq. 4: distances to a query, passed along the graph of passages.

Followed to the letter: at each layer the K passages of smallest distance (T_K, chosen again from the layer's own
distances) send it to their neighbours (S_K); a neighbour takes the smallest it is sent (Eq. 1), or the mean in the
ablation, and mixes it with its own (Eq. 2); all others keep theirs. So a passage that is among the K and next to
another of them takes a message too, and its distance may grow. A passage sends nothing to itself. Ours: between equal
distances the lower row comes first.

Minimum, mean, mixing and the choice of K all commute with d -> a·d + b for a > 0. So for GNN-Ret only the order and
the proportions of a base's scores matter, not whether they were scaled before; for RGNN-Ret, which adds distances of
different queries (Eq. 4), and for training, whose threshold r is a length (Eq. 3, 5), scale does matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.rows import list_distinct
from triplebeam.index.folder.passage_graph import PAPER_KINDS, EdgeKind, PassageGraph
from triplebeam.index.folder.vectors import select_top
from triplebeam.retrieve.scores import min_max

Distances: TypeAlias = NDArray[np.float64]
Message: TypeAlias = Literal["min", "mean"]
Distance: TypeAlias = Literal["cosine", "scaled"]


def distances_of(scores: NDArray[np.float32], distance: Distance) -> Distances:
    """Convert a base's scores to distances.

    ``cosine``: 1 - score, the paper's, for scores that are cosines or lie between 0 and 1 already. ``scaled``: 1 - the
    min-max-scaled score, from 0 (the query's best passage) to 1 (its worst), for scores of any other range, as BM25's.
    """
    return 1 - (min_max(scores) if distance == "scaled" else scores).astype(np.float64)


class Messages(NamedTuple):
    """Who sent what to whom at one layer. Several messages are averaged; a minimum has one sender, the nearest."""

    receivers: NDArray[np.int64]
    """S_K, in rising order."""
    senders: NDArray[np.int64]
    """Of T_K, grouped by receiver and nearest first."""
    starts: NDArray[np.int64]
    """Where the group of each receiver begins."""

    def carry(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each receiver is sent, of anything with one row per passage: distances, or their derivatives."""
        sent = values[self.senders]
        if len(self.senders) == len(self.receivers):
            return sent
        counts = np.diff(self.starts, append=len(self.senders))
        means: NDArray[np.float64] = np.add.reduceat(sent, self.starts, axis=0) / counts.reshape(
            -1, *[1] * (sent.ndim - 1)
        )
        return means


class Propagated(NamedTuple):
    """All layers of one query."""

    hidden: tuple[Distances, ...]
    """The base's distances, then those behind each layer: one more than there are layers."""
    messages: tuple[Messages, ...]

    @property
    def distances(self) -> Distances:
        """The integrated distances: those behind the last layer."""
        return self.hidden[-1]


@dataclass(frozen=True, kw_only=True)
class MessagePassing:
    """A graph of passages, and how distances go along it."""

    graph: PassageGraph
    relevant: int = 5
    """K: how many passages send."""
    message: Message = "min"
    edges: tuple[EdgeKind, ...] = PAPER_KINDS

    def messages(self, distances: Distances) -> Messages:
        """Eq. 1: from the K nearest passages to their neighbours."""
        senders = nearest(distances, self.relevant)
        ranks, receivers = self.graph.find_incident(senders, self.edges)
        # One number per pair, in the order of receivers, then of the senders' ranks; a pair of two kinds is one pair.
        pairs = list_distinct(receivers * len(senders) + ranks)
        receivers, ranks = np.divmod(pairs, max(len(senders), 1))
        starts = np.flatnonzero(np.diff(receivers, prepend=-1))
        if self.message == "min":  # the first of each group has the smallest distance
            ranks, receivers, starts = ranks[starts], receivers[starts], np.arange(len(starts))
            return Messages(receivers, senders[ranks], starts)
        return Messages(receivers[starts], senders[ranks], starts)

    def propagate(self, distances: Distances, alpha: Sequence[float]) -> Propagated:
        """Propagate through all layers, one for each α."""
        hidden, messages = [distances], []
        for weight in alpha:
            before = hidden[-1]
            sent = self.messages(before)
            after = before.copy()
            after[sent.receivers] = mix_messages(before, sent, weight)
            hidden.append(after)
            messages.append(sent)
        return Propagated(tuple(hidden), tuple(messages))


def mix_messages(before: Distances, sent: Messages, alpha: float) -> Distances:
    """Eq. 2: α of each receiver's own distance and 1 - α of what it is sent."""
    return alpha * before[sent.receivers] + (1 - alpha) * sent.carry(before)


def integrate_steps(current: Distances, previous: Distances | None, beta: float) -> Distances:
    """Eq. 4: a step's distances mixed with those of all steps before it, which the first step has none of."""
    return current if previous is None else beta * current + (1 - beta) * previous


def nearest(distances: Distances, k: int) -> NDArray[np.int64]:
    """Return the rows of the k smallest distances, smallest first, ties by row."""
    return select_top(-distances, k)
