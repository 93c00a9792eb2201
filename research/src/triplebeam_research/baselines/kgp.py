"""KGP, knowledge graph prompting (Wang, Lipka, Rossi, Siu, Zhang & Derr, AAAI 2024): a model walks the passage graph.

The first step retrieves seeds for the question; each is the beginning of a path. Every later step takes a path from
the queue, shows the model the question and the path's passages, and lets it write the evidence that is needed next. Of
the neighbours of the path's last passage the most similar to that text go on the path, each as a new path at
the end of the queue. It ends when as many passages are collected as wanted, or no path leads on.

Followed to the letter: the above, which is the paper's traversal, first in first out. What differs: the graph is
GNN-Ret's (neighbours in a document, shared keywords), as in that comparison, and the model is asked as it is
instead of being trained to name evidence. Ours: 5 seeds, 3 neighbours per path, 30 passages, 10 steps; a passage is
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

from triplebeam.answer import Answer, Step
from triplebeam.generate.prompts import Template
from triplebeam.index.folder.passage_graph import PAPER_KINDS, EdgeKind, PassageGraph
from triplebeam.index.folder.tables import PassageTable
from triplebeam.methods.shared.loop import LAST_STEP, Loop
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.methods.shared.replies import request_text
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import ScoringRetriever
from triplebeam_research.templates import load

_ENOUGH = "as many passages were collected as wanted"
_NO_PATH = "no path leads to another passage"

#: Passages' ids from a seed on.
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class KGP(AnsweringAgent):
    """The agent with seeds from any retriever."""

    similarity: ScoringRetriever
    """Compares a text with every passage; the paper's, and GNN-Ret's, is dense."""
    graph: PassageGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    seeds: int = 5
    branches: int = 3
    """Neighbours that one path goes on to."""
    collected: int = 30
    max_steps: int = 10
    """Steps with the first, which asks the model nothing."""
    edges: tuple[EdgeKind, ...] = PAPER_KINDS
    template: Template = field(default_factory=partial(load, "kgp/next_evidence"), repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Collect the seeds, then one path per step."""
        loop = _Paths(question)
        yield loop.take(partial(self._seed, loop))
        yield from loop.take_all(partial(self._walk, loop))
        return self._conclude(loop)

    def _seed(self, loop: "_Paths") -> Step:
        ranking = self.retriever.retrieve(loop.question, min(self.seeds, self.collected))
        scores = self.similarity.scores(loop.question)
        loop.collect((), {id_: float(scores[self.passages.row(id_)]) for id_ in ranking.ids})
        return self._step(loop, loop.question, ranking)

    def _walk(self, loop: "_Paths") -> Step:
        path = loop.paths.popleft()
        prompt = self.template.fill(passages=self._format_passages(path), question=loop.question)
        evidence = request_text(
            self.model, prompt, "evidence"
        )  # nothing where nothing is needed, or no reply can be used
        ranking = self._rank_neighbours(loop, path, evidence) if evidence else Ranking()
        loop.collect(path, {hit.passage_id: hit.score for hit in ranking})
        return self._step(loop, evidence, ranking)

    def _step(self, loop: "_Paths", query: str, ranking: Ranking) -> Step:
        """Stop, and say why, or find the next path that leads on."""
        while loop.paths and not self._list_ahead(loop, loop.paths[0]):
            loop.paths.popleft()
        if len(loop.scores) >= self.collected:
            loop.ending = _ENOUGH
        elif not loop.paths:
            loop.ending = _NO_PATH
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        return Step(number=loop.number, query=query, ranking=ranking, so_far=Ranking.from_scores(loop.scores))

    def _rank_neighbours(self, loop: "_Paths", path: Path, evidence: str) -> Ranking:
        """Rank the neighbours that the path goes on to, as many as there is room for."""
        scores = self.similarity.scores(evidence)
        ahead = {id_: float(scores[self.passages.row(id_)]) for id_ in self._list_ahead(loop, path)}
        return Ranking.from_scores(ahead).top(min(self.branches, self.collected - len(loop.scores)))

    def _list_ahead(self, loop: "_Paths", path: Path) -> list[str]:
        """Return the neighbours of a path's last passage that are not collected yet."""
        _, neighbours = self.graph.find_incident(np.array([self.passages.row(path[-1])]), self.edges)
        return [id_ for id_ in self.passages.ids(np.unique(neighbours)) if id_ not in loop.scores]


@dataclass
class _Paths(Loop):
    """What one question has brought so far."""

    scores: dict[str, float] = field(default_factory=dict)
    """Of every passage collected, its similarity to the text that brought it."""
    paths: deque[Path] = field(default_factory=deque)

    def collect(self, path: Path, scores: Mapping[str, float]) -> None:
        """Collect passages that a path goes on to, or the seeds of paths; each starts a new path."""
        self.scores.update(scores)
        self.paths.extend((*path, passage_id) for passage_id in scores)
