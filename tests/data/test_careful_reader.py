"""The agent over real questions, answered by a careful reader in place of a model: the table of docs/answering.md.

``careful_reader`` has two draws of 40 questions, a row per question: what each search found, and the reply to each
prompt. A row of the table asks all its questions again, so a change of the agent, its prompts or the check of
quotations shows here. A prompt without a reply says that prompts have changed: the table must then be made again.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from recorded_walks import Walks, ranking_of

from triplebeam.answer import Agent, Answer
from triplebeam.evaluate.measures import exact_match
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.index.triple_store import TripleStore
from triplebeam.methods.baselines.read_once import ReadOnce
from triplebeam.methods.gear import GeAR, PassageLink, SyncGE
from triplebeam.methods.gear.read import LLMReader
from triplebeam.methods.gear.score import ChainScorer
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking

pytestmark = pytest.mark.data

RECORDED = Path(__file__).with_name("careful_reader")
CORPORA = ("musique", "2wikimultihopqa", "hotpotqa")


@dataclass(frozen=True)
class Searches:
    """What was found when the questions were asked."""

    found: Mapping[str, Sequence[str]] = field(repr=False)
    part: str

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The passages, with their ranks as scores."""
        return ranking_of(self.found[f"{self.part}|{k}|{query}"])


@dataclass(frozen=True)
class Replies:
    """The careful reader's reply to each prompt."""

    replies: Mapping[str, Mapping[str, Any]] = field(repr=False)
    name: str = "careful reader"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One reply per prompt; the tokens are estimates, four letters each."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        text = "\n".join([prompt.template, prompt.user, *(prompt.correction or ())])
        found = self.replies[hashlib.sha256(text.encode()).hexdigest()[:16]]
        return Completion(text=found["reply"], usage=Usage(calls=1, tokens_in=found["in"], tokens_out=found["out"]))


@dataclass(frozen=True)
class Asked:
    """A question with what was recorded for it."""

    question: Question
    recorded: Mapping[str, Any] = field(repr=False)
    passages: Mapping[str, Passage] = field(repr=False)

    @property
    def model(self) -> LanguageModel:
        """The reader, whose calls count."""
        return Accounted(Replies(self.recorded["replies"]))

    def searches(self, part: str) -> Searches:
        """What one of the agent's retrievers found."""
        return Searches(self.recorded["searches"], part)

    def gear(self, **parameters: Any) -> GeAR:
        """The agent over the searches of `blend`."""
        link = PassageLink(passages=self.searches("passages"), triples=self.searches("triples"))
        return GeAR(
            model=self.model,
            retriever=self._walks(),
            passages=self.passages,
            passage_link=link,
            **parameters,
        )

    def _walks(self) -> SyncGE:
        reader = LLMReader(model=self.model, passages=self.passages, quotations=False)
        return Walks(
            base=self.searches("base"),
            found=self.recorded["walks"],
            reader=reader,
            base_k=10,
            triples=cast("TripleStore", None),
            scorer=cast("ChainScorer", None),
        )

    def read_once(self) -> ReadOnce:
        """One reading of the best five of `blend`."""
        return ReadOnce(model=self.model, retriever=self.searches("retriever"), passages=self.passages)


@cache
def _asked(data: Path, draw: str) -> list[Asked]:
    """The recorded questions of a draw."""
    with gzip.open(RECORDED / f"{draw}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    questions = {(corpus, each.id): each for corpus in CORPORA for each in _questions(data, corpus)}
    return [Asked(questions[row["corpus"], row["id"]], row, _passages(data, row["corpus"])) for row in rows]


@cache
def _questions(data: Path, corpus: str) -> list[Question]:
    return read_questions(data / corpus / "questions.dev.jsonl.gz")


@cache
def _passages(data: Path, corpus: str) -> Mapping[str, Passage]:
    with gzip.open(data / corpus / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {row["id"]: Passage(id=row["id"], text=row["text"], title=row["title"]) for row in rows}


def _row(asked: Sequence[Asked], agent: Callable[[Asked], Agent], corpus: str) -> dict[str, float]:
    """What the table says of one agent and one corpus."""
    chosen = [each for each in asked if each.recorded["corpus"] == corpus]
    answers = [agent(each).answer(each.question.question) for each in chosen]
    right = [
        bool(exact_match(answer.text, each.question.answers)) for each, answer in zip(chosen, answers, strict=True)
    ]
    return {
        "R@5": 100 * float(np.mean([_recall(each, answer) for each, answer in zip(chosen, answers, strict=True)])),
        "EM": 100 * float(np.mean(right)),
        "calls": float(np.mean([answer.usage.calls for answer in answers])),
        "tokens": float(np.mean([answer.usage.tokens_in for answer in answers])),
        "right": sum(right),
        "right and supported": sum(
            answer.supported for answer, is_right in zip(answers, right, strict=True) if is_right
        ),
        "wrong and supported": sum(
            answer.supported for answer, is_right in zip(answers, right, strict=True) if not is_right
        ),
    }


def _recall(asked: Asked, answer: Answer) -> float:
    return float(np.mean([gold in answer.ranking.ids[:5] for gold in asked.question.gold]))


AGENTS: Mapping[str, Callable[[Asked], Agent]] = {
    "read:blend": Asked.read_once,
    "gear": Asked.gear,
    "gear[ranking=fusion]": partial(Asked.gear, ranking="fusion"),
    "gear[answer_from=fusion]": partial(Asked.gear, answer_from="fusion"),
    "gear[stop_when_stuck=no]": partial(Asked.gear, stop_when_stuck=False),
}
#: R@5, EM, calls and tokens read per question; right answers, those of them that are supported, wrong ones that are.
TABLE: Mapping[tuple[str, str, str], tuple[float, ...]] = {
    ("first", "read:blend", "musique"): (75.0, 62.5, 1.0, 1354, 15, 0, 0),
    ("first", "read:blend", "2wikimultihopqa"): (96.9, 75.0, 1.0, 1542, 6, 0, 0),
    ("first", "read:blend", "hotpotqa"): (87.5, 50.0, 1.0, 1257, 4, 0, 0),
    ("first", "gear", "musique"): (92.4, 79.2, 4.2, 5751, 19, 16, 1),
    ("first", "gear", "2wikimultihopqa"): (100.0, 75.0, 4.2, 6460, 6, 5, 1),
    ("first", "gear", "hotpotqa"): (93.8, 50.0, 3.0, 3972, 4, 3, 4),
    ("first", "gear[ranking=fusion]", "musique"): (81.9, 79.2, 4.2, 5761, 19, 16, 1),
    ("first", "gear[ranking=fusion]", "2wikimultihopqa"): (100.0, 75.0, 4.2, 6460, 6, 5, 1),
    ("first", "gear[ranking=fusion]", "hotpotqa"): (93.8, 50.0, 3.0, 3972, 4, 3, 4),
    ("first", "gear[answer_from=fusion]", "musique"): (92.4, 79.2, 4.2, 5716, 19, 13, 0),
    ("first", "gear[answer_from=fusion]", "2wikimultihopqa"): (100.0, 75.0, 4.2, 6411, 6, 5, 1),
    ("first", "gear[answer_from=fusion]", "hotpotqa"): (93.8, 50.0, 3.0, 3927, 4, 3, 4),
    ("first", "gear[stop_when_stuck=no]", "musique"): (93.4, 79.2, 4.4, 5967, 19, 16, 1),
    ("first", "gear[stop_when_stuck=no]", "2wikimultihopqa"): (100.0, 75.0, 4.2, 6460, 6, 5, 1),
    ("first", "gear[stop_when_stuck=no]", "hotpotqa"): (93.8, 50.0, 3.0, 3972, 4, 3, 4),
    ("second", "read:blend", "musique"): (54.2, 29.2, 1.0, 1312, 7, 0, 0),
    ("second", "read:blend", "2wikimultihopqa"): (100.0, 75.0, 1.0, 1399, 6, 0, 0),
    ("second", "read:blend", "hotpotqa"): (93.8, 87.5, 1.0, 1149, 7, 0, 0),
    ("second", "gear", "musique"): (78.1, 58.3, 5.83, 7560, 14, 8, 1),
    ("second", "gear", "2wikimultihopqa"): (100.0, 87.5, 3.0, 4483, 7, 6, 1),
    ("second", "gear", "hotpotqa"): (100.0, 87.5, 3.0, 3987, 7, 7, 1),
}


@pytest.mark.parametrize(("draw", "method", "corpus"), TABLE, ids=map("-".join, TABLE))
def test_the_table_is_what_the_recorded_replies_give(data: Path, draw: str, method: str, corpus: str) -> None:
    row = _row(_asked(data, draw), AGENTS[method], corpus)
    assert tuple(row.values()) == pytest.approx(TABLE[draw, method, corpus], abs=0.5)
