"""GNN-Ret as a retriever (section 3.2): a base's distances, passed along the graph of passages, and the nearest.

The paper's settings without training: one layer, α 0.5, K 5 (or 10), dense distances. Over any other base that has a
score for every passage, say how its scores become distances (`distances_of`). Retrieval to a number of tokens instead
of k passages is `triplebeam.retrieve.token_budget`, for this and for every other retriever.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.bounds import check_fields
from triplebeam.errors import BadInputError
from triplebeam.index.passage_graph import PAPER_KINDS, EdgeKind, PassageGraph
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.methods.gnn_ret.explain import messages_that_helped, shared_keyword
from triplebeam.methods.gnn_ret.propagate import Distance, Distances, Message, MessagePassing, Propagated, distances_of
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever, scores_many
from triplebeam.retrieve.scores import rank_scores


@dataclass(frozen=True, kw_only=True)
class GNNRet:
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
    """Where given, a hit that a message brought shows a triple of the sender and one of its own with the keyword they
    share.
    """

    explained: int | None = None
    """Hits, from the best on, that show it; None: all."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not all(0 <= weight <= 1 for weight in self.alpha):
            raise BadInputError(f"alpha is {self.alpha} where every layer's must lie between 0 and 1.")
        if len(self.graph) != len(self.passages):
            raise BadInputError(
                f"the passage graph has {len(self.graph)} passages and the index {len(self.passages)}: use the graph"
                " that was built with the index."
            )

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of smallest integrated distance; a score is 1 - that distance."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """The k passages of smallest integrated distance for each query; the base scores them together."""
        propagated = [self._pass_messages(scores) for scores in scores_many(self.base, queries)]
        rankings = [self.rank(each.distances, k) for each in propagated]
        if self.triples is None:
            return rankings
        return [self._explained(*pair, self.triples) for pair in zip(rankings, propagated, strict=True)]

    def propagate(self, query: str) -> Propagated:
        """The distance of every passage, layer by layer."""
        return self._pass_messages(self.base.scores(query))

    def _pass_messages(self, scores: NDArray[np.float32]) -> Propagated:
        passing = MessagePassing(graph=self.graph, relevant=self.relevant, message=self.message, edges=self.edges)
        return passing.propagate(distances_of(scores, self.distance), self.alpha)

    def rank(self, distances: Distances, k: int) -> Ranking:
        """The k passages of smallest distance."""
        return rank_scores((1 - distances).astype(np.float32), self.passages.ids, k)

    def _explained(self, ranking: Ranking, propagated: Propagated, triples: TripleGraph) -> Ranking:
        best = ranking if self.explained is None else ranking.top(self.explained)
        rows = np.array([self.passages.row(passage_id) for passage_id in best.ids], np.int64)
        senders = messages_that_helped(propagated, rows)
        shown = self._joined_by_keyword(senders, rows).tolist()
        explained = (
            hit._replace(chains=shared_keyword(triples, self.passages.ids([sender])[0], hit.passage_id))
            if joined
            else hit
            for hit, sender, joined in zip(best, senders.tolist(), shown, strict=True)
        )
        return ranking.replaced([*explained, *ranking[len(best) :]])

    def _joined_by_keyword(self, senders: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Neighbours in a document may share an entity too, one too common for an edge, and it brought nothing."""
        joined = np.zeros(len(rows), bool)
        if "keyword" in self.edges:
            sent = np.flatnonzero(senders >= 0)
            edges, neighbours = self.graph.around(senders[sent], ("keyword",))
            joined[sent[edges[neighbours == rows[sent][edges]]]] = True
        return joined
