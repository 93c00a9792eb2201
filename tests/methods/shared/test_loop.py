"""What all agents share: one question's memory, what a step costs, endings, and collaborators that are derived."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from scripted_loops import BAD, PASSAGES, Anywhere, Gone, final, reply
from triplebeam.answer import Agent, Step
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.methods.gear import GeAR, LLMReader, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gnn_ret.agent import RGNNRet
from triplebeam.methods.grounded_reasoning import GroundedReasoning
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import QuestionAnswerer, ReadAnswer
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import BM25, Dense, Hybrid
from triplebeam.retrieve.retriever import Retriever, for_question
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.baselines.chain_of_thought import ChainOfThought
from triplebeam_research.baselines.era_cot import ERACoT
from triplebeam_research.baselines.flare import FLARE
from triplebeam_research.baselines.ircot import IRCoT
from triplebeam_research.baselines.iter_retgen import IterRetGen
from triplebeam_research.baselines.self_ask import SelfAsk
from triplebeam_research.baselines.verify_and_edit import VerifyAndEdit

METHODS = (EvidenceAgent, GEReasoning, GeAR, GroundedReasoning, RGNNRet)
BASELINES = (FLARE, IRCoT, IterRetGen, SelfAsk, VerifyAndEdit)
every_agent = pytest.mark.parametrize("agent", [*METHODS, *BASELINES, ChainOfThought, ERACoT, ReadOnce])


class Talkative:
    """A model that fills every field of every reply, with something new each time, and never comes to an end."""

    name = "talkative"

    def __init__(self) -> None:
        self.said = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._reply() for _ in prompts]

    def _reply(self) -> Completion:
        self.said += 1
        words = f"Words {self.said}."
        texts = dict.fromkeys(("query", "sentence", "follow_up", "question", "missing", "reasoning", "evidence"), words)
        lists = {name: [] for name in ("facts", "used", "passages", "entities", "relations", "scores", "helpful")}
        graph = {"triplets": [["Laughter in Hell", "directed by", "name: #1"]], "target": ["#1"]}
        return reply(**texts, **lists, **graph, answerable=False, enough=False, found=True, answer=words)


class Learning(Anywhere):
    """A retriever that learns from the queries of a question; it must not be asked unless a question was begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[Anywhere] = []

    def begin(self) -> Retriever:
        self.begun.append(Anywhere())
        return self.begun[-1]

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        raise AssertionError("asked without a question")


class Nameless:
    """Somebody's own search, which knows ids and no texts."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking()


@pytest.mark.parametrize("agent", [*METHODS, *BASELINES])
def test_every_agent_of_several_steps_lets_its_retriever_learn(agent: Callable[..., Agent]) -> None:
    learning = Learning()
    asked = agent(retriever=learning, model=Talkative())
    for _ in range(2):
        asked.answer("Who directed Laughter in Hell?")
    assert len(learning.begun) == 2, "once for each question"
    assert all(begun.asked for begun in learning.begun)


@every_agent
def test_an_endpoint_that_is_gone_is_an_error(agent: Callable[..., Agent]) -> None:
    with pytest.raises(EndpointError, match="does not answer"):
        agent(retriever=Anywhere(), model=Gone()).answer("q")


def test_an_expansion_lets_its_base_learn(world: Any, words: Any) -> None:
    scorer, reader = Pooled(triples=world.triples, embedder=words), LLMReader(model=Talkative(), passages=PASSAGES)
    learning = Learning()
    naive = NaiveGE(base=learning, triples=world.triples, scorer=scorer)
    for expansion in (naive, SyncGE(base=naive, triples=world.triples, scorer=scorer, reader=reader)):
        EvidenceAgent(retriever=expansion, model=Talkative(), stop_when_stuck=False).answer(
            "Who directed Laughter in Hell?"
        )
        assert len(learning.begun.pop().asked) == 4, "a search for each step"
    assert for_question(replace(naive, base=Anywhere())).retrieve("lake")


@every_agent
def test_a_retriever_over_texts_and_a_model_are_enough(agent: Callable[..., Agent]) -> None:
    assert agent(retriever=Anywhere(), model=Talkative()).answer("Who directed Laughter in Hell?").text
    with pytest.raises(BadInputError, match="Nameless does not know the texts of the passages it finds: give them"):
        agent(retriever=Nameless(), model=Talkative())
    agent(retriever=Nameless(), model=Talkative(), passages=PASSAGES)


@pytest.mark.parametrize("base", ["bm25", "dense", "hybrid"])
def test_gear_over_an_index(world: Any, words: Any, base: str) -> None:
    """The facts it reads are linked by the base and by the index's triples."""
    sparse, dense = BM25.over_passages(world), Dense.over_passages(world, words)
    plain = {"bm25": sparse, "dense": dense, "hybrid": Hybrid(sparse, dense)}[base]
    reader = LLMReader(model=Talkative(), passages=world.passages)
    scorer = Pooled(triples=world.triples, embedder=words)
    sync = SyncGE(base=plain, triples=world.triples, scorer=scorer, reader=reader)
    facts = reply(facts=[["Laughter in Hell", "directed by", "Edward Cahn"]])
    verdict = reply(why="", answerable=True, answer="Edward Cahn")
    for retriever in (plain, sync):
        with Scripted([facts, verdict, final("Edward Cahn")]) as model:
            assert GeAR(retriever=retriever, model=model).answer("Who directed Laughter in Hell?").supported
    assert sync.build_triple_search().retrieve("lake", 3) == Dense.over_triples(world, words).retrieve("lake", 3)


class TestEnding:
    def loop(self, *replies: Completion, answer: str = "") -> Any:
        loop = Loop("q", answer=answer, ending="it ended")
        with Scripted(replies) as model:
            answerer = QuestionAnswerer(model=Accounted(model), passages=PASSAGES)
            found = Ranking([Hit("film", 1.0)])
            loop.take(lambda: Step(number=loop.number, query=answerer.answer("one", []).text, so_far=found))
            return loop.conclude(lambda: answerer.answer("q", []))

    def test_the_loops_own_answer_counts_where_nothing_is_read(self) -> None:
        answer = self.loop(final("a"), final(""), answer="own")
        assert (answer.text, answer.sentence, answer.loop_text) == ("own", "", "own")
        assert self.loop(final("a"), final("b"), answer="own").text == "b"

    @pytest.mark.parametrize(
        ("passage", "from_memory", "outcome"), [("", True, "guess"), ("", False, "guess"), ("p1", False, "answered")]
    )
    def test_what_rests_on_no_passage_is_a_guess(self, passage: str, from_memory: bool, outcome: str) -> None:
        fact = Fact(Triple("Bath", "is in", "England"), passage, from_memory=from_memory)
        loop = Loop("q", answer="own", facts=(fact,))
        loop.take(lambda: Step(number=1, query="q", so_far=Ranking([Hit("p1", 1.0)])))
        assert loop.conclude(ReadAnswer).outcome == outcome

    @pytest.mark.parametrize(
        ("replies", "outcome"),
        [
            ((final("a"), BAD, BAD), "model_failed"),
            ((BAD, BAD, BAD, BAD), "model_failed"),
            ((BAD, BAD, final("")), "not_in_documents"),
            ((BAD, BAD, final("b")), "answered"),
            ((final("a"), BAD, final("b")), "answered"),
        ],
    )
    def test_the_last_reply_says_why_there_is_no_answer(self, replies: Sequence[Completion], outcome: str) -> None:
        answer = self.loop(*replies)
        assert answer.outcome == outcome
        assert ("begins with 'no idea'" in answer.failure) == (outcome == "model_failed")
        assert bool(answer.missing) == (outcome == "not_in_documents"), "a model that failed says nothing of documents"

    def test_an_answer_of_the_loop_counts_though_the_last_reply_cannot_be_used(self) -> None:
        answer = self.loop(final("a"), BAD, BAD, answer="own")
        assert (answer.text, answer.failure) == ("own", "")
