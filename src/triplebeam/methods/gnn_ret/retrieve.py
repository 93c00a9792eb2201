"""GNN-Ret as a retriever (section 3.2): a base's distances, passed along the graph of passages, and the nearest.

The paper's settings without training: one layer, α 0.5, K 5 (or 10), dense distances. Over any other base that has a
score for every passage, say how its scores become distances (`distances_of`). Retrieval to a number of tokens instead
of k passages is `triplebeam.retrieve.token_budget`, for this and for every other retriever.
"""

from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.index.passage_graph import KINDS, EdgeKind, PassageGraph
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_store import TripleStore
from triplebeam.methods.gnn_ret.explain import keywords, messages_that_helped, shared_keyword
from triplebeam.methods.gnn_ret.propagate import Distance, Distances, Message, MessagePassing, Propagated, distances_of
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever
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
    edges: tuple[EdgeKind, ...] = KINDS
    distance: Distance = "cosine"
    triples: TripleStore | None = field(default=None, repr=False)
    """Where given, a hit that a message brought shows a triple of the sender and one of its own with the keyword they
    share.
    """

    def __post_init__(self) -> None:
        if not all(0 <= weight <= 1 for weight in self.alpha):
            raise BadInputError(f"alpha is {self.alpha} where every layer's must lie between 0 and 1.")
        if self.relevant < 1:
            raise BadInputError(f"relevant is {self.relevant}: at least 1 passage must send messages.")
        if len(self.graph) != len(self.passages):
            raise BadInputError(
                f"the passage graph has {len(self.graph)} passages and the index {len(self.passages)}: use the graph"
                " that was built with the index."
            )

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of smallest integrated distance; a score is 1 - that distance."""
        propagated = self.propagate(query)
        ranking = self.rank(propagated.distances, k)
        return ranking if self.triples is None else self._explained(ranking, propagated, self.triples)

    def propagate(self, query: str) -> Propagated:
        """The distance of every passage, layer by layer."""
        passing = MessagePassing(graph=self.graph, relevant=self.relevant, message=self.message, edges=self.edges)
        return passing.propagate(distances_of(self.base.scores(query), self.distance), self.alpha)

    def rank(self, distances: Distances, k: int) -> Ranking:
        """The k passages of smallest distance."""
        return rank_scores((1 - distances).astype(np.float32), self.passages.ids, k)

    def _explained(self, ranking: Ranking, propagated: Propagated, triples: TripleStore) -> Ranking:
        rows = [self.passages.row(passage_id) for passage_id in ranking.ids]
        senders = messages_that_helped(propagated, rows)
        keywords_of = cache(partial(keywords, triples))  # a sender often brings several passages and is a hit itself
        return Ranking(
            hit
            if sender is None or not self._joined_by_keyword(sender, row)
            else hit._replace(
                chains=shared_keyword(keywords_of(self.passages.ids([sender])[0]), keywords_of(hit.passage_id))
            )
            for hit, row, sender in zip(ranking, rows, senders, strict=True)
        )

    def _joined_by_keyword(self, sender: int, row: int) -> bool:
        """Neighbours in a document may share an entity too, one too common for an edge, and it brought nothing."""
        if "keyword" not in self.edges:
            return False
        _, neighbours = self.graph.around(np.array([sender]), ("keyword",))
        return bool((neighbours == row).any())
