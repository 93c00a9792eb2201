"""The agent over real questions, answered by a careful reader in place of a model: the table of docs/answering.md.

``careful_reader`` has draws of 40 questions, a row per question: what each search found, and the reply to each prompt.
A row of the table asks all its questions again, so a change of the agent, of what its prompts show or of the check of
quotations shows here. (A prompt is known by what it shows; its instructions may have been worded differently.) A row is
in the table only if its draw has a reply to every prompt: where prompts have changed, it must be made again.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_walks import Replies, Walks, ranking_of, read_passages

from triplebeam.answer import Agent, Answer
from triplebeam.evaluate.measures import exact_match, f1
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import format_facts, read_template
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import LLMReader, PassageLink, SyncGE
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.replies import request_text
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
        # What the model knew was not searched for when the draws were made.
        return ranking_of(self.found.get(f"{self.part}|{k}|{query}", ()))


class Unquoted(LLMReader):
    """The paper's reader in the place of the one that quotes."""

    def read(  # type: ignore[override]
        self, question: str, passage_ids: Sequence[str], known: Sequence[Fact] = (), searched: str = ""
    ) -> Sequence[Fact]:
        return super().read(question, passage_ids, known)


class PapersCalls(EvidenceAgent):
    """The agent with up to four calls per step: SyncGE reads by itself, and the next query is another prompt's."""

    def _retrieve(self, loop: Any) -> Ranking:
        [query] = loop.queries[-1]
        ranking = loop.retriever.retrieve(query, self.retrieved)
        loop.searched.append(ranking.ids)
        return ranking

    def _expand(self, loop: Any, found: Ranking, facts: Sequence[Fact]) -> Ranking:
        return found

    def _unread(self, loop: Any, ranking: Ranking) -> list[str]:
        return list(ranking.ids[: self.read])

    def _next_queries(self, loop: Any) -> Sequence[str]:
        prompt = read_template("gear/rewrite", (RECORDED / "rewrite.md").read_text(encoding="utf-8")).fill(
            facts=format_facts([fact.triple for fact in loop.facts]),
            question=loop.question,
            missing=loop.verdict.missing or "(not said)",
            searched="\n".join(f"- {query}" for query in loop.search_lines),
        )
        return list(filter(None, [request_text(self.model, prompt, "query")]))


@dataclass(frozen=True)
class Asked:
    """A question with what was recorded for it."""

    question: Question
    recorded: Mapping[str, Any] = field(repr=False)
    passages: Mapping[str, Passage] = field(repr=False)

    @property
    def model(self) -> LanguageModel:
        return Accounted(Replies("careful reader", self.recorded["replies"]))

    def searches(self, part: str) -> Searches:
        return Searches(self.recorded["searches"], part)

    def agent(self, method: str) -> Agent:
        return self._read_once() if method == "read:blend" else self._agent(method, **SWITCHED.get(method, {}))

    def _agent(self, method: str, **parameters: Any) -> EvidenceAgent:
        link = PassageLink(passages=self.searches("passages"), triples=self.searches("triples"))
        if method == WITHOUT_QUOTATIONS:
            parameters["reader"] = Unquoted(model=self.model, passages=self.passages)
        return (PapersCalls if method == WITH_PAPERS_CALLS else EvidenceAgent)(
            model=self.model,
            retriever=self._walks(method),
            passages=self.passages,
            passage_link=link,
            read_tokens=None,  # the draws were made when a step read fifteen passages, however long they were
            answer_tokens=None,
            fall_back=False,
            **{"answer_from": "evidence", **parameters},  # and every answer was read again
        )

    def _walks(self, method: str) -> SyncGE:
        """With a part switched off, a walk for the same query may start from other facts: each method has its own."""
        prefix = f"{method}|"
        recorded = self.recorded["walks"].items()
        found = {key.removeprefix(prefix): ids for key, ids in recorded if key.startswith(prefix)}
        reader = LLMReader(model=self.model, passages=self.passages)
        return Walks(base=self.searches("base"), found=found, reader=reader, base_k=10)

    def _read_once(self) -> ReadOnce:
        """One reading of the best five of `blend`."""
        return ReadOnce(model=self.model, retriever=self.searches("retriever"), passages=self.passages)


@cache
def _read_questions_asked(data: Path, draw: str) -> list[Asked]:
    """The recorded questions of a draw."""
    with gzip.open(RECORDED / f"{draw}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    questions = {(corpus, each.id): each for corpus in CORPORA for each in _questions(data, corpus)}
    return [Asked(questions[row["corpus"], row["id"]], row, read_passages(data, row["corpus"])) for row in rows]


@cache
def _questions(data: Path, corpus: str) -> list[Question]:
    return read_questions(data / corpus / "questions.dev.jsonl.gz")


def _row(asked: Sequence[Asked], method: str, corpus: str) -> dict[str, float]:
    """What the table says of one method and one corpus."""
    chosen = [each for each in asked if each.recorded["corpus"] == corpus]
    answers = [each.agent(method).answer(each.question.question) for each in chosen]
    pairs = list(zip(chosen, answers, strict=True))
    right = [bool(exact_match(answer.text, each.question.answers)) for each, answer in pairs]
    supported = Counter(is_right for is_right, answer in zip(right, answers, strict=True) if answer.supported)
    return {
        "R@5": _mean(_recall(each, answer, 5) for each, answer in pairs),
        "R@15": _mean(_recall(each, answer, 15) for each, answer in pairs),
        "EM": 100 * _mean(right),
        "F1": _mean(
            100 * f1(answer.text, each.question.answers, partial_yes_no=corpus == "musique") for each, answer in pairs
        ),
        "calls": _mean(answer.usage.calls for answer in answers),
        "tokens": round(_mean(answer.usage.tokens_in for answer in answers)),
        "right": sum(right),
        "right and supported": supported[True],
        "wrong and supported": supported[False],
    }


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _recall(asked: Asked, answer: Answer, k: int) -> float:
    return _mean(100.0 * (gold in answer.ranking.ids[:k]) for gold in asked.question.gold)


#: The agent with one part switched off.
SWITCHED: Mapping[str, Mapping[str, Any]] = {
    "agent[answer_from=fusion]": {"answer_from": "fusion"},
    "agent[ranking=fusion]": {"ranking": "fusion"},
    "agent[stop_when_stuck=no]": {"stop_when_stuck": False},
}
#: Parts that the agent does not do without any more, as their walks are recorded.
WITHOUT_QUOTATIONS, WITH_PAPERS_CALLS = "agent[quotations=no]", "agent[calls=paper]"
#: R@5, R@15, EM, F1, calls and tokens read per question; right answers, those of them that are supported, and wrong
#: ones that are.
TABLE: Mapping[tuple[str, str, str], tuple[float, ...]] = {
    ("first", "read:blend", "musique"): (75.0, 86.5, 62.5, 67.1, 1.00, 1354, 15, 0, 0),
    ("first", "read:blend", "2wikimultihopqa"): (96.9, 100.0, 75.0, 75.0, 1.00, 1542, 6, 0, 0),
    ("first", "read:blend", "hotpotqa"): (87.5, 100.0, 50.0, 59.8, 1.00, 1257, 4, 0, 0),
    ("second", "read:blend", "musique"): (54.2, 70.8, 33.3, 39.6, 1.00, 1356, 8, 0, 0),
    ("second", "read:blend", "2wikimultihopqa"): (100.0, 100.0, 75.0, 92.4, 1.00, 1443, 6, 0, 0),
    ("second", "read:blend", "hotpotqa"): (93.8, 100.0, 87.5, 87.5, 1.00, 1193, 7, 0, 0),
    ("second", "agent", "musique"): (82.6, 88.2, 62.5, 69.0, 5.08, 8641, 15, 8, 1),
    ("second", "agent", "2wikimultihopqa"): (100.0, 100.0, 87.5, 93.8, 3.00, 5982, 7, 7, 1),
    ("second", "agent", "hotpotqa"): (100.0, 100.0, 100.0, 100.0, 3.00, 5098, 8, 7, 0),
    ("third", "read:blend", "musique"): (72.6, 79.5, 50.0, 52.6, 1.00, 1398, 12, 0, 0),
    ("third", "read:blend", "2wikimultihopqa"): (96.9, 100.0, 62.5, 70.8, 1.00, 1357, 5, 0, 0),
    ("third", "read:blend", "hotpotqa"): (100.0, 100.0, 62.5, 83.7, 1.00, 1354, 5, 0, 0),
    ("third", "agent", "musique"): (94.8, 96.2, 75.0, 87.8, 4.25, 7661, 18, 10, 1),
    ("third", "agent", "2wikimultihopqa"): (100.0, 100.0, 75.0, 83.3, 3.50, 6340, 6, 5, 1),
    ("third", "agent", "hotpotqa"): (100.0, 100.0, 62.5, 83.7, 3.00, 5351, 5, 4, 2),
    ("third", "agent[answer_from=fusion]", "musique"): (94.8, 96.2, 75.0, 84.6, 4.25, 7472, 18, 10, 0),
    ("third", "agent[ranking=fusion]", "musique"): (74.3, 92.4, 75.0, 87.8, 4.25, 7661, 18, 10, 1),
    ("third", "agent[stop_when_stuck=no]", "musique"): (94.8, 96.2, 75.0, 87.8, 4.25, 7661, 18, 10, 1),
    ("third", WITHOUT_QUOTATIONS, "musique"): (87.8, 96.2, 79.2, 88.0, 4.50, 7469, 19, 7, 2),
    ("third", WITH_PAPERS_CALLS, "musique"): (94.8, 97.2, 79.2, 89.6, 8.83, 13758, 19, 9, 1),
}


@pytest.mark.parametrize(("draw", "method", "corpus"), TABLE, ids=map("-".join, TABLE))
def test_the_table_is_what_the_recorded_replies_give(data: Path, draw: str, method: str, corpus: str) -> None:
    row = _row(_read_questions_asked(data, draw), method, corpus)
    assert tuple(row.values()) == pytest.approx(TABLE[draw, method, corpus], abs=0.06)
