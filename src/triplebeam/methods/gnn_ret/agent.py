"""RGNN-Ret as an agent (section 3.3): sub-question, retrieval, sub-answer and self-critique, until they suffice.

Followed to the letter: the above, step by step; a step retrieves with its sub-question from `RecurrentGNNRet`, to
3,500 tokens, and the sub-answer is read from those passages; the critique says whether the sub-answers answer the
question, and the final answer is given from them. Over another retriever the agent is a row of Table 2: "Self-critique
+ SBERT" over dense, "+ GNN" over `GNNRet`.

Ours where the paper is silent:
- At most 4 steps. After the last, and where the final answer says that there is none, the shared `QuestionAnswerer`
  reads the best passages, as many as the tokens of a step hold, as the paper's other rows do.
- Where the model gives no first sub-question, the question itself is asked; no later one ends the loop.
- Where a sub-answer cannot be used, the critique, whose sub-answers are those it has seen before, is not asked.
- What the critique says is missing is shown with an answer that the documents do not give.
- The ranking so far is the fusion of all steps' lists: nine tenths of a step's distances are those of its own
  sub-question, so passages of the first hops would fall out of the last step's.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property, partial

from triplebeam.answer import Answer, Step
from triplebeam.methods.gnn_ret.self_critique import SelfCritique
from triplebeam.methods.shared.loop import LAST_STEP
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import (
    TOKENS,
    AnsweringAgent,
    SubAnswerer,
    SubQuestionLoop,
    retrieve_within,
    within_tokens,
)

_ENOUGH = "the sub-answers answer the question"
_NO_QUESTION = "the model gave no further sub-question"


@dataclass(frozen=True, kw_only=True)
class RGNNRet(AnsweringAgent):
    """The agent over any retriever; the paper's is `RecurrentGNNRet`."""

    critique: SelfCritique | None = None
    """Asks for sub-questions and says when they suffice; by default the model does."""
    sub_answerer: SubAnswerer | None = None
    """Answers sub-questions from passages; by default the model does."""
    max_steps: int = 4
    tokens: int = TOKENS
    """How long the passages are together that a step retrieves and reads."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Ask one sub-question per step."""
        loop = _SubQuestions(question, self.retriever)
        yield from loop.take_all(partial(self._step, loop))
        if not self._is_open(loop.answer):
            return loop.conclude(lambda: loop.final)
        best = within_tokens(loop.so_far, self._passages, self.tokens).ids
        return loop.conclude(lambda: self._answerer.answer(question, best))

    def _step(self, loop: "_SubQuestions") -> Step:
        query = loop.next_question or self._critique.propose_question(loop.question, []) or loop.question
        ranking = retrieve_within(loop.retriever, query, self._passages, self.tokens)
        loop.rankings.append(ranking)
        exchange = self._sub_answerer.answer(query, ranking.ids)
        loop.exchanges.append(exchange)
        self._decide(loop)
        return loop.describe_step(exchange, ranking)

    def _decide(self, loop: "_SubQuestions") -> None:
        """Give the final answer, stop without it and say why, or set the next sub-question."""
        if loop.exchanges[-1].answer and self._is_enough(loop):
            loop.final = self._critique.compose_answer(loop.question, loop.exchanges)
            loop.answer = loop.final.text
            loop.ending = _ENOUGH
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        else:
            loop.next_question = self._critique.propose_question(loop.question, loop.exchanges)
            loop.ending = "" if loop.next_question else _NO_QUESTION

    def _is_enough(self, loop: "_SubQuestions") -> bool:
        verdict = self._critique.judge(loop.question, loop.exchanges)
        loop.missing = (verdict.missing,) if verdict.missing else ()
        return verdict.enough

    @cached_property
    def _critique(self) -> SelfCritique:
        return self.critique or SelfCritique(model=self.model)

    @cached_property
    def _sub_answerer(self) -> SubAnswerer:
        return self.sub_answerer or SubAnswerer(model=self.model, passages=self._passages)


@dataclass
class _SubQuestions(SubQuestionLoop):
    """What one question has brought so far."""

    next_question: str = ""
    final: ReadAnswer = field(default_factory=ReadAnswer)
