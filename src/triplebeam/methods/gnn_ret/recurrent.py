"""RGNN-Ret as a retriever (section 3.3, Eq. 4): GNN-Ret whose distances are mixed over the steps of a question.

Followed to the letter: a step's integrated distances are β times those GNN-Ret has for its query and 1 - β times the
step's before, which hold all earlier steps in the same way; the first step has GNN-Ret's own. β is 0.9 untrained.
Ours: the same query twice running is one step, so that a caller may ask for more of its passages.

So it remembers, and what it remembers belongs to one question. `begin` starts a question; an agent that asks for it
(`for_question`) has the recurrence in its loop, as appendix G does with IRCoT and ITER-RETGEN. With no layers
(``alpha=()``) only the recurrent part is left, with β = 1 only the graph: the rows of Table 2.
"""

from dataclasses import dataclass

from triplebeam.bounds import check_fields
from triplebeam.methods.gnn_ret.propagate import Distances, integrate_steps
from triplebeam.methods.gnn_ret.retrieve import GNNRet
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import PerQuestion, Retriever


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
        """The first step of a question, with the reasons that GNN-Ret has for its hits."""
        return self.gnn_ret.retrieve(query, k)


class _Recurrence:
    """One question's steps."""

    def __init__(self, gnn_ret: GNNRet, beta: float) -> None:
        self._gnn_ret, self._beta = gnn_ret, beta
        self._last: tuple[str, Distances] | None = None

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return self._gnn_ret.rank(self._distances(query), k)

    def _distances(self, query: str) -> Distances:
        if self._last and self._last[0] == query:
            return self._last[1]
        current = self._gnn_ret.propagate(query).distances
        integrated = integrate_steps(current, self._last[1] if self._last else None, self._beta)
        self._last = (query, integrated)
        return integrated
