"""Asking every question: what is recorded, what is counted, and what is never asked twice."""

import itertools
import json
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from patience import SECONDS
from scripted_loops import Table
from triplebeam.answer import Agent, Answer, Step
from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import EndpointError
from triplebeam.evaluate.ask_all import CountingEmbedder, ask_all
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Run, RunFile
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.ranking import Hit, Ranking
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.ircot import IRCoT
from triplebeam_research.baselines.iter_retgen import IterRetGen

QUESTIONS = [
    Question(id="1", question="Laughter in Hell", gold=("film", "director")),
    Question(id="2", question="Great Lakes", gold=("lake",)),
]
CHAINS = "hybrid+naive_ge[scorer=exact,width=3]"
RANKING = Ranking(Hit(id_, 1 / rank) for rank, id_ in enumerate("abc", start=1))


class Asked:
    """A retriever that remembers what it was asked, and may give up."""

    def __init__(self, fails_at: int = 99) -> None:
        self.queries: list[str] = []
        self._fails_at = fails_at

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.queries.append(query)
        if len(self.queries) == self._fails_at:
            raise KeyboardInterrupt
        return RANKING.top(k)


class Batches(Asked):
    """Takes many queries at once."""

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        self.queries.append("|".join(queries))
        return [RANKING.top(k) for _ in queries]


class TwoSteps(Agent):
    """Finds one passage a step, and a call each."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        spoken = Completion(text="", usage=Usage(calls=1, tokens_in=7, tokens_out=3))
        model, done = Accounted(Scripted([spoken, spoken])), []
        for number in (1, 2):
            (completion,) = model.complete([Prompt(system="", user=question)])
            done.append(Step(number=number, query=question, so_far=RANKING.top(number), usage=completion.usage))
            yield done[-1]
        return Answer(question=question, text=f"said {question}", ranking=RANKING, steps=tuple(done), ending="done")


def test_a_retriever_is_warmed_and_asked_once_a_question() -> None:
    asked, seen = Asked(), []
    results = ask_all("mine", asked, QUESTIONS, progress=lambda *each: seen.append(each))
    assert asked.queries == ["Laughter in Hell ", "Laughter in Hell", "Great Lakes"]
    assert [result.question_id for result in results] == ["1", "2"]
    assert {(result.passage_ids, result.answer) for result in results} == {(("a", "b", "c"), None)}
    assert seen == [("mine", 1, 2), ("mine", 2, 2)]


def test_many_are_asked_at_once_where_that_costs_no_model(tmp_path: Path) -> None:
    asked, seen = Batches(), []
    results = ask_all("mine", asked, QUESTIONS, progress=lambda *each: seen.append(each))
    assert asked.queries == ["Laughter in Hell ", "Laughter in Hell|Great Lakes"]
    assert [(each.question_id, each.batch) for each in results] == [("1", 2), ("2", 2)]
    assert results[0].seconds == results[1].seconds > 0
    assert seen == [("mine", 2, 2)]
    assert Run(method="mine", results=results).batched
    one_by_one = Batches()
    ask_all("mine", one_by_one, QUESTIONS, warming=False)
    assert one_by_one.queries == ["Laughter in Hell", "Great Lakes"]
    kept = RunFile(tmp_path / "run.jsonl")
    kept.keep(QUESTIONS[0], results[0])
    rest = Batches()
    assert ask_all("mine", rest, QUESTIONS, kept=RunFile(tmp_path / "run.jsonl"))[0] == results[0]
    assert rest.queries == ["Great Lakes ", "Great Lakes"]


def test_a_fast_method_gets_large_batches_and_a_slow_one_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock moves by so many seconds whenever it is read: a batch lasts as long."""
    many = [Question(id=str(number), question=f"question {number}") for number in range(100)]
    for seconds, sizes in ((0.0, [8, 64, 28]), (20.0, [8, 2, 1, 1])):
        clock = itertools.count(0.0, seconds) if seconds else itertools.repeat(0.0)
        monkeypatch.setattr("triplebeam.evaluate.ask_all.time.perf_counter", clock.__next__)
        seen: list[int] = []
        ask_all("mine", Batches(), many, progress=lambda _, done, __, seen=seen: seen.append(done))  # type: ignore[misc]
        assert np.diff([0, *seen])[: len(sizes)].tolist() == sizes


def test_options_are_shown_to_the_model_and_not_searched_for() -> None:
    options = ("He wanted to see the other side of the moon", "Fear")
    question = Question(id="1", question="Why did Pat Brien leave?", answers=options[:1], choices=options)
    table = Table({question.question: ["actor"], f"He was bored. {question.question}": ["actor"]})
    generations = [json.dumps({"reasoning": "He was bored.", "answer": "A"})] * 2
    agents: list[tuple[type[AnsweringAgent], list[str]]] = [(ReadOnce, []), (IRCoT, ['{"sentence": ""}'])]
    for agent, replies in (*agents, (IterRetGen, generations)):
        with Scripted([*replies, '{"sentence": ".", "found": true, "answer": "A"}']) as model:
            (result,) = ask_all("agent", agent(model=model, retriever=table), [question])
        assert "A. He wanted to see the other side of the moon\nB. Fear" in model.prompts[-1].user
        assert values("Accuracy", [question], [result]) == [1.0]
    assert set(table.asked) <= set(table.table)


def test_interrupted_and_started_again_nothing_is_asked_twice(tmp_path: Path) -> None:
    first = Asked(fails_at=3)  # the warming, the first question, and then
    with pytest.raises(KeyboardInterrupt):
        ask_all("mine", first, QUESTIONS, kept=RunFile(tmp_path / "run.jsonl"))
    second, third = Asked(), Asked()
    ask_all("mine", second, QUESTIONS, kept=RunFile(tmp_path / "run.jsonl"))
    assert second.queries == ["Great Lakes ", "Great Lakes"]
    again = ask_all("mine", third, QUESTIONS, kept=RunFile(tmp_path / "run.jsonl"))
    assert third.queries == []
    assert [result.question_id for result in again] == ["1", "2"]


@pytest.mark.parametrize(
    ("method", "encodings"),
    [("bm25", [0]), ("dense", [1]), ("hybrid+naive_ge[scorer=pooled]", [1]), (CHAINS, range(2, 100))],
)
def test_encodings_are_counted(world: Snapshot, words: Embedder, method: str, encodings: Sequence[int]) -> None:
    """Also the first, though the method was warmed, and though several parts ask for the same vector; so are chains."""
    counting = CountingEmbedder(words)
    retriever = IndexReader(Context(world, Settings(), counting)).retriever(method)
    results = ask_all(method, retriever, QUESTIONS, encoded=lambda: counting.encoded)
    assert all(result.encodings in encodings for result in results)


class Meeting(TwoSteps):
    """Answers only when so many questions are asked at once."""

    def __init__(self, parties: int) -> None:
        self._all_here = threading.Barrier(parties, timeout=SECONDS)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        self._all_here.wait()
        return (yield from super().steps(question))


def test_agents_are_recorded_and_asked_in_parallel_give_the_same_results_in_order(tmp_path: Path) -> None:
    questions = [Question(id=str(number), question=f"Who is {number}?") for number in range(6)]
    kept = RunFile(tmp_path / "run.jsonl")
    at_once = ask_all("agent", Meeting(3), questions, kept=kept, parallel=3)
    one_by_one = ask_all("agent", TwoSteps(), questions)
    first = one_by_one[0]
    assert (first.answer, [step.passage_ids for step in first.steps]) == ("said Who is 0?", [("a",), ("a", "b")])
    assert (first.usage.calls, first.usage.tokens_in, first.ending) == (2, 14, "done")
    assert [replace(each, seconds=0.0) for each in at_once] == [replace(each, seconds=0.0) for each in one_by_one]
    assert len((tmp_path / "run.jsonl").read_text().splitlines()) == 6


def test_texts_are_counted_for_the_question_they_were_encoded_for() -> None:
    class Encodes(Meeting):
        def steps(self, question: str) -> Generator[Step, None, Answer]:
            counting.embed([question] * len(question))
            return (yield from super().steps(question))

    counting = CountingEmbedder(HashedWords())
    questions = [Question(id=text, question=text) for text in ("a", "bb", "ccc", "dddd")]
    results = ask_all("agent", Encodes(4), questions, encoded=lambda: counting.encoded, parallel=4)
    assert [each.encodings for each in results] == [1, 2, 3, 4]


def test_an_error_in_parallel_ends_the_run_and_no_model_is_called_any_more() -> None:
    class Fails(TwoSteps):
        def steps(self, question: str) -> Generator[Step, None, Answer]:
            if question == "3":
                raise EndpointError("gone")
            return (yield from super().steps(question))

    asked: list[int] = []
    many = [Question(id=str(number), question=str(number)) for number in range(100)]
    with pytest.raises(EndpointError, match="gone"):
        ask_all("agent", Fails(), many, parallel=2, progress=lambda _, done, __: asked.append(done))
    assert len(asked) < 99
