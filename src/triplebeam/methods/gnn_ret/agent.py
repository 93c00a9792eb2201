"""RGNN-Ret as an agent (section 3.3): sub-question, retrieval, sub-answer and self-critique, until they suffice.

Followed to the letter: the above, step by step; a step retrieves with its sub-question from `RecurrentGNNRet`, to 3,500
tokens, and the sub-answer is read from those passages; the critique says whether the sub-answers answer the question,
and the final answer is given from them. Over another retriever the agent is a row of Table 2: "Self-critique + SBERT"
over dense, "+ GNN" over `GNNRet`.

Ours where the paper is silent:
- At most 4 steps. After the last, and where the final answer says that there is none, the shared `QuestionAnswerer`
  reads the five best passages.
- Where the model gives no first sub-question, the question itself is asked; no later one ends the loop.
- A sub-answer may be "not found". Then the critique, whose sub-answers are those it has seen before, is not asked.
- The ranking so far is the fusion of all steps' lists and of the sub-answers' sources (`sub_questions`): nine tenths of
  a step's distances are those of its own sub-question, so passages of the first hops would fall out of the last step's.
- Behind ``stop_when_stuck``: a sub-question that was asked before ends the loop.
"""

from collections.abc import Generator
from dataclasses import dataclass, field

from triplebeam.answer import Agent, Answer, Step
from triplebeam.methods.gnn_ret.self_critique import SelfCritique
from triplebeam.methods.shared.accounted_step import taken_steps
from triplebeam.methods.shared.question_answering import QuestionAnswerer, ReadAnswer, conclude
from triplebeam.methods.shared.sub_questions import Exchange, SubAnswerer, asked_before, fused
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever, for_question
from triplebeam.retrieve.token_budget import TOKENS, retrieve_within

_ENOUGH = "the sub-answers answer the question"
_LAST_STEP = "the last step was reached"
_NO_QUESTION = "the model gave no further sub-question"
_REPEATED = "the next sub-question was asked before"


@dataclass(frozen=True, kw_only=True)
class RGNNRet(Agent):
    """The agent over any retriever; the paper's is `RecurrentGNNRet`."""

    retriever: Retriever
    critique: SelfCritique
    sub_answerer: SubAnswerer
    answerer: QuestionAnswerer
    passages: Passages = field(repr=False)
    max_steps: int = 4
    tokens: int = TOKENS
    """How long the passages are together that a step retrieves and reads."""
    retrieved: int | None = None
    """How many passages a step retrieves and reads, where their number counts and not their tokens."""
    answered_from: int = 5
    stop_when_stuck: bool = True

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """One sub-question a step."""
        run = _Run(question, for_question(self.retriever))
        yield from taken_steps(self._step, run)
        return conclude(
            self.answerer,
            question,
            run.steps,
            run.ending,
            best=self.answered_from,
            loop_text=run.final.text,
            settled=run.final if run.final.text else None,
        )

    def _step(self, run: "_Run") -> Step:
        query = run.next_question or self.critique.next_question(run.question, []) or run.question
        ranking = self._retrieve(run.retriever, query)
        run.rankings.append(ranking)
        exchange = self.sub_answerer.answer(query, ranking.ids)
        run.exchanges.append(exchange)
        self._decide(run)
        so_far = fused(run.rankings, run.exchanges)
        return Step(number=len(run.rankings), query=query, ranking=ranking, so_far=so_far, thought=exchange.answer)

    def _retrieve(self, retriever: Retriever, query: str) -> Ranking:
        if self.retrieved is not None:
            return retriever.retrieve(query, self.retrieved)
        return retrieve_within(retriever, query, self.passages, self.tokens)

    def _decide(self, run: "_Run") -> None:
        """Give the final answer, stop without it and say why, or set the next sub-question."""
        if run.exchanges[-1].answer and self.critique.enough(run.question, run.exchanges):
            run.final = self.critique.final_answer(run.question, run.exchanges)
            run.ending = _ENOUGH
        elif len(run.exchanges) >= self.max_steps:
            run.ending = _LAST_STEP
        else:
            run.next_question = self.critique.next_question(run.question, run.exchanges)
            if not run.next_question:
                run.ending = _NO_QUESTION
            elif self.stop_when_stuck and asked_before(run.next_question, run.exchanges):
                run.ending = _REPEATED


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    retriever: Retriever
    next_question: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    final: ReadAnswer = field(default_factory=ReadAnswer)
    ending: str = ""
