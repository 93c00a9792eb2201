"""What an answer rests on: the passages of facts come first, and what is the model's own is marked so."""

from typing import Any

import pytest

from scripted_loops import Table, final, path, reply
from triplebeam.answer import Answer, Evidence
from triplebeam.generate.language_model import Completion
from triplebeam.methods.agent import Auto
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.facts import Fact, evidence_first
from triplebeam.ranking import Hit, Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.baselines.chain_of_thought import ChainOfThought
from triplebeam_research.baselines.self_ask import SelfAsk
from triplebeam_research.baselines.simple import ClosedBook

GUESS = reply(sentence="It is not said.", found=False, answer="Erie", missing="No document says where it lies.")


def table() -> Table:
    return Table({"q": ["film", "city"]})


def read_once(said: Completion) -> Answer:
    with Scripted([said]) as model:
        return ReadOnce(retriever=table(), model=model).answer("q")


def test_a_passage_that_no_search_found_is_put_in() -> None:
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
        answer = read_once(GUESS)
        assert (answer.text, answer.outcome) == ("Erie", "guess")
        assert answer.missing == ("No document says where it lies.",)

    def test_nothing_found_and_nothing_guessed(self) -> None:
        answer = read_once(final(""))
        assert (answer.text, answer.outcome) == ("", "not_in_documents")
        assert answer.missing == ("No document answers the question.",)

    def test_everyday_knowledge_of_the_reader_is_evidence(self) -> None:
        said = reply(sentence="S.", found=True, answer="USA", from_memory=[["Wisconsin", "is in", "USA"]], others=None)
        answer = read_once(said)
        assert answer.evidence == (Evidence(triple=Triple("Wisconsin", "is in", "USA"), from_memory=True),)
        assert (answer.outcome, answer.supported) == ("answered", False)

    def test_a_guess_is_no_reason_not_to_try_harder(self) -> None:
        with Scripted([GUESS, final("Michigan")]) as model:
            agent = ReadOnce(retriever=table(), model=model)
            answer = Auto(first=agent, then=agent).answer("q")
        assert (answer.text, answer.outcome, len(answer.steps)) == ("Michigan", "answered", 2)
