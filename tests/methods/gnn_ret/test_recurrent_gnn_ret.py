"""RGNN-Ret's retriever: what a query hears of those before it."""

from dataclasses import replace

import pytest

from scripted_loops import driven, final, reply
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import GeAR, NaiveGE, Pooled
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.ircot import IRCoT

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

    def test_a_step_holds_those_before_it(self, gnn_ret: GNNRet) -> None:
        steps = RecurrentGNNRet(gnn_ret=gnn_ret, beta=0.7).begin()
        first, second, third = (gnn_ret.propagate(query).distances for query in (FILM, ACTOR, LAKE))
        mixed = 0.7 * third + 0.3 * (0.7 * second + 0.3 * first)
        assert steps.retrieve(FILM, 6) == gnn_ret.rank(first, 6)
        steps.retrieve(ACTOR)
        assert steps.retrieve(LAKE, 6) == gnn_ret.rank(mixed, 6)

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

    def test_inside_ircot(self, gnn_ret: GNNRet, world: Snapshot) -> None:
        """Appendix G: the recurrence under another agent's queries."""
        recurrent = RecurrentGNNRet(gnn_ret=gnn_ret, beta=0.5)
        with Scripted([reply(sentence=FILM), reply(sentence="So the answer is: x"), final("x")]) as model:
            steps, _ = driven(IRCoT(retriever=recurrent, model=model, passages=world.passages), QUESTION)
        expected = recurrent.begin()
        assert [step.ranking for step in steps] == [expected.retrieve(QUESTION), expected.retrieve(FILM)]
        assert steps[1].ranking != gnn_ret.retrieve(FILM)

    def test_inside_gear(self, gnn_ret: GNNRet, world: Snapshot, words: Embedder) -> None:
        """The expansion around it lets it remember."""
        recurrent = RecurrentGNNRet(gnn_ret=gnn_ret, beta=0.5)
        scorer = Pooled(triples=world.triples, embedder=words)
        naive = NaiveGE(base=recurrent, triples=world.triples, scorer=scorer, base_k=2, width=1)
        undecided = reply(why="m", answerable=False, answer="")
        replies = [reply(facts=[]), undecided, reply(query=FILM), reply(facts=[]), undecided, final("x")]
        with Scripted(replies) as model:
            steps, _ = driven(GeAR(retriever=naive, model=model, max_steps=2, retrieved=3), QUESTION)
        expected = naive.begin()
        assert [step.ranking for step in steps] == [expected.retrieve(QUESTION, 3), expected.retrieve(FILM, 3)]
        assert steps[1].ranking != naive.retrieve(FILM, 3)

    def test_beta_is_a_share(self, gnn_ret: GNNRet) -> None:
        with pytest.raises(BadInputError, match=r"beta is 1\.5: it must lie between 0 and 1"):
            RecurrentGNNRet(gnn_ret=gnn_ret, beta=1.5)
