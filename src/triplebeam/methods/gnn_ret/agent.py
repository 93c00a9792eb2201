"""RGNN-Ret as an agent (section 3.3): sub-question, retrieval, sub-answer and self-critique, until they suffice.

Followed to the letter, without a bound on ``retrieved``: the above, step by step; a step retrieves with its
sub-question from `RecurrentGNNRet`, to 3,500 tokens, and the sub-answer is read from those passages; the critique says
whether the sub-answers answer the question, and the final answer is given from them. Over another retriever the agent
is a row of Table 2: "Self-critique + SBERT" over dense, "+ GNN" over `GNNRet`.

Ours by default: a step reads at most ten passages, as the other agents do, where 3,500 tokens would hold 16 to 31.

Ours where the paper is silent:
- At most 4 steps. After the last, and where the final answer says that there is none, the shared `QuestionAnswerer`
  reads the five best passages; without a bound on ``retrieved``, as many as the tokens of a step hold.
- Where the model gives no first sub-question, the question itself is asked; no later one ends the loop.
- A sub-answer may be "not found". Then the critique, whose sub-answers are those it has seen before, is not asked.
- What the critique says is missing is shown with an answer that the documents do not give.
- The ranking so far is the fusion of all steps' lists and of the sub-answers' sources (`sub_questions`): nine tenths of
  a step's distances are those of its own sub-question, so passages of the first hops would fall out of the last step's.
  Unless ``ranking`` is "fusion", the passages of the facts that the sub-answers rest on come first.
- Behind ``stop_when_stuck``: a sub-question that was asked before ends the loop.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property, partial

from triplebeam.answer import Answer, Step
from triplebeam.methods.gnn_ret.self_critique import SelfCritique
from triplebeam.methods.shared.facts import First
from triplebeam.methods.shared.loop import LAST_STEP
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.methods.shared.sub_questions import SubAnswerer, SubQuestionLoop
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.retrieve.token_budget import TOKENS, retrieve_within, within_tokens

_ENOUGH = "the sub-answers answer the question"
_NO_QUESTION = "the model gave no further sub-question"
_REPEATED = "the next sub-question was asked before"


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
    retrieved: int | None = 10
    """How many of them there are at most; with None, as in the paper, their tokens alone count."""
    ranking: First = "evidence"
    stop_when_stuck: bool = True

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """One sub-question per step."""
        loop = _SubQuestions(question, self.retriever)
        yield from loop.take_all(partial(self._step, loop))
        if not self._is_open(loop.answer):
            return loop.conclude(lambda: loop.final)
        if self.retrieved is None:  # the paper's other rows read as many tokens
            best = within_tokens(loop.fused(), self._passages, self.tokens).ids
            return loop.conclude(lambda: self._answerer.answer(loop.question, best))
        return self._conclude(loop, answer_from=self.ranking)

    def _step(self, loop: "_SubQuestions") -> Step:
        query = loop.next_question or self._critique.next_question(loop.question, []) or loop.question
        ranking = self._retrieve(loop.retriever, query)
        loop.rankings.append(ranking)
        exchange = self._sub_answerer.answer(query, ranking.ids)
        loop.exchanges.append(exchange)
        self._decide(loop)
        return loop.asked(exchange, ranking, self.ranking)

    def _retrieve(self, retriever: Retriever, query: str) -> Ranking:
        if self.retrieved is None:
            return retrieve_within(retriever, query, self._passages, self.tokens)
        return within_tokens(retriever.retrieve(query, self.retrieved), self._passages, self.tokens)

    def _decide(self, loop: "_SubQuestions") -> None:
        """Give the final answer, stop without it and say why, or set the next sub-question."""
        if loop.exchanges[-1].answer and self._enough(loop):
            loop.final = self._critique.final_answer(loop.question, loop.exchanges)
            loop.answer = loop.final.text
            loop.ending = _ENOUGH
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        else:
            loop.next_question = self._critique.next_question(loop.question, loop.exchanges)
            if not loop.next_question:
                loop.ending = _NO_QUESTION
            elif self.stop_when_stuck and loop.asked_before(loop.next_question):
                loop.ending = _REPEATED

    def _enough(self, loop: "_SubQuestions") -> bool:
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
