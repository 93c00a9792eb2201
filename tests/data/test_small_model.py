"""A small model at volume: the rows of docs/reproduction.md, asked again with the replies it gave.

``small_model.jsonl.xz`` has a row per method and question: what each search found, where each walk of SyncGE led, and
the reply to each prompt. RGNN-Ret's rows also have the claims that hold in the record: of the papers' methods it alone
asks whether words state a fact before it goes on. The file was recorded before replies that were cut off at their limit
were used up to the cut, so questions with such a reply are not in it: the agents now ask further than the record goes.
"""

import hashlib
import json
import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from recorded_walks import Walks, ranking_of

from triplebeam.answer import Agent
from triplebeam.assemble.agents import Below, ge_reasoning, gear, ircot, read, rgnn_ret, single_step
from triplebeam.assemble.context import Context
from triplebeam.evaluate.measures import exact_match
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, TokenLogProbability, Usage
from triplebeam.index.triple_store import TripleStore
from triplebeam.ingest.json_lines import read_json_lines
from triplebeam.methods.gear import PassageLink
from triplebeam.methods.gear.read import LLMReader
from triplebeam.methods.gear.score import ChainScorer
from triplebeam.methods.shared.question_answering import AlwaysAnswerer
from triplebeam.passage import Document, Passage
from triplebeam.ranking import Ranking
from triplebeam.support.claim import Claim
from triplebeam.triple import entity_key

pytestmark = pytest.mark.data

RECORDED = Path(__file__).with_name("small_model.jsonl.xz")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Searches:
    """What was found when the question was asked; a query may be repeated, and find something else."""

    found: list[list[Any]] = field(repr=False)
    part: str

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The passages, with their ranks as scores."""
        place = next(place for place, row in enumerate(self.found) if row[:3] == [self.part, k, query])
        return ranking_of(self.found.pop(place)[3])


@dataclass(frozen=True)
class Replies:
    """The small model's reply to each prompt."""

    replies: Mapping[str, Mapping[str, Any]] = field(repr=False)
    name: str = "Qwen2.5-Coder-1.5B-Instruct"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One reply per prompt."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        text = "\n".join([prompt.template, prompt.user, *(prompt.correction or ())])
        text += f"\n{prompt.sample}" if prompt.sample else ""
        found = self.replies[_hash(text)]
        tokens = found.get("logprobs")
        return Completion(
            text=found["reply"],
            usage=Usage(calls=1, tokens_in=found["in"], tokens_out=found["out"]),
            log_probabilities=tuple(TokenLogProbability(*token) for token in tokens) if tokens else None,
        )


@dataclass(frozen=True)
class Asked:
    """A question with what was recorded for it: a context for agents without an index."""

    question: Question
    recorded: Mapping[str, Any] = field(repr=False)
    passages: Mapping[str, Passage] = field(repr=False)
    seed: int = 0
    triples: None = None

    @property
    def model(self) -> LanguageModel:
        """The replies; their calls count."""
        return Accounted(Replies(self.recorded["replies"]))

    reading_model = model

    @property
    def answerer(self) -> AlwaysAnswerer:
        """The reader of all rows."""
        return AlwaysAnswerer(model=self.model, passages=self.passages)

    def below(self, *, walks: bool, base_k: int = 10) -> Below:
        """What an agent is built over."""
        searches = [*map(list, self.recorded["searches"])]
        base = Searches(searches, "base" if walks else "retriever")
        link = PassageLink(passages=Searches(searches, "passages"), triples=Searches(searches, "triples"))
        sync = Walks(
            base=base,
            found=self.recorded["walks"],
            reader=LLMReader(model=self.model, passages=self.passages, quotations=False),
            base_k=base_k,
            triples=cast("TripleStore", None),
            scorer=cast("ChainScorer", None),
        )
        return Below(
            context=cast("Context", self),
            method=str(self.recorded["method"]),
            named=True,
            expanded=True,
            retriever=lambda: sync if walks else base,
            link=lambda: link,
        )


@pytest.fixture(autouse=True)
def _recorded_verdicts(_reader_of_claims: None, asked: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts are not checked again: another verdict would lead to a prompt without a reply."""
    stated = {each for row in asked for each in row.recorded.get("stated", ())}

    def states(claim: Claim) -> bool:
        return _hash("\n".join([claim.fact, claim.words, claim.context])) in stated

    monkeypatch.setattr("triplebeam.support.find.states", states)


@pytest.fixture(scope="module")
def asked(data: Path) -> list[Asked]:
    """The recorded questions of all rows."""
    questions = {each.id: each for each in read_questions(data / "musique" / "questions.dev.jsonl.gz")}
    documents = read_json_lines(data / "musique" / "corpus.jsonl.gz", "corpus.jsonl.gz")
    passages = {
        each.id: Passage(id=each.id, text=each.text, title=each.title)
        for _, each in documents
        if isinstance(each, Document)
    }
    with lzma.open(RECORDED, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [Asked(questions[row["id"]], row, passages) for row in rows]


def _row(asked: Sequence[Asked], agent: Callable[[Asked], Agent]) -> tuple[float, ...]:
    """What the table says of one agent."""
    answers = [agent(each).answer(each.question.question) for each in asked]
    golds = [each.question.gold for each in asked]
    recall = [
        [np.mean([id_ in answer.ranking.ids[:k] for id_ in gold]) for gold, answer in zip(golds, answers, strict=True)]
        for k in (5, 15)
    ]
    right = [exact_match(answer.text, each.question.answers) for each, answer in zip(asked, answers, strict=True)]
    calls = [answer.usage.calls for answer in answers]
    return len(asked), *(round(100 * float(np.mean(each)), 1) for each in (*recall, right)), float(np.mean(calls))


AGENTS: Mapping[str, Callable[[Asked], Agent]] = {
    "read:gold": lambda each: read(each.below(walks=False)),
    "read:hybrid": lambda each: read(each.below(walks=False)),
    "single_step[paper=yes]:hybrid+sync_ge[scorer=exact]": lambda each: single_step(
        each.below(walks=True, base_k=15), paper=True
    ),
    "ircot[paper=yes]:bm25": lambda each: ircot(each.below(walks=False), paper=True),
    "ircot[paper=yes]:hybrid": lambda each: ircot(each.below(walks=False), paper=True),
    "ircot[paper=yes]:hipporag": lambda each: ircot(each.below(walks=False), paper=True),
    "gear[paper=yes]:hybrid": lambda each: gear(each.below(walks=True), paper=True),
    "rgnn_ret[paper=yes]:gnn_ret[beta=0.9]": lambda each: rgnn_ret(each.below(walks=False), paper=True),
    "ge_reasoning[paper=yes]:bm25": lambda each: ge_reasoning(each.below(walks=False), paper=True),
}
#: Questions, R@5, R@15, EM, and calls per question, without those inside a retriever.
TABLE: Mapping[str, tuple[float, ...]] = {
    "read:gold": (95, 100.0, 100.0, 28.4, 1.0),
    "read:hybrid": (93, 49.4, 60.8, 11.8, 1.0),
    "single_step[paper=yes]:hybrid+sync_ge[scorer=exact]": (82, 56.6, 68.9, 13.4, 2.0),
    "ircot[paper=yes]:bm25": (85, 43.7, 52.9, 9.4, 4.95),
    "ircot[paper=yes]:hybrid": (88, 50.4, 62.6, 9.1, 4.97),
    "ircot[paper=yes]:hipporag": (84, 51.9, 64.3, 13.1, 4.95),
    "gear[paper=yes]:hybrid": (65, 52.1, 72.1, 13.8, 15.69),
    "rgnn_ret[paper=yes]:gnn_ret[beta=0.9]": (91, 51.0, 68.3, 9.9, 9.18),
    "ge_reasoning[paper=yes]:bm25": (59, 35.5, 42.4, 5.1, 18.17),
}


@pytest.mark.parametrize("method", TABLE)
def test_the_recorded_replies_give_the_row_again(asked: list[Asked], method: str) -> None:
    recorded = [each for each in asked if each.recorded["method"] == method]
    assert _row(recorded, AGENTS[method]) == pytest.approx(TABLE[method], abs=0.05)


def test_the_question_is_given_as_the_next_query_whatever_the_prompt_says(
    asked: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So where a query repeats, GeAR searches with the facts: asking for other words seldom helps a small model."""
    queries: dict[str, str] = {}
    completion = Replies._completion

    def noted(self: Replies, prompt: Prompt) -> Completion:
        reply = completion(self, prompt)
        if prompt.template in ("gear/reason", "gear/rewrite"):
            queries.setdefault(prompt.template, entity_key(json.loads(reply.text)["query"]))
        return reply

    monkeypatch.setattr(Replies, "_completion", noted)
    repeated = repeated_again = 0
    for each in asked:
        if each.recorded["method"] == "gear[paper=yes]:hybrid":
            queries.clear()
            AGENTS["gear[paper=yes]:hybrid"](each).answer(each.question.question)
            question = entity_key(each.question.question)
            repeated += queries["gear/reason"] == question
            repeated_again += queries["gear/reason"] == question == queries.get("gear/rewrite")
    assert (repeated, repeated_again) == (42, 34)
