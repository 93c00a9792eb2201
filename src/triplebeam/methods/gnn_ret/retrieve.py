"""GNN-Ret as a retriever (section 3.2): a base's distances, passed along the graph of passages, and the nearest; and
RGNN-Ret (section 3.3, Eq. 4), whose distances are mixed over the steps of a question.

The paper's settings without training: one layer, α 0.5, K 5 (or 10), dense distances. Over any other base that has a
score for every passage, say how its scores become distances (`distances_of`). Retrieval to a number of tokens instead
of k passages is `triplebeam.methods.shared.reading`, for this and for every other retriever.

RGNN-Ret, followed to the letter: a step's integrated distances are β times those GNN-Ret has for its query and 1 - β
times those of the step before, which contain all earlier steps in the same way; the first step has GNN-Ret's own. β is
0.9 untrained. Ours: the same query twice in a row is one step, so that a caller may ask for more of its passages.
What it remembers belongs to one question: `begin` starts one, and an agent that calls it (`for_question`) has the
recurrence in its loop, as appendix G does with IRCoT and ITER-RETGEN. With no layers (``alpha=()``) only the recurrent
part is left, with β = 1 only the graph: the rows of Table 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import PAPER_KINDS, EdgeKind, PassageGraph
from triplebeam.index.folder.tables import PassageTable, TripleGraph
from triplebeam.methods.gnn_ret.propagate import (
    Distance,
    Distances,
    Message,
    MessagePassing,
    Propagated,
    distances_of,
    integrate_steps,
)
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import OneOfMany, PerQuestion, Retriever, ScoringRetriever, check_fields, scores_many
from triplebeam.retrieve.scores import WalkScores, add_chains, no_reasons, rank_scores
from triplebeam.triple import Chain


@dataclass(frozen=True, kw_only=True)
class GNNRet(OneOfMany):
    """Passages near the query, or next to one that is."""

    base: ScoringRetriever
    graph: PassageGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    alpha: tuple[float, ...] = (0.5,)
    """How much of its own distance a passage keeps, for each layer."""
    relevant: int = 5
    """K: how many passages send theirs to their neighbours."""
    message: Message = "min"
    edges: tuple[EdgeKind, ...] = PAPER_KINDS
    distance: Distance = "cosine"
    triples: TripleGraph | None = field(default=None, repr=False)
    """Where given, a hit that a message brought shows two triples, of sender and receiver, with the shared keyword."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not all(0 <= weight <= 1 for weight in self.alpha):
            raise BadInputError(f"alpha must be between 0 and 1 in every layer, got {self.alpha}.")
        if len(self.graph) != len(self.passages):
            raise BadInputError(
                f"the passage graph has {len(self.graph)} passages and the index {len(self.passages)}: use the graph"
                " that was built with the index."
            )

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the k passages of smallest integrated distance for each query; a score is 1 - that distance."""
        return [
            add_chains(rank_scores(found.scores, self.passages.ids, k), self.passages, found.reasons)
            for found in self.find_many(queries)
        ]

    def find_many(self, queries: Sequence[str]) -> list[WalkScores]:
        """Return every passage's score, 1 - its integrated distance, for each query."""
        propagated = [self._pass_messages(scores) for scores in scores_many(self.base, queries)]
        if self.triples is None:
            return [WalkScores(_nearness(each.distances), no_reasons) for each in propagated]
        chains = partial(self._chains, self.triples)
        return [WalkScores(_nearness(each.distances), partial(chains, each)) for each in propagated]

    def propagate(self, query: str) -> Propagated:
        """Propagate the distance of every passage, layer by layer."""
        return self._pass_messages(self.base.scores(query))

    def _pass_messages(self, scores: NDArray[np.float32]) -> Propagated:
        passing = MessagePassing(graph=self.graph, relevant=self.relevant, message=self.message, edges=self.edges)
        return passing.propagate(distances_of(scores, self.distance), self.alpha)

    def rank(self, distances: Distances, k: int) -> Ranking:
        """Return the k passages of smallest distance."""
        return rank_scores(_nearness(distances), self.passages.ids, k)

    def _chains(
        self, triples: TripleGraph, propagated: Propagated, passages: Sequence[int]
    ) -> dict[int, tuple[Chain, ...]]:
        rows = np.array(passages, np.int64)
        senders = messages_that_helped(propagated, rows)
        joined = self._find_joined_by_keyword(senders, rows)
        return {
            row: find_shared_keyword(triples, sender, row)
            for row, sender in zip(rows[joined].tolist(), senders[joined].tolist(), strict=True)
        }

    def _find_joined_by_keyword(self, senders: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Find neighbours joined by a keyword: those in a document may share one too common for an edge."""
        joined = np.zeros(len(rows), bool)
        if "keyword" in self.edges:
            sent = np.flatnonzero(senders >= 0)
            edges, neighbours = self.graph.find_incident(senders[sent], ("keyword",))
            joined[sent[edges[neighbours == rows[sent][edges]]]] = True
        return joined


def _nearness(distances: Distances) -> NDArray[np.float32]:
    return (1 - distances).astype(np.float32)


def messages_that_helped(propagated: Propagated, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each row the nearest sender of the last message smaller than the row's own distance, or -1."""
    helped_by = np.full(len(rows), -1)
    for before, sent in zip(propagated.hidden, propagated.messages, strict=False):
        if len(sent.receivers):
            place = np.minimum(np.searchsorted(sent.receivers, rows), len(sent.receivers) - 1)
            senders = sent.senders[sent.starts[place]]
            helped = (sent.receivers[place] == rows) & (before[senders] < before[rows])
            helped_by[helped] = senders[helped]
    return helped_by


def find_shared_keyword(triples: TripleGraph, sender: int, receiver: int) -> tuple[Chain, ...]:
    """Find a triple of each with an entity in common, the receiver's first; nothing where they share none."""
    sent, received = (triples.triples_at([row]).tolist() for row in (sender, receiver))
    first: dict[int, int] = {}
    for triple_id, ends in zip(sent, triples.get_ends(sent).tolist(), strict=True):
        for entity in ends:
            first.setdefault(entity, triple_id)
    for triple_id, ends in zip(received, triples.get_ends(received).tolist(), strict=True):
        for entity in ends:
            if entity in first:
                return ((triples.triple(first[entity]), triples.triple(triple_id)),)
    return ()


@dataclass(frozen=True, kw_only=True)
class RecurrentGNNRet(PerQuestion):
    """GNN-Ret for the sub-questions of a question. Asked directly, it is GNN-Ret: a first step has none before it."""

    gnn_ret: GNNRet
    beta: float = 0.9
    """How much of its own distances a step has; the rest is those of the steps before."""

    def __post_init__(self) -> None:
        check_fields(self, "beta")

    def begin(self) -> Retriever:
        """Start a question."""
        return _Recurrence(self.gnn_ret, self.beta)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Retrieve the first step of a question, with the reasons that GNN-Ret has for its hits."""
        return self.gnn_ret.retrieve(query, k)


class _Recurrence:
    """One question's steps."""

    def __init__(self, gnn_ret: GNNRet, beta: float) -> None:
        self._gnn_ret, self._beta = gnn_ret, beta
        self._last: tuple[str, Distances] | None = None

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        if not self._last or self._last[0] != query:
            current = self._gnn_ret.propagate(query).distances
            self._last = query, integrate_steps(current, self._last[1] if self._last else None, self._beta)
        return self._gnn_ret.rank(self._last[1], k)
