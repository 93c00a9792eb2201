"""What an answer rests on: evidence first for every agent that reads, and what is the model's own is marked so."""

from typing import Any

import pytest

from scripted_loops import PASSAGES, Table, final, path, reply
from triplebeam.answer import Agent, Answer, Evidence, Span
from triplebeam.methods.agent import Auto, EvidenceAgent
from triplebeam.methods.grounded_reasoning import GroundedReasoning
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.facts import Fact, evidence_first
from triplebeam.ranking import Hit, Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.baselines.chain_of_thought import ChainOfThought
from triplebeam_research.baselines.self_ask import SelfAsk
from triplebeam_research.baselines.simple import ClosedBook

LIES = {
    "triple": ["Milwaukee", "lies on", "Lake Michigan"],
    "passage": 2,
    "quotation": "Milwaukee lies in Wisconsin on Lake Michigan.",
}
FOUND = reply(sentence="It lies there.", answer="Lake Michigan", facts=[LIES])
GUESS = reply(sentence="It is not said.", found=False, answer="Erie", missing="No document says where it lies.")


def table() -> Table:
    return Table({"q": ["film", "city"], "Milwaukee lies on Lake Michigan": []})


VERDICT = reply(missing="", answerable=True, used=[1], answer="Lake Michigan")
GRAPH = reply(triplets=[["Milwaukee", "lies on", "lake: #1"]], target=["#1"])
AGENTS: dict[str, tuple[Any, list[Any]]] = {
    "agent": (EvidenceAgent, [reply(facts=[LIES]), VERDICT, final("Lake Michigan")]),
    "grounded_reasoning": (GroundedReasoning, [GRAPH, reply(question="q"), FOUND, final("Lake Michigan")]),
}


class TestEvidenceFirst:
    def asked(self, name: str, **parameters: Any) -> Answer:
        kind, replies = AGENTS[name]
        with Scripted(replies) as model:
            agent: Agent = kind(retriever=table(), model=model, **parameters)
            return agent.answer("q")

    @pytest.mark.parametrize("name", AGENTS)
    def test_the_passages_of_the_facts_come_first(self, name: str) -> None:
        answer = self.asked(name)
        assert answer.ranking.ids == ["city", "film"]
        [fact] = answer.evidence
        assert fact.span
        assert (fact.span.passage_id, fact.span.text in PASSAGES["city"].text) == ("city", True)
        assert [shown.triple for shown in answer.steps[-1].facts] == [fact.triple]
        assert (answer.outcome, answer.supported) == ("answered", True)

    def test_the_fusion_comes_first_if_it_is_wanted(self) -> None:
        assert self.asked("agent", ranking="fusion").ranking.ids == ["film", "city"]

    def test_a_passage_that_no_search_found_is_put_in(self) -> None:
        ranking = Ranking([Hit("a", 0.5), Hit("b", 0.25)])
        facts = [Fact(Triple("x", "y", "z"), id_) for id_ in ("c", "b", "", "c")]
        ordered = evidence_first(facts, ranking)
        assert ordered.ids == ["c", "b", "a"]
        assert ordered[-1] == ranking[0], "the others keep their scores"


class TestTheModelsOwn:
    @pytest.mark.parametrize("kind", [ClosedBook, ChainOfThought])
    def test_an_answer_from_memory_is_a_guess(self, kind: Any) -> None:
        said = final("Cahn") if kind is ClosedBook else path("Cahn")
        with Scripted([said]) as model:
            answer = kind(model=model).answer("q")
        assert (answer.text, answer.outcome) == ("Cahn", "guess")
        assert answer.missing == ("No document is quoted for this answer: it is the model's own.",)

    def test_an_answer_at_once_that_no_passage_says_is_a_guess(self) -> None:
        with Scripted([reply(follow_up="", answer="Cahn")]) as model:
            answer = SelfAsk(retriever=table(), model=model).answer("q")
        assert (answer.text, answer.outcome) == ("Cahn", "guess")

    def test_what_the_reader_does_not_find_it_may_guess(self) -> None:
        with Scripted([GUESS]) as model:
            answer = ReadOnce(retriever=table(), model=model).answer("q")
        assert (answer.text, answer.outcome) == ("Erie", "guess")
        assert answer.missing == ("No document says where it lies.",)

    def test_nothing_found_and_nothing_guessed(self) -> None:
        with Scripted([final("")]) as model:
            answer = ReadOnce(retriever=table(), model=model).answer("q")
        assert (answer.text, answer.outcome) == ("", "not_in_documents")
        assert answer.missing == ("No document answers the question.",)

    def test_everyday_knowledge_of_the_reader_is_evidence(self) -> None:
        said = reply(sentence="S.", found=True, answer="USA", from_memory=[["Wisconsin", "is in", "USA"]], others=None)
        with Scripted([said]) as model:
            answer = ReadOnce(retriever=table(), model=model).answer("q")
        assert answer.evidence == (Evidence(triple=Triple("Wisconsin", "is in", "USA"), from_memory=True),)
        assert (answer.outcome, answer.supported) == ("answered", False)

    def test_a_guess_is_no_reason_not_to_try_harder(self) -> None:
        with Scripted([GUESS, final("Michigan")]) as model:
            agent = ReadOnce(retriever=table(), model=model)
            answer = Auto(first=agent, then=agent).answer("q")
        assert (answer.text, answer.outcome, len(answer.steps)) == ("Michigan", "answered", 2)


def test_an_answer_is_supported_with_or_without_its_article() -> None:
    span = Span(passage_id="city", start=0, end=9, text="Milwaukee")
    fact = Evidence(triple=Triple("Milwaukee", "is in", "United States"), span=span)
    assert Answer(question="q", text="the United States", evidence=(fact,)).supported
    assert not Answer(question="q", text="Canada", evidence=(fact,)).supported
