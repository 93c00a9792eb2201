"""Self-Ask (Press, Zhang, Min, Schmidt, Smith & Lewis, Findings of EMNLP 2023): follow-up questions until none is
needed.

A step: the model's follow-up question is the query, and an intermediate answer to it is read from what is found. Then
the model, shown the question and all follow-ups with their answers, asks the next one or says the final answer.

Followed to the letter: follow-ups are asked one at a time with the answers so far in view; the model itself decides in
the same reply whether another is needed. As in the GNN-Ret paper's comparison, the intermediate answer is read from
retrieved passages, where Press et al. take a search engine's answer. Without a retriever the model answers its
follow-ups itself, and its final answer is kept: "Self-ask" of GE-Reasoning's Table 4.

What differs: at most 4 follow-ups; the reply is JSON instead of a continued text; a reply with both a follow-up and an
answer is a follow-up, since its answer runs ahead of the evidence. A question the model would answer at once is
searched for unchanged, once, so that there is something to read. The ranking is that of `sub_questions`, of all steps
together. Where Self-Ask comes to no final answer, one is read from the best passages by the `QuestionAnswerer` that all
agents share. Without a retriever a follow-up is a prompt of its own, where Press et al. let the model write on; where
the loop comes to no answer, the model is asked the question itself.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property, partial

from pydantic import BaseModel

from triplebeam.answer import Answer, Step
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template
from triplebeam.methods.shared.loop import LAST_STEP, NothingToSearch
from triplebeam.methods.shared.question_answering import Answerer, ClosedBookAnswerer, QuestionAnswerer, ReadAnswer
from triplebeam.methods.shared.reading import Exchange, ReadingAgent, SubAnswerer, SubQuestionLoop, format_exchanges
from triplebeam.methods.shared.replies import request_reply
from triplebeam.ranking import Ranking
from triplebeam_research.templates import load

_ANSWERED = "no follow-up question is needed"
_NO_FOLLOW_UP = "the model gave neither a follow-up question nor an answer"


class _Reply(BaseModel):
    follow_up: Text
    answer: Text


@dataclass(frozen=True, kw_only=True)
class SelfAsk(ReadingAgent):
    """The agent over any retriever, or over none."""

    sub_answerer: SubAnswerer | None = None
    """Reads what the retriever finds; by default the model does."""
    max_steps: int = 4
    retrieved: int = 10
    """Passages that a step retrieves and reads."""
    answered_from: int = 5
    template: Template = field(default_factory=partial(load, "self_ask/follow_up"), repr=False)

    @cached_property
    def _answerer(self) -> Answerer:
        if self.answerer is None and self.retriever is None:
            return ClosedBookAnswerer(model=self.model)
        return self.answerer or QuestionAnswerer(model=self.model, passages=self._passages)

    @cached_property
    def _sub_answerer(self) -> SubAnswerer:
        return self.sub_answerer or SubAnswerer(model=self.model, passages=self._passages)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Ask one follow-up question per step."""
        loop = _FollowUps(question, self.retriever or NothingToSearch())
        yield from loop.take_all(partial(self._step, loop))
        return loop.conclude(partial(self._answer_last, loop))

    def _answer_last(self, loop: "_FollowUps") -> ReadAnswer:
        if not self._is_open(loop.answer):
            return ReadAnswer()
        return self._answerer.answer(loop.question, loop.so_far.ids[: self.answered_from])

    def _step(self, loop: "_FollowUps") -> Step:
        if not loop.steps:
            self._ask(loop)
        query = loop.follow_up or loop.question
        ranking = loop.retrieve(query, self.retrieved)
        exchange = Exchange(query)
        if not loop.answer:
            exchange = self._sub_answer(query, ranking)
            loop.exchanges.append(exchange)
            self._ask(loop)
        self._decide(loop)
        return loop.describe_step(exchange, ranking)

    def _sub_answer(self, query: str, ranking: Ranking) -> Exchange:
        if self.retriever:
            return self._sub_answerer.answer(query, ranking.ids)
        known = self._answerer.answer(query, [])
        # Where the model does not know, its sentence says what it would have to find out.
        return Exchange(query, known.sentence or known.text)

    def _ask(self, loop: "_FollowUps") -> None:
        """Ask whether a follow-up question is needed, and which, or what the final answer is."""
        prompt = self.template.fill(question=loop.question, exchanges=format_exchanges(loop.exchanges))
        reply = request_reply(self.model, prompt, _Reply)
        loop.follow_up = reply.follow_up.strip() if reply else ""
        loop.answer = reply.answer.strip() if reply and not loop.follow_up else ""

    def _decide(self, loop: "_FollowUps") -> None:
        """Stop, and say why, or go on with the follow-up."""
        if loop.answer:
            loop.ending = _ANSWERED
        elif not loop.follow_up:
            loop.ending = _NO_FOLLOW_UP
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP


@dataclass
class _FollowUps(SubQuestionLoop):
    """What one question has brought so far."""

    follow_up: str = ""
