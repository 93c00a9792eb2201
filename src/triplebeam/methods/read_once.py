"""The rows of GeAR's Table 3 that call the model once: retrieve once, read the best passages, answer.

Any retriever will do: HippoRAG's row is its graph search under this agent, and "Gold Passages", the upper bound, is a
fixed ranking of each question's gold passages. Followed to the letter: the five best passages are read, at most six
words answer. No facts are read, so there is no evidence: the answer is never marked as supported.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

from triplebeam.answer import Answer, Step
from triplebeam.methods.shared.loop import ONE_STEP, Loop
from triplebeam.methods.shared.reading import AnsweringAgent, retrieve_within


@dataclass(frozen=True, kw_only=True)
class ReadOnce(AnsweringAgent):
    """One retrieval and one call, not counting those the retriever makes itself."""

    retrieved: int = 20
    """Passages in the ranking."""
    tokens: int | None = None
    """Retrieve and read as many of the best passages as this many tokens hold, as in GNN-Ret's tables."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve in the one step."""
        loop = Loop(question, ending=ONE_STEP)
        yield loop.take(partial(self._step, question))
        best = loop.so_far.ids[: self.answered_from if self.tokens is None else None]
        return loop.conclude(lambda: self._answerer.answer(question, best))

    def _step(self, question: str) -> Step:
        if self.tokens is None:
            ranking = self.retriever.retrieve(question, self.retrieved)
        else:
            ranking = retrieve_within(self.retriever, question, self._passages, self.tokens)
        return Step(number=1, query=question, ranking=ranking, so_far=ranking)
