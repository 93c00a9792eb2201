"""RGNN-Ret's retriever: what a query hears of those before it."""

from dataclasses import replace

import pytest

from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
FILM, ACTOR, LAKE = "Which drama did Edward Cahn direct?", "Where did Pat Brien live?", "On which lake is Milwaukee?"


class TestRecurrentGNNRet(RetrieverContract):
    @pytest.fixture
    def retriever(self, gnn_ret: GNNRet) -> Retriever:
        return RecurrentGNNRet(gnn_ret=gnn_ret)


class TestRecurrence:
    """What a question's retriever remembers."""

    def test_alone_it_is_gnn_ret(self, gnn_ret: GNNRet, world: Snapshot) -> None:
        gnn_ret = replace(gnn_ret, triples=world.triples)
        alone = RecurrentGNNRet(gnn_ret=gnn_ret)
        assert any(hit.chains for hit in alone.retrieve(FILM, 4)), "with GNN-Ret's reasons"
        for query in (FILM, LAKE, FILM):
            assert alone.retrieve(query, 4) == gnn_ret.retrieve(query, 4)

    def test_the_same_query_again_is_the_same_step(self, gnn_ret: GNNRet) -> None:
        steps = RecurrentGNNRet(gnn_ret=gnn_ret, beta=0.5).begin()
        steps.retrieve(FILM)
        assert steps.retrieve(LAKE, 6).top(3) == steps.retrieve(LAKE, 3) == steps.retrieve(LAKE, 6).top(3)

    def test_questions_do_not_hear_of_each_other(self, gnn_ret: GNNRet) -> None:
        recurrent = RecurrentGNNRet(gnn_ret=gnn_ret, beta=0.5)
        one, other = recurrent.begin(), recurrent.begin()
        one.retrieve(FILM)
        assert other.retrieve(LAKE) == gnn_ret.retrieve(LAKE)
        assert one.retrieve(LAKE) != gnn_ret.retrieve(LAKE)

    def test_beta_is_a_share(self, gnn_ret: GNNRet) -> None:
        with pytest.raises(BadInputError, match=r"beta is 1\.5: it must lie between 0 and 1"):
            RecurrentGNNRet(gnn_ret=gnn_ret, beta=1.5)
