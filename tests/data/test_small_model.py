"""A small model at volume: its rows of benchmarks/results.json, asked again with the replies it gave.

``small_model.jsonl.xz`` has a row per method and question: what each search found, where each walk of SyncGE led, and
the reply to each prompt; also the claims that hold, for methods that check any before they go on. Whatever methods the
file holds are asked again. A row of the results that the file does not cover is an error: it would be a figure that
cannot be checked. Of a retriever that calls a model, and of KGP, only the number of questions is compared. The rows of
``musique-finished`` are those of GE-Reasoning's Table 1, on the questions that all of them had finished.
"""

import json
import lzma
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from recorded_walks import Replies, Walks, hash_text, ranking_of, read_passages

from triplebeam.answer import Agent, Answer
from triplebeam.assemble.agents import Below
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method
from triplebeam.evaluate.measures import exact_match, f1
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.gear import LLMReader, PassageLink, SyncGE
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.support.claim import Claim

pytestmark = pytest.mark.data

RECORDED = Path(__file__).with_name("small_model.jsonl.xz")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MODEL = tomllib.loads((BENCHMARKS / "tables.toml").read_text(encoding="utf-8"))["small"]["model"]


@dataclass(frozen=True)
class Searches:
    """What was found when the question was asked; a query may be repeated, and find something else."""

    found: list[list[Any]] = field(repr=False)
    part: str

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        place = next(place for place, row in enumerate(self.found) if row[:3] == [self.part, k, query])
        return ranking_of(self.found.pop(place)[3])


@dataclass(frozen=True)
class RecordedBelow(Below):
    """The searches of an agent, as they were recorded: its retriever counts as expanded already."""

    recorded_link: PassageLink | None = None
    expanded = True

    @property
    def named(self) -> bool:
        return bool(self.method.parts)

    def link(self) -> PassageLink:
        assert self.recorded_link
        return self.recorded_link


@dataclass(frozen=True)
class Asked:
    """A question with what was recorded for it: a context for agents without an index."""

    question: Question
    recorded: Mapping[str, Any] = field(repr=False)
    passages: Mapping[str, Passage] = field(repr=False)
    seed: int = 0
    triples: None = None
    always_answer: bool = True

    @property
    def model(self) -> LanguageModel:
        return Accounted(Replies(MODEL, self.recorded["replies"]))

    reading_model = model

    def answer(self) -> Answer:
        method = Method.parse(self.recorded["method"])
        assert method.agent
        agent: Agent = method.agent.build(cast("Context", self), self._below(method))
        return agent.answer(self.question.question)

    def _below(self, method: Method) -> Below:
        """What an agent is built over: GeAR and a row of its Table 3 search through SyncGE."""
        assert method.agent
        gear = method.agent.row.name == "gear"
        walks = gear or (method.parts[-1:] and method.parts[-1].row.name == "sync_ge")
        searches = [*map(list, self.recorded["searches"])]
        base = Searches(searches, "base" if walks else "retriever")
        link = PassageLink(passages=Searches(searches, "passages"), triples=Searches(searches, "triples"))
        reader, base_k = LLMReader(model=self.model, passages=self.passages), 10 if gear else SyncGE.base_k
        sync = Walks(base=base, found=self.recorded["walks"], reader=reader, base_k=base_k)
        return RecordedBelow(method, cast("Context", self), sync if walks else base, link)


@pytest.fixture(autouse=True)
def _recorded_verdicts(_reader_of_claims: None, asked: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts are not checked again: another verdict would lead to a prompt without a reply."""
    stated = {each for row in asked for each in row.recorded.get("stated", ())}

    def states(claim: Claim, _: float = 0.0) -> bool:
        return hash_text("\n".join([claim.fact, claim.words, claim.context])) in stated

    monkeypatch.setattr("triplebeam.support.find.states", states)


@pytest.fixture(scope="module")
def asked(data: Path) -> list[Asked]:
    questions = {each.id: each for each in read_questions(data / "musique" / "questions.dev.jsonl.gz")}
    with lzma.open(RECORDED, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [Asked(questions[row["id"]], row, read_passages(data, "musique")) for row in rows]


MEASURES = ("R@5", "R@10", "R@15", "EM", "F1")


def figures(asked: Sequence[Asked]) -> dict[str, float]:
    """What the results say of one method, in per cent."""
    answers = [each.answer() for each in asked]
    golds = [each.question.answers for each in asked]
    texts = [answer.text for answer in answers]
    shares: dict[str, Iterable[float]] = {"EM": map(exact_match, texts, golds), "F1": map(f1, texts, golds)}
    for k in (5, 10, 15):
        ranked = [(each.question.gold, answer.ranking.ids[:k]) for each, answer in zip(asked, answers, strict=True)]
        shares[f"R@{k}"] = [np.mean([id_ in ids for id_ in gold]) for gold, ids in ranked]
    return {name: 100 * float(np.mean([*values])) for name, values in shares.items()}


def results() -> list[Mapping[str, Any]]:
    """The rows of the results that are this model's."""
    rows = json.loads((BENCHMARKS / "results.json").read_text(encoding="utf-8"))
    return [row for row in rows if row.get("model") == MODEL]


def select_questions(asked: Sequence[Asked], row: Mapping[str, Any]) -> list[Asked]:
    """The recorded questions of a row: its method's, or those of them that every method of its part of MuSiQue has."""
    methods = {each["method"] for each in results() if each["dataset"] == row["dataset"]}
    times = Counter(each.question.id for each in asked if each.recorded["method"] in methods)
    own = [each for each in asked if each.recorded["method"] == row["method"]]
    return own if row["dataset"] == "musique" else [each for each in own if times[each.question.id] == len(methods)]


def is_replayed(row: Mapping[str, Any]) -> bool:
    """Is a row's method asked again? A retriever needs an index, and KGP the graph of passages."""
    agent = Method.parse(row["method"]).agent
    return agent is not None and agent.row.name != "kgp"


@pytest.mark.parametrize("row", [*filter(is_replayed, results())], ids=lambda row: f"{row['dataset']}: {row['method']}")
def test_the_recorded_replies_give_the_row_again(asked: list[Asked], row: Mapping[str, Any]) -> None:
    again = figures(select_questions(asked, row))
    published = {name: row[name] for name in MEASURES if name in row}
    assert published == pytest.approx({name: again[name] for name in published}, abs=0.05)


def test_every_row_has_all_its_replies_and_the_other_way_round(asked: list[Asked]) -> None:
    rows = results()
    assert [len(select_questions(asked, row)) for row in rows] == [row["questions"] for row in rows]
    used = {(each.recorded["method"], each.question.id) for row in rows for each in select_questions(asked, row)}
    assert used == {(each.recorded["method"], each.question.id) for each in asked}
