"""Methods that need a graph, over an index on a cluster: each question is searched in its own neighbourhood."""

from collections.abc import Callable
from dataclasses import dataclass, field

from triplebeam.assemble.context import Context
from triplebeam.errors import BadInputError
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import PerQuestion, Retriever


@dataclass(frozen=True)
class InNeighbourhood:
    """A method whose graphs are made anew around each query."""

    context: Context = field(repr=False)
    name: str
    build: Callable[[Context], Retriever] = field(repr=False)

    @property
    def passages(self) -> Passages:
        """The texts of what it finds."""
        return self.context.passages

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The best k of the neighbourhood."""
        nearby = self.context.nearby(query)
        retriever = nearby.once(self.name, lambda: self.build(nearby))
        if isinstance(retriever, PerQuestion):
            raise BadInputError(
                f"{self.name} mixes the steps of a question over one graph, and on OpenSearch each step has its own:"
                " use gnn_ret without beta, or an index in a folder."
            )
        return retriever.retrieve(query, k)
