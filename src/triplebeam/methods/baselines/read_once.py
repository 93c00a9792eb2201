"""Retrieve once, read the best passages, answer: the single-step rows of GeAR's Table 3.

Any retriever will do: HippoRAG's row is its graph search under this agent, and "Gold Passages", the upper bound, is a
`FixedRanking` of each question's gold passages. Followed to the letter: the five best passages are read, at most six
words answer. No facts are read, so there is no evidence: the answer is never marked as supported.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

from triplebeam.answer import Agent, Answer, Step
from triplebeam.methods.shared.accounted_step import accounted_step
from triplebeam.methods.shared.question_answering import ONE_STEP, QuestionAnswerer, conclude
from triplebeam.retrieve.retriever import Retriever
from triplebeam.retrieve.token_budget import retrieve_within


@dataclass(frozen=True, kw_only=True)
class ReadOnce(Agent):
    """One retrieval and one call, besides those the retriever makes itself."""

    retriever: Retriever
    answerer: QuestionAnswerer
    retrieved: int = 20
    """Passages in the ranking."""
    answered_from: int = 5
    tokens: int | None = None
    """Retrieve and read as many of the best passages as this many tokens hold, as in GNN-Ret's tables."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """The retrieval is the one step."""
        step = accounted_step(partial(self._step, question))
        yield step
        best = self.answered_from if self.tokens is None else len(step.ranking)
        return conclude(self.answerer, question, [step], ONE_STEP, best=best)

    def _step(self, question: str) -> Step:
        if self.tokens is None:
            ranking = self.retriever.retrieve(question, self.retrieved)
        else:
            ranking = retrieve_within(self.retriever, question, self.answerer.passages, self.tokens)
        return Step(number=1, query=question, ranking=ranking, so_far=ranking)
