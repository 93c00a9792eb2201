"""KGP, knowledge graph prompting (Wang, Lipka, Rossi, Siu, Zhang & Derr, AAAI 2024): a model walks the passage graph.

The first step retrieves seeds for the question; each is the beginning of a path. Every later step takes a path from
the queue, shows the model the question and the path's passages, and lets it write the evidence that is needed next. Of
the neighbours of the path's last passage the most similar to that text go on the path, each as a path of its own at
the end of the queue. It ends when as many passages are collected as wanted, or no path leads on.

Followed to the letter: the above, which is the paper's traversal, first in first out. What differs: the graph is
GNN-Ret's (neighbours in a document, shared keywords), as in that comparison, and the model is asked as it is
instead of being trained to name evidence. Ours: 5 seeds, 3 neighbours a path, 30 passages, 10 steps; a passage is
collected once; a path whose neighbours are all collected is passed over without a call; no evidence where the model
says that a path needs none, which leaves the path. The ranking is by each passage's similarity to the text that brought
it, the question's for a seed. The answer is read from its best by the `QuestionAnswerer` that all agents share.
"""

from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from pydantic import BaseModel

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.generate.reply_fields import Text
from triplebeam.index.passage_graph import KINDS, EdgeKind, PassageGraph
from triplebeam.index.passages import PassageTable
from triplebeam.methods.shared.accounted_step import accounted_step
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.methods.shared.question_answering import QuestionAnswerer, conclude
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever

_ENOUGH = "as many passages were collected as wanted"
_NO_PATH = "no path leads to another passage"
_LAST_STEP = "the last step was reached"

#: Passages' ids from a seed on.
Path: TypeAlias = tuple[str, ...]


class _Reply(BaseModel):
    evidence: Text


@dataclass(frozen=True, kw_only=True)
class KGP(Agent):
    """The agent with seeds from any retriever."""

    retriever: Retriever
    similarity: ScoringRetriever
    """Compares a text with every passage; the paper's, and GNN-Ret's, is dense."""
    graph: PassageGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    model: LanguageModel
    answerer: QuestionAnswerer
    seeds: int = 5
    branches: int = 3
    """Neighbours that one path goes on to."""
    collected: int = 30
    max_steps: int = 10
    """Steps with the first, which asks the model nothing."""
    edges: tuple[EdgeKind, ...] = KINDS
    answered_from: int = 5
    template: Template = field(default_factory=partial(load, "kgp/next_evidence"), repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """The seeds, then a path a step."""
        run = _Run(question)
        while not run.ending:
            step = accounted_step(partial(self._walk if run.steps else self._seed, run))
            run.steps.append(step)
            yield step
        return conclude(self.answerer, question, run.steps, run.ending, best=self.answered_from)

    def _seed(self, run: "_Run") -> Step:
        ranking = self.retriever.retrieve(run.question, min(self.seeds, self.collected))
        scores = self.similarity.scores(run.question)
        run.collect((), {id_: float(scores[self.passages.row(id_)]) for id_ in ranking.ids})
        return self._step(run, run.question, ranking)

    def _walk(self, run: "_Run") -> Step:
        path = run.paths.popleft()
        evidence = self._next_evidence(run.question, path)
        ranking = self._most_similar(run, path, evidence) if evidence else Ranking()
        run.collect(path, {hit.passage_id: hit.score for hit in ranking})
        return self._step(run, evidence, ranking)

    def _step(self, run: "_Run", query: str, ranking: Ranking) -> Step:
        """Stop, and say why, or find the next path that leads on."""
        number = len(run.steps) + 1
        while run.paths and not self._ahead(run, run.paths[0]):
            run.paths.popleft()
        if len(run.scores) >= self.collected:
            run.ending = _ENOUGH
        elif not run.paths:
            run.ending = _NO_PATH
        elif number >= self.max_steps:
            run.ending = _LAST_STEP
        return Step(number=number, query=query, ranking=ranking, so_far=Ranking.from_scores(run.scores))

    def _most_similar(self, run: "_Run", path: Path, evidence: str) -> Ranking:
        """The neighbours that the path goes on to, as many as there is room for."""
        scores = self.similarity.scores(evidence)
        ahead = {id_: float(scores[self.passages.row(id_)]) for id_ in self._ahead(run, path)}
        return Ranking.from_scores(ahead).top(min(self.branches, self.collected - len(run.scores)))

    def _ahead(self, run: "_Run", path: Path) -> list[str]:
        """The neighbours of a path's last passage that are not collected yet."""
        _, neighbours = self.graph.around(np.array([self.passages.row(path[-1])]), self.edges)
        return [id_ for id_ in self.passages.ids(np.unique(neighbours)) if id_ not in run.scores]

    def _next_evidence(self, question: str, path: Path) -> str:
        """What is needed next; one call, nothing where that is nothing or the reply cannot be used."""
        shown = numbered_passages([self.passages[passage_id] for passage_id in path])
        reply = usable_reply(self.model, self.template.fill(passages=shown, question=question), _Reply)
        if reply is None:
            return ""
        return reply.evidence.strip()


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    scores: dict[str, float] = field(default_factory=dict)
    """Of every passage collected, its similarity to the text that brought it."""
    paths: deque[Path] = field(default_factory=deque)
    steps: list[Step] = field(default_factory=list)
    ending: str = ""

    def collect(self, path: Path, scores: Mapping[str, float]) -> None:
        """Passages a path goes on to, or the seeds of paths; each makes a path of its own."""
        self.scores.update(scores)
        self.paths.extend((*path, passage_id) for passage_id in scores)
