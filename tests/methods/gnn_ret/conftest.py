"""The passage graph of the small world, and GNN-Ret over it."""

import pytest

from small_graphs import graph_of
from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret.retrieve import GNNRet
from triplebeam.retrieve.bases import Dense


@pytest.fixture
def graph(world: Snapshot) -> PassageGraph:
    """Passages of the small world that share an entity."""
    pairs = [("film", "director"), ("film", "actor"), ("actor", "city"), ("city", "lake")]
    rows = [(world.passages.row(one), world.passages.row(other)) for one, other in pairs]
    return graph_of(len(world.passages), [], rows)


@pytest.fixture
def gnn_ret(world: Snapshot, words: Embedder, graph: PassageGraph) -> GNNRet:
    return GNNRet(base=Dense.over_passages(world, words), graph=graph, passages=world.passages, relevant=1)
