"""RGNN-Ret as an agent (section 3.3): sub-question, retrieval, sub-answer and self-critique, until they suffice.

Followed to the letter: the above, step by step; a step retrieves with its sub-question from `RecurrentGNNRet`, to
3,500 tokens, and the sub-answer is read from those passages; the next sub-question is asked for with all sub-questions
and sub-answers so far; the self-critique (appendix I.6) sees the question and the sub-answers, not the sub-questions,
and says whether the question can be answered from them; the final answer is given from them. Over another retriever the
agent is a row of Table 2: "Self-critique + SBERT" over dense, "+ GNN" over `GNNRet`.

Ours where the paper is silent:
- At most 4 steps. After the last, and where the final answer says that there is none, the shared `QuestionAnswerer`
  reads the best passages, as many as the tokens of a step hold, as the paper's other rows do.
- Where the model gives no first sub-question, the question itself is asked; no later one ends the loop.
- The prompts' words (appendix I.6 prints those of the critique and of the final answer as pictures), which say what is
  missing before they decide; what is missing is shown with an answer that the documents do not give. Sub-answers that
  were not found are not shown to the critique, which is not asked again where it would see what it has seen before.
- The final answer has at most six words and a sentence for people, and may be that there is none.
- A reply that cannot be used is noted: no sub-question, not enough, no answer.
- The ranking so far is the fusion of all steps' lists: nine tenths of a step's distances are those of its own
  sub-question, so passages of the first hops would fall out of the last step's.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from pydantic import BaseModel

from triplebeam.answer import Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.shared.loop import LAST_STEP
from triplebeam.methods.shared.question_answering import ReadAnswer, read_short_answer
from triplebeam.methods.shared.reading import (
    TOKENS,
    AnsweringAgent,
    Exchange,
    SubAnswerer,
    SubQuestionLoop,
    format_exchanges,
    retrieve_within,
    within_tokens,
)
from triplebeam.methods.shared.replies import request_reply, request_text


class Critique(BaseModel):
    """What the sub-answers lack, in a sentence, and whether they are enough."""

    missing: Text
    enough: bool


@dataclass(frozen=True, kw_only=True)
class SelfCritique:
    """The model that takes a question apart and says when it is done."""

    model: LanguageModel
    next_template: Template = field(default_factory=partial(load, "gnn_ret/next_question"), repr=False)
    critique_template: Template = field(default_factory=partial(load, "gnn_ret/critique"), repr=False)
    final_template: Template = field(default_factory=partial(load, "gnn_ret/final"), repr=False)

    def propose_question(self, question: str, exchanges: Sequence[Exchange]) -> str:
        """Return the next sub-question; empty where the model gave none."""
        prompt = self.next_template.fill(question=question, exchanges=format_exchanges(exchanges))
        return request_text(self.model, prompt, "question")

    def judge(self, question: str, exchanges: Sequence[Exchange]) -> Critique:
        """Return whether the question can be answered from the sub-answers."""
        answers = [exchange.answer for exchange in exchanges if exchange.answer]
        shown = "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))
        reply = request_reply(self.model, self.critique_template.fill(question=question, answers=shown), Critique)
        return reply or Critique(missing="", enough=False)

    def compose_answer(self, question: str, exchanges: Sequence[Exchange]) -> ReadAnswer:
        """Return the answer that the sub-answers give."""
        prompt = self.final_template.fill(question=question, exchanges=format_exchanges(exchanges))
        return read_short_answer(self.model, prompt)


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
        verdict = self._critique.judge(loop.question, loop.exchanges) if loop.exchanges[-1].answer else None
        if verdict:
            loop.missing = (verdict.missing,) if verdict.missing else ()
        if verdict and verdict.enough:
            loop.final = self._critique.compose_answer(loop.question, loop.exchanges)
            loop.answer = loop.final.text
            loop.ending = _ENOUGH
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        else:
            loop.next_question = self._critique.propose_question(loop.question, loop.exchanges)
            loop.ending = "" if loop.next_question else _NO_QUESTION

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
