"""What an answer rests on: the passages of facts, the model's own words, and what is made of replies that fail."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scripted_loops import Table, final, path, reply
from triplebeam.answer import Answer, Evidence
from triplebeam.assemble import open_index
from triplebeam.assemble.table import list_agents
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.agent import Auto
from triplebeam.methods.gear.reason import LLMReader
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.facts import Fact, evidence_first
from triplebeam.methods.shared.question_answering import AlwaysAnswerer
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.serve.answer_shapes import add_passages
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

    @pytest.mark.parametrize(
        ("said", "text", "outcome", "missing"),
        [
            (GUESS, "Erie", "guess", "No document says where it lies."),
            (final(""), "", "not_in_documents", "No document answers the question."),
        ],
    )
    def test_what_the_reader_does_not_find_it_may_guess(
        self, said: Completion, text: str, outcome: str, missing: str
    ) -> None:
        answer = read_once(said)
        assert (answer.text, answer.outcome, answer.missing) == (text, outcome, (missing,))

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


PASSAGES = {"a": Passage(id="a", title="Uranus", text="William Herschel discovered Uranus.")}
FACT = '["William Herschel", "discovered", "Uranus"]'
REASONING = "The passage says that the passage says that the passage says"


def cut(text: str) -> Completion:
    return Completion(text=text, usage=Usage(calls=1), finish_reason="length")


@pytest.mark.parametrize("end", ["", ",", ', ["William', ', ["William Herschel", "discovered"', f", {FACT}"])
def test_facts_before_the_cut_are_read_and_the_cut_is_noted(end: str) -> None:
    with Scripted([cut(f'{{"facts": [{FACT}, {FACT}{end}')]) as model, account() as spent:
        facts = LLMReader(model=model, passages=PASSAGES).read("Who discovered Uranus?", ["a"])
    assert {fact.triple for fact in facts} == {Triple("William Herschel", "discovered", "Uranus")}
    assert "was cut off at its limit of tokens" in spent.problems[0]


@pytest.mark.parametrize("text", ["", '{"facts"', '{"facts": ', "Let me think"])
def test_nothing_is_made_of_a_reply_that_says_nothing_before_the_cut(text: str) -> None:
    with Scripted([cut(text)]) as model, account() as spent:
        reader = LLMReader(model=model, passages=PASSAGES)
        assert list(reader.read("Who discovered Uranus?", ["a"])) == []
    assert spent.problems


def test_a_reader_whose_reasoning_does_not_end_is_asked_for_the_answer_alone() -> None:
    replies = [cut(json.dumps({"reasoning": REASONING})[:-2]), '{"answer": "William Herschel"}']
    with Scripted(replies) as model, account() as spent:
        read = AlwaysAnswerer(model=model, passages=PASSAGES).answer("Who discovered Uranus?", ["a"])
    assert (read.text, read.counts) == ("William Herschel", True)
    assert PASSAGES["a"].text in model.prompts[1].user
    assert "without the reasoning" in model.prompts[1].user
    assert len(spent.problems) == 1


def test_without_passages_the_reader_is_not_shown_an_empty_list_of_them() -> None:
    with Scripted(['{"reasoning": ".", "answer": "Herschel"}'] * 2) as model:
        answerer = AlwaysAnswerer(model=model, passages=PASSAGES)
        answerer.answer("Who discovered Uranus?", [])
        answerer.answer("Who discovered Uranus?", ["a"])
    alone, with_passages = (prompt.user for prompt in model.prompts)
    assert alone == "Question: Who discovered Uranus?"
    assert with_passages.startswith("Passages:\n[1] Uranus\n")
    assert with_passages.endswith("\n\nQuestion: Who discovered Uranus?")


QUESTION = "When did the director of Laughter in Hell die?"
NONSENSE = Completion(text="I am a helpful assistant.")


@pytest.mark.parametrize("agent", list_agents())
def test_every_agent_says_that_its_model_failed(world: Snapshot, words: Embedder, agent: str) -> None:
    index = open_index(world.folder, embedder=words, model=Scripted({"": NONSENSE}))
    answer = index.agent(agent).answer(QUESTION)
    assert (answer.outcome, answer.text, answer.missing) == ("model_failed", "", ())
    assert answer.failure == (
        "The model's reply holds no JSON object; it begins with 'I am a helpful assistant.': "
        "ask again or use a stronger model."
    )
    assert add_passages(index, answer).ranking, "whether the agent searched or not"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (Completion(text=""), "is empty"),
        (Completion(text='{"sentence": "The dir', finish_reason="length"), "was cut off at its limit of tokens"),
        (Completion(text="", finish_reason="refusal"), "is empty (it finished by 'refusal')"),
        (Completion(text="<!doctype html><title>502 Bad Gateway</title>"), "begins with '<!doctype html>"),
    ],
)
def test_whatever_cannot_be_used_is_named(world: Snapshot, words: Embedder, said: Completion, cause: str) -> None:
    answer = open_index(world.folder, embedder=words, model=Scripted({"": said})).agent("auto").answer(QUESTION)
    assert answer.outcome == "model_failed"
    assert cause in answer.failure


def test_prompts_that_are_all_refused_are_a_failure(world: Snapshot, words: Embedder) -> None:
    class Refusing(Scripted):
        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            raise PromptRefusedError("http://m answered HTTP 400: shorten the passage.")

    answer = open_index(world.folder, embedder=words, model=Refusing([])).agent("auto").answer(QUESTION)
    assert (answer.outcome, answer.failure) == ("model_failed", "http://m answered HTTP 400: shorten the passage.")


def test_a_model_that_finds_nothing_has_not_failed(world: Snapshot, words: Embedder) -> None:
    answer = open_index(world.folder, embedder=words, model=Scripted({"": final("")})).agent("read").answer(QUESTION)
    assert (answer.outcome, answer.failure) == ("not_in_documents", "")
