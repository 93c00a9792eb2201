"""The rows of GeAR's Table 3 that call the model once: retrieve once, read the best passages, answer; or answer alone.

Any retriever will do: HippoRAG's row is its graph search under this agent, and "Gold Passages", the upper bound, is a
`FixedRanking` of each question's gold passages. Followed to the letter: the five best passages are read, at most six
words answer. No facts are read, so there is no evidence: the answer is never marked as supported.

"No Passages", the lower bound, is the model alone. Followed to the letter: the question alone, at most six words. Ours:
the model may say that it does not know, which counts as no answer, unless an experiment demands one.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.shared.loop import ONE_STEP, Loop
from triplebeam.methods.shared.question_answering import Answerer, ClosedBookAnswerer
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.retrieve.token_budget import retrieve_within

_NO_PASSAGES = "no passages were asked for"


@dataclass(frozen=True, kw_only=True)
class ClosedBook(Agent):
    """The model's answer to the question alone. Nothing is retrieved, so there are no steps and no ranking."""

    model: LanguageModel
    answerer: Answerer | None = None
    """By default the model may say that it does not know."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """No steps, then the answer."""
        yield from ()
        answerer = self.answerer or ClosedBookAnswerer(model=self.model)
        return Loop(question, ending=_NO_PASSAGES).conclude(lambda: answerer.answer(question, []))


@dataclass(frozen=True, kw_only=True)
class ReadOnce(AnsweringAgent):
    """One retrieval and one call, not counting those the retriever makes itself."""

    retrieved: int = 20
    """Passages in the ranking."""
    tokens: int | None = None
    """Retrieve and read as many of the best passages as this many tokens hold, as in GNN-Ret's tables."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """The retrieval is the one step."""
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
